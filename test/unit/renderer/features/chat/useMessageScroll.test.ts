import { describe, expect, it } from 'vitest';
import { estimateRow, rowsBetween, withKept } from '@/renderer/features/chat/useMessageScroll';

describe('rows', () => {
  it('keep what has the focus, once and in order, and nothing that is not there any more', () => {
    expect(withKept([4, 5, 6], [5, 1], 10)).toEqual([1, 4, 5, 6]);
    expect(withKept([0, 1], [12, -1], 10)).toEqual([0, 1]);
  });

  it('keep a selection without holes, and of a huge one only the ends', () => {
    expect(rowsBetween([7, 3])).toEqual([3, 4, 5, 6, 7]);
    expect(rowsBetween([5000, 2])).toEqual([2, 5000]);
    expect(rowsBetween([])).toEqual([]);
  });

  it('are guessed higher for more text, and a folded question never very high', () => {
    const long = 'word '.repeat(4000);
    expect(estimateRow({ role: 'assistant', text: long })).toBeGreaterThan(1000);
    expect(estimateRow({ role: 'user', text: long })).toBeLessThan(500);
    expect(estimateRow({ role: 'user', text: 'Short?' })).toBeLessThan(100);
  });
});
