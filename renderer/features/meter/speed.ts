/** The figures of the strip: of the answer that is being written, or of the last one. */
import type { AnswerStats } from '../../../electron/contract/chats';
import type { LiveStats } from '../../../electron/contract/engine';

export interface Speed {
  now: number | null;
  average: number | null;
  ttftMs: number | null;
  promptRate: number | null;
  /** 0..1 while a prompt is read */
  promptShare: number | null;
  /** the figures belong to an answer that has ended */
  past: boolean;
}

/** `atWork`: an answer has begun; until its first figures come, those of the last one would be taken for its own. */
export function speedOf(live: LiveStats | null, last: AnswerStats | null, atWork = false): Speed {
  if (live) {
    const toRead = Math.max(1, live.promptTokens - live.cachedTokens);
    const writing = live.phase === 'decode';
    return {
      now: writing ? live.tokensPerSecondNow : null,
      average: writing ? live.tokensPerSecondAverage : null,
      ttftMs: live.ttftMs,
      promptRate: live.promptTokensPerSecond,
      promptShare: live.phase === 'prefill' ? Math.min(1, live.prefillDone / toRead) : null,
      past: false,
    };
  }
  // An answer that was stopped before its first token has no figures.
  const past = atWork || !last || last.answerTokens === 0 ? null : last;
  const rate = past && past.tokensPerSecond > 0 ? past.tokensPerSecond : null;
  return {
    now: rate,
    average: rate,
    ttftMs: past?.ttftMs ?? null,
    promptRate: past?.promptTokensPerSecond ?? null,
    promptShare: null,
    past: !atWork,
  };
}
