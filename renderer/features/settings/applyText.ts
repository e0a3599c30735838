/** What a change of the context settings costs a running chat, before it is made. */

import type { AnswerStats, Message } from '../../../electron/contract/chats';
import type { LoadedContext } from '../../../electron/contract/engine';
import { askedLength, keepsCache } from '../../../electron/contract/keepsCache';
import type { ContextSettings } from '../../../electron/contract/settings';
import { formatCount, formatRate, formatTimeLeft } from '../../ui/format';

export interface ApplyFacts {
  /** null: no model is loaded */
  loaded: LoadedContext | null;
  saved: ContextSettings;
  edited: ContextSettings;
  /** tokens in the cache now */
  used: number;
  /** tokens; 0: unknown */
  trained: number;
  /** tokens per second at which prompts were read last; null: not measured yet */
  rate: number | null;
}

export interface ApplyCost {
  kind: 'nothing' | 'kept' | 'again' | 'too-short';
  text: string;
}

export function applyCost({ loaded, saved, edited, used, trained, rate }: ApplyFacts): ApplyCost {
  if (!loaded || used === 0) return { kind: 'nothing', text: 'Reloads the model. The chat stays.' };
  const tokens = formatCount(used);
  if (used >= askedLength(edited, trained)) {
    return {
      kind: 'too-short',
      text: `The chat stays, but its ${tokens} tokens are more than this context holds: it cannot be continued with it.`,
    };
  }
  const sameWeights = edited.gpuLayers === saved.gpuLayers;
  if (sameWeights && keepsCache(loaded, edited, used, trained)) {
    return { kind: 'kept', text: `The chat stays, and the cache is kept: its ${tokens} tokens are not read again.` };
  }
  const time = rate === null ? '' : `, about ${formatTimeLeft((used / rate) * 1000)} at ${formatRate(rate)} tok/s`;
  return { kind: 'again', text: `The chat stays. Its ${tokens} tokens are read again with the next question${time}.` };
}

/** a rate over fewer tokens says more about the start than about reading */
const enoughTokens = 64;

/** How fast prompts of this model were read: by the answer that read the most of the last ones. Null: none read enough. */
export function measuredRate(messages: readonly Message[], last: AnswerStats | null, modelName: string): number | null {
  const ofModel = messages.filter((message) => message.modelName === modelName).flatMap(({ stats }) => stats ?? []);
  const recent = [...ofModel.slice(-lastAnswers), ...(last ? [last] : [])];
  const measured = recent.filter((stats) => readBy(stats) >= enoughTokens && stats.promptTokensPerSecond > 0);
  const best = measured.reduce<AnswerStats | null>(
    (most, one) => (most && readBy(most) >= readBy(one) ? most : one),
    null,
  );
  return best?.promptTokensPerSecond ?? null;
}

const lastAnswers = 5;

function readBy({ promptTokens, cachedTokens }: AnswerStats): number {
  return promptTokens - cachedTokens;
}
