/** An answer that was continued is written in several parts: what its figures are as a whole. Pure. */
import type { AnswerStats } from '../../contract/chats';

/** Tokens are added up; rates are over the time of all parts; what a cache is (type, length, use) is as the last part found it. */
export function addStats(before: AnswerStats | null, now: AnswerStats): AnswerStats {
  if (!before) return now;
  const read = (stats: AnswerStats) => stats.promptTokens - stats.cachedTokens;
  return {
    ...now,
    promptTokens: before.promptTokens + now.promptTokens,
    cachedTokens: before.cachedTokens + now.cachedTokens,
    restoredTokens: before.restoredTokens + now.restoredTokens,
    rereadTokens: before.rereadTokens + now.rereadTokens,
    answerTokens: before.answerTokens + now.answerTokens,
    ttftMs: before.ttftMs || now.ttftMs,
    promptTokensPerSecond: rateOf([
      [read(before), before.promptTokensPerSecond],
      [read(now), now.promptTokensPerSecond],
    ]),
    tokensPerSecond: rateOf([
      [before.answerTokens, before.tokensPerSecond],
      [now.answerTokens, now.tokensPerSecond],
    ]),
    parts: before.parts + now.parts,
  };
}

/** Of all tokens over all the time; parts whose rate was not measured are left out. */
function rateOf(parts: [tokens: number, perSecond: number][]): number {
  const measured = parts.filter(([tokens, perSecond]) => tokens > 0 && perSecond > 0);
  const seconds = measured.reduce((sum, [tokens, perSecond]) => sum + tokens / perSecond, 0);
  return seconds > 0 ? measured.reduce((sum, [tokens]) => sum + tokens, 0) / seconds : 0;
}
