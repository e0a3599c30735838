/** What the engine is about when it is not simply ready: what happened, and what to do. */

import type { MessageDescriptor } from '@lingui/core';
import { msg, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useEffect, useState } from 'react';
import { useShallow } from 'zustand/shallow';
import type { EngineStatus, Stall } from '../../../electron/contract/engine';
import type { ErrorPayload } from '../../../electron/contract/errors';
import { changeOf } from '../../../electron/contract/fit';
import { i18n } from '../../language';
import type { AppState, ConnectionPhase } from '../../state/appState';
import { useOffers } from '../../state/lib/useOffers';
import {
  selectConnection,
  selectLoadedModelId,
  selectRecovered,
  selectRefusal,
  selectStatus,
  selectUnsaved,
} from '../../state/slices/engine';
import { selectCurrentModel, selectEmbeddedModel } from '../../state/slices/models';
import { selectApplying, selectSavedContext } from '../../state/slices/settings';
import { useActions, useApp } from '../../state/useApp';
import { Banner } from '../../ui/Banner';
import { Button } from '../../ui/Button';
import { offerText } from '../../ui/format';
import { useDebounced } from '../../ui/hooks';
import { Progress } from '../../ui/Progress';
import { Logo } from '../../ui/pictures/Bellows';

const lateMs = 400;
const stepNames: Record<NonNullable<EngineStatus['loadStep']>, MessageDescriptor> = {
  weights: msg`Loading the model`,
  calibration: msg`Measuring the model`,
  cache: msg`Saving the session`,
};

export function EngineBanner() {
  const status = useApp(selectStatus);
  const applying = useApp(selectApplying);
  const recovered = useApp(selectRecovered);
  const refusal = useApp(selectRefusal);
  const model = useApp(selectCurrentModel);
  const embedded = useApp(selectEmbeddedModel);
  const { engine, models, ui } = useActions();
  const text = bannerText(status, {
    applying,
    recovered,
    refusal,
    modelName: model?.info?.name ?? model?.fileName ?? null,
  });
  const working = text?.tone === 'info' && status?.state !== 'empty';
  // A small model is loaded before a banner could be read; it would only make the window jump.
  const workingLong = useDebounced(working, lateMs) && working;
  if (!text || !status || (working && !workingLong)) return null;

  return (
    <Banner
      tone={text.tone}
      title={text.title}
      testId="engine-banner"
      className="mx-4 my-2"
      icon={working ? <Logo className="size-5!" working /> : undefined}
      onClose={text.closable ? (refusal ? engine.closeRefusal : engine.closeRecovered) : undefined}
      actions={
        <>
          {status.state === 'loading' && !status.stalled && (
            <div className="flex w-56 items-center gap-2">
              <Progress label={i18n._(stepNames[status.loadStep ?? 'weights'])} share={status.loadProgress} />
              <Button size="small" tone="quiet" onClick={() => void engine.cancelLoad()}>
                {status.loadStep === 'calibration' ? t`Skip` : t`Cancel`}
              </Button>
            </div>
          )}
          {text.actions.includes('memory') && <MemoryOffers />}
          {text.actions.includes('settings') && (
            <Button size="small" onClick={() => ui.showSettings('memory')}>
              <Trans>Open settings</Trans>
            </Button>
          )}
          {text.actions.includes('models') && (
            <Button size="small" onClick={() => ui.setPicker(true)}>
              <Trans>Choose a model</Trans>
            </Button>
          )}
          {text.actions.includes('embedded') && embedded && status.modelId !== embedded.id && (
            <Button size="small" onClick={() => void models.select(embedded.id)}>
              <Trans>Use the built-in model</Trans>
            </Button>
          )}
          {text.actions.includes('restart') && (
            <Button size="small" onClick={() => void engine.restart()}>
              <Trans>Restart the engine</Trans>
            </Button>
          )}
          {text.actions.includes('again') && (
            <Button size="small" onClick={() => void (refusal ? models.select(refusal.modelId) : engine.reload())}>
              <Trans>Try again</Trans>
            </Button>
          )}
        </>
      }
    >
      {text.body}
    </Banner>
  );
}

// What the banner says, and which ways out it offers.

/** `memory`: settings that fit, and loading anyway */
type BannerAction = 'memory' | 'settings' | 'models' | 'embedded' | 'again' | 'restart';

interface BannerText {
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
function bannerText(status: EngineStatus | null, facts: Facts): BannerText | null {
  if (!status) return null;
  if (status.stalled) return stalled(status.stalled);
  const name = facts.modelName;
  switch (status.state) {
    case 'starting':
      return facts.recovered ? recoveringText() : info(t`Starting the engine`, '');
    case 'loading':
      if (facts.recovered) return recoveringText();
      if (status.loadStep === 'calibration') {
        const title = name === null ? t`Measuring the model` : t`Measuring ${name}`;
        return info(title, t`Once for each model: its compressed cache is then more exact. You can ask already.`);
      }
      if (status.loadStep === 'cache') {
        return info(t`Saving the session`, t`This chat will not have to be processed again.`);
      }
      return facts.applying
        ? info(t`Reloading with the new settings`, t`The chat stays as it is.`)
        : info(name === null ? t`Loading the model` : t`Loading ${name}`, '');
    case 'restarting':
      return restarting(status.error);
    case 'empty':
      if (status.resting) return null;
      return { ...info(t`No model is loaded.`, t`Choose one to begin.`), actions: ['models', 'embedded'] };
    case 'failed':
      return failed(status.error, name);
    case 'unavailable':
      return problem(status.error, t`The engine cannot be started.`, ['again']);
    case 'ready':
    case 'generating':
      if (facts.refusal) return refused(facts.refusal.error, name);
      return facts.recovered ? recoveredText() : null;
  }
}

function recoveringText(): BannerText {
  return {
    tone: 'warn',
    title: t`The engine stopped unexpectedly and is starting again.`,
    body: t`All that was written is kept.`,
    actions: [],
    closable: false,
  };
}

function recoveredText(): BannerText {
  return {
    tone: 'warn',
    title: t`The engine stopped unexpectedly and was started again.`,
    body: t`All that was written is kept. You can go on.`,
    actions: [],
    closable: true,
  };
}

function info(title: string, body: string): BannerText {
  return { tone: 'info', title, body, actions: [], closable: false };
}

function failed(error: ErrorPayload | null, name: string | null): BannerText {
  const fixedBySettings = ['out-of-memory', 'context-invalid', 'cache-type-unsupported', 'context-full'];
  const actions: BannerAction[] = error && fixedBySettings.includes(error.code) ? ['settings'] : ['models'];
  const first: BannerAction[] = error?.code === 'out-of-memory' ? ['memory'] : [];
  const fallback = name === null ? t`The model could not be loaded.` : t`${name} could not be loaded.`;
  return problem(error, fallback, [...first, ...actions, 'embedded', 'again']);
}

/** Another model could not be had; `name` is in use as before. */
function refused(error: ErrorPayload, name: string | null): BannerText {
  const first: BannerAction[] = error.code === 'out-of-memory' ? ['memory'] : [];
  const text = problem(error, '', [...first, 'models', 'again']);
  const inUse = name === null ? t`The model is still in use.` : t`${name} is still in use.`;
  return { ...text, body: `${text.body} ${inUse}`.trimStart(), closable: true };
}

function problem(error: ErrorPayload | null, fallback: string, actions: readonly BannerAction[]): BannerText {
  return { tone: 'bad', title: error?.message ?? fallback, body: error?.hint ?? '', actions, closable: false };
}

/** It may be slow and not dead, so the person decides. */
function stalled(stall: Stall): BannerText {
  const title = {
    start: t`The engine has been starting for more than a minute.`,
    silent: t`The engine has not answered for half a minute.`,
    stop: t`The engine has not stopped yet, a minute after it was asked to.`,
  }[stall];
  const body =
    stall === 'start'
      ? t`Wait a little longer, or restart it. If that does not help, install the app again.`
      : t`Wait a little longer, or restart it. All that was written is kept.`;
  return { tone: 'warn', title, body, actions: ['restart'], closable: false };
}

/** A restart may be some time away after several crashes; the hint says when, and the button ends the wait. */
function restarting(error: ErrorPayload | null): BannerText {
  const text: BannerText = { ...recoveringText(), actions: ['again'] };
  return error ? { ...text, title: error.message, body: error.hint || text.body } : text;
}

/** After a load that did not fit: settings that do, and a way to try all the same. */
function MemoryOffers() {
  const context = useApp(selectSavedContext);
  const loadedId = useApp(selectLoadedModelId);
  const refusedId = useApp(selectRefusal)?.modelId ?? null;
  const offers = useOffers(context, refusedId ?? loadedId, 'banner');
  const { settings, engine, models } = useActions();

  return (
    <>
      {offers?.map((offer, i) => (
        <Button
          key={offerText(offer)}
          size="small"
          tone={i === 0 ? 'primary' : 'outline'}
          data-testid="banner-offer"
          onClick={() => void settings.takeOffer(changeOf(offer), refusedId)}
        >
          {offerText(offer)}
        </Button>
      ))}
      <Button
        size="small"
        onClick={() => void (refusedId === null ? engine.reload(true) : models.select(refusedId, true))}
        data-testid="banner-force"
      >
        <Trans>Load anyway</Trans>
      </Button>
    </>
  );
}

/** Stays until everything is on disk, which is tried every few seconds. */
export function UnsavedBanner() {
  const unsaved = useApp(selectUnsaved);
  if (!unsaved) return null;
  return (
    <Banner tone="bad" title={unsaved.message} testId="unsaved-banner" className="mx-4 my-2">
      {unsaved.hint}
    </Banner>
  );
}

/** Headless mode only: the page and the server can lose each other. */
export function ConnectionBanner() {
  const { phase, retryAt } = useApp(selectConnection);
  const { engine } = useActions();
  if (phase === 'open' || phase === 'connecting') return null;
  return (
    <Banner
      tone="warn"
      title={connectionText(phase).title}
      testId="connection-banner"
      className="mx-4 my-2"
      actions={
        <Button size="small" onClick={engine.reconnect}>
          <Trans>Try now</Trans>
        </Button>
      }
    >
      {connectionText(phase).body} <Countdown until={retryAt} />
    </Banner>
  );
}

function connectionText(phase: ConnectionPhase): { title: string; body: string } {
  switch (phase) {
    case 'locked':
      return {
        title: t`This address has no key, or an old one.`,
        body: t`Open the whole address that the terminal printed, with the key at its end.`,
      };
    case 'refused':
      return {
        title: t`Concertina does not answer this page.`,
        body: t`Is it still running? Start it again in the terminal; this page connects by itself.`,
      };
    default:
      return {
        title: t`The connection to Concertina was lost.`,
        body: t`Answers go on being written and will be here when it is back.`,
      };
  }
}

function Countdown({ until }: { until: number | null }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  if (until === null) return null;
  return (
    <span aria-hidden="true" className="tabular-nums">
      {t`Next try in ${Math.max(0, Math.ceil((until - now) / 1000))} s.`}
    </span>
  );
}

const noNotices: string[] = [];

function selectNotices(state: AppState): string[] {
  return state.engine.info?.notices.filter((notice) => !state.engine.closedNotices.includes(notice)) ?? noNotices;
}

/** What a person should know about this start. */
export function Notices() {
  const notices = useApp(useShallow(selectNotices));
  const { engine } = useActions();
  return notices.map((notice) => (
    <Banner
      key={notice}
      tone="info"
      title={notice}
      testId="notice"
      className="mx-4 my-2"
      onClose={() => engine.closeNotice(notice)}
    />
  ));
}
