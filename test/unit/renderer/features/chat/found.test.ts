import { describe, expect, it } from 'vitest';
import { messagesWith, occurrences, stepTo } from '@/renderer/features/chat/found';

describe('occurrences', () => {
  it('finds words in any case, the longer of two first', () => {
    expect(occurrences('Train, trains, TRAIN', ['train', 'trains'])).toEqual([
      { start: 0, end: 5 },
      { start: 7, end: 13 },
      { start: 15, end: 20 },
    ]);
  });

  it('takes signs as signs and any white space as one', () => {
    expect(occurrences('costs 3.50 (net), not 3x50', ['3.50 (net)'])).toEqual([{ start: 6, end: 16 }]);
    expect(occurrences('the old\n  bridge', ['old bridge'])).toEqual([{ start: 4, end: 16 }]);
    expect(occurrences('text', ['', ' '])).toEqual([]);
  });
});

describe('find in a chat', () => {
  const messages = ['The train.', 'No word of it.', 'Two TRAINS', 'a+b'].map((text, i) => ({ id: `m${i}`, text }));

  it('names the messages with the words, in any case', () => {
    expect(messagesWith(messages, 'train')).toEqual(['m0', 'm2']);
    expect(messagesWith(messages, 'a+b')).toEqual(['m3']);
    expect(messagesWith(messages, ' ')).toEqual([]);
  });

  it('goes round in both directions', () => {
    const ids = ['a', 'b', 'c'];
    expect([stepTo(ids, -1, 1), stepTo(ids, 2, 1), stepTo(ids, 0, -1), stepTo(ids, -1, -1)]).toEqual([
      'a',
      'a',
      'c',
      'c',
    ]);
    expect(stepTo([], -1, 1)).toBeNull();
  });
});
