import type { AnswerStats } from '../../../electron/contract/chats';

/** Prompt tokens that were really read: an answer that was stopped while reading has read only a part. */
export function readTokens(stats: AnswerStats): number {
  const asked = stats.promptTokens - stats.cachedTokens;
  if (stats.answerTokens > 0) return asked;
  return Math.max(0, Math.min(asked, stats.contextUsed - stats.cachedTokens));
}
