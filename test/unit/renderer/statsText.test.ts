import { describe, expect, it } from 'vitest';
import type { AnswerStats } from '@/electron/contract/chats';
import { statsRows } from '@/renderer/features/chat/StatsLine';

const stats: AnswerStats = {
  ...{ promptTokens: 4220, cachedTokens: 4000, restoredTokens: 3900, answerTokens: 312 },
  ...{ ttftMs: 412, promptTokensPerSecond: 610, tokensPerSecond: 42.31, contextUsed: 4532, contextSize: 8192 },
  ...{ typeK: 'turbo4', typeV: 'turbo3', seed: 7, parts: 1, rereadTokens: 0 },
};
const told = { stats, stopReason: 'end-of-turn', modelName: 'concertina-small', createdAt: 0 } as const;
const rows = (change: object) =>
  Object.fromEntries(statsRows({ ...told, ...change }).map(({ label, value }) => [label, value]));

describe('statsRows', () => {
  it('tells where each token of the prompt came from', () => {
    expect(rows({})).toMatchObject({
      Answer: '312 tokens at 42.3 tok/s',
      Ended: 'by itself',
      'First token': 'after 412 ms',
      Prompt: '4,220 tokens',
      '– in the cache': '4,000 tokens, 3,900 of them restored from the disk',
      '– read anew': '220 tokens at 610 tok/s',
      Context: '4,532 of 8,192 tokens (55%)',
      Cache: 'K turbo4, V turbo3',
      Model: 'concertina-small',
      Seed: '7',
    });
  });

  it('says what is a sum, and what was read once more', () => {
    expect(rows({ stats: { ...stats, parts: 2, rereadTokens: 200 } })).toMatchObject({
      Answer: '312 tokens at 42.3 tok/s, in 2 parts; the figures are of all of them',
      '– read anew': '220 tokens at 610 tok/s, 200 of them once more',
    });
  });

  it('gives no figure that nobody measured', () => {
    const short = { ...stats, answerTokens: 0, tokensPerSecond: 0, cachedTokens: 0, restoredTokens: 0, contextUsed: 0 };
    const told = rows({ stats: short, stopReason: 'cancelled' });
    expect(told).toMatchObject({ Answer: '0 tokens', '– in the cache': '0 tokens', '– read anew': '0 tokens' });
    expect(told).not.toHaveProperty('First token');
    expect(Object.keys(rows({ stats: null, modelName: '' }))).toEqual(['Ended', 'Begun']);
  });
});
