/** Why a question cannot be sent now. Every reason is shown, none is guessed by the person. */
import type { EngineState } from '../../../electron/shared/engine';
import type { ConnectionPhase } from '../../state/engine/state';
import { formatCount } from '../../ui/format';

export interface SendBlock {
  reason: string;
  /** what the person can do about it with one click */
  action: 'settings' | 'models' | null;
}

export interface SendFacts {
  connection: ConnectionPhase;
  engine: EngineState | null;
  empty: boolean;
  sending: boolean;
  /** tokens of the branch with the draft; null while unknown */
  tokens: number | null;
  contextSize: number | null;
  /** null while unknown, and where the context is stretched beyond it already */
  trainedContext: number | null;
}

export function sendBlock(facts: SendFacts): SendBlock | null {
  if (facts.connection !== 'open') return { reason: 'Not connected', action: null };
  const engine = engineBlock(facts.engine);
  if (engine) return engine;
  if (facts.sending) return { reason: 'Sending', action: null };
  const overflow = overflowBlock(facts);
  if (overflow) return overflow;
  return facts.empty ? { reason: '', action: null } : null;
}

/** While a model is on its way the services take the question and answer it afterwards. */
function engineBlock(state: EngineState | null): SendBlock | null {
  switch (state) {
    case 'starting':
    case 'loading':
    case 'restarting':
    case 'ready':
    case 'generating':
      return null;
    case null:
      return { reason: 'Concertina is starting. You can write already', action: null };
    case 'empty':
      return { reason: 'No model is loaded', action: 'models' };
    case 'failed':
      return { reason: 'The model could not be loaded', action: 'models' };
    case 'unavailable':
      return { reason: 'The engine is not available', action: null };
  }
}

/** Never cut silently: a prompt that does not fit is refused with the counts and a way out. */
function overflowBlock({ tokens, contextSize, trainedContext }: SendFacts): SendBlock | null {
  if (tokens === null || contextSize === null || tokens < contextSize) return null;
  const counts = `${formatCount(tokens)} tokens do not fit in the context of ${formatCount(contextSize)}.`;
  if (trainedContext !== null && contextSize >= trainedContext) {
    return {
      reason: `${counts} This model was trained for no more: shorten the text, choose another model, or go beyond in the settings`,
      action: 'settings',
    };
  }
  return { reason: `${counts} Raise the context length`, action: 'settings' };
}
