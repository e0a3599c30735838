import { expect, test } from 'vitest';
import type { AnswerStats } from '@/electron/contract/chats';
import { addStats } from '@/electron/services/chats/runningAnswer';

const part: AnswerStats = {
  ...{ promptTokens: 100, cachedTokens: 40, restoredTokens: 40, rereadTokens: 1, answerTokens: 20, ttftMs: 300 },
  ...{ promptTokensPerSecond: 120, tokensPerSecond: 10, contextUsed: 119, contextSize: 512 },
  ...{ typeK: 'f16', typeV: 'f16', seed: 1, parts: 1 },
};

test('figures of two parts: tokens add up, rates are over all the time, the cache is as it was found last', () => {
  const later = { ...part, promptTokens: 120, cachedTokens: 119, answerTokens: 40, ttftMs: 5, tokensPerSecond: 40 };
  const both = addStats(part, { ...later, promptTokensPerSecond: 0, contextUsed: 159, typeK: 'turbo4', seed: 2 });
  expect(both).toEqual({
    ...{ promptTokens: 220, cachedTokens: 159, restoredTokens: 80, rereadTokens: 2, answerTokens: 60, ttftMs: 300 },
    // 20 tokens took two seconds, 40 took one
    ...{ promptTokensPerSecond: 120, tokensPerSecond: 20, contextUsed: 159, contextSize: 512 },
    ...{ typeK: 'turbo4', typeV: 'f16', seed: 2, parts: 2 },
  });
});

test('a first part without figures (it was cut off by a crash) leaves those of the second', () => {
  expect(addStats(null, part)).toBe(part);
});
