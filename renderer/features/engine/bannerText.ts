import type { EngineStatus, Stall } from '../../../electron/contract/engine';
import type { ErrorPayload } from '../../../electron/contract/errors';

/** `memory`: settings that fit, and loading anyway */
export type BannerAction = 'memory' | 'settings' | 'models' | 'embedded' | 'again' | 'restart';

export interface BannerText {
  tone: 'info' | 'warn' | 'bad';
  title: string;
  body: string;
  actions: readonly BannerAction[];
  closable: boolean;
}

interface Facts {
  applying: boolean;
  recovered: boolean;
  /** not yet closed */
  refusal: EngineStatus['refused'];
  modelName: string | null;
}

/** null: nothing to say, the engine is ready or at work. */
export function bannerText(status: EngineStatus | null, facts: Facts): BannerText | null {
  if (!status) return null;
  if (status.stalled) return stalled(status.stalled);
  const name = facts.modelName ?? 'the model';
  switch (status.state) {
    case 'starting':
      return facts.recovered ? recoveringText : info('Starting the engine', '');
    case 'loading':
      if (facts.recovered) return recoveringText;
      if (status.loadStep === 'calibration') {
        return info(`Measuring ${name}`, 'Once for each model: its turbo cache is then more exact.');
      }
      if (status.loadStep === 'cache') {
        return info('Saving the session', 'This chat will not have to be processed again.');
      }
      return facts.applying
        ? info('Reloading with the new settings', 'The chat stays as it is.')
        : info(`Loading ${name}`, '');
    case 'restarting':
      return restarting(status.error);
    case 'empty':
      return { ...info('No model is loaded.', 'Choose one to begin.'), actions: ['models', 'embedded'] };
    case 'failed':
      return failed(status.error, name);
    case 'unavailable':
      return problem(status.error, 'The engine cannot be started.', ['again']);
    case 'ready':
    case 'generating':
      if (facts.refusal) return refused(facts.refusal.error, name);
      return facts.recovered ? recoveredText : null;
  }
}

const recoveringText: BannerText = {
  tone: 'warn',
  title: 'The engine stopped unexpectedly and is starting again.',
  body: 'All that was written is kept.',
  actions: [],
  closable: false,
};

const recoveredText: BannerText = {
  tone: 'warn',
  title: 'The engine stopped unexpectedly and was started again.',
  body: 'All that was written is kept. You can go on.',
  actions: [],
  closable: true,
};

function info(title: string, body: string): BannerText {
  return { tone: 'info', title, body, actions: [], closable: false };
}

function failed(error: ErrorPayload | null, name: string): BannerText {
  const fixedBySettings = ['out-of-memory', 'context-invalid', 'cache-type-unsupported', 'context-full'];
  const actions: BannerAction[] = error && fixedBySettings.includes(error.code) ? ['settings'] : ['models'];
  const first: BannerAction[] = error?.code === 'out-of-memory' ? ['memory'] : [];
  return problem(error, `${name} could not be loaded.`, [...first, ...actions, 'embedded', 'again']);
}

/** Another model could not be had; `name` is in use as before. */
function refused(error: ErrorPayload, name: string): BannerText {
  const first: BannerAction[] = error.code === 'out-of-memory' ? ['memory'] : [];
  const text = problem(error, '', [...first, 'models', 'again']);
  return { ...text, body: `${text.body} ${name} is still in use.`.trimStart(), closable: true };
}

function problem(error: ErrorPayload | null, fallback: string, actions: readonly BannerAction[]): BannerText {
  return { tone: 'bad', title: error?.message ?? fallback, body: error?.hint ?? '', actions, closable: false };
}

/** It may be slow and not dead, so the person decides. */
function stalled(stall: Stall): BannerText {
  const title = {
    start: 'The engine has been starting for more than a minute.',
    silent: 'The engine has not answered for half a minute.',
    stop: 'The engine has not stopped yet, a minute after it was told to.',
  }[stall];
  const body =
    stall === 'start'
      ? 'Wait a little longer, or restart it. If that does not help, install the app again.'
      : 'Wait a little longer, or restart it. All that was written is kept.';
  return { tone: 'warn', title, body, actions: ['restart'], closable: false };
}

/** A restart may be some time away after several crashes; the hint says when, and the button ends the wait. */
function restarting(error: ErrorPayload | null): BannerText {
  const text: BannerText = { ...recoveringText, actions: ['again'] };
  return error ? { ...text, title: error.message, body: error.hint || recoveringText.body } : text;
}
