import { describe, expect, it } from 'vitest';
import { compareWords, type Piece } from '../../../renderer/features/chat/compareWords';

const whole = (pieces: Piece[] = []) => pieces.map(({ text }) => text).join('');
const own = (pieces: Piece[] = []) => pieces.filter((piece) => piece.own).map(({ text }) => text.trim());

describe('compareWords', () => {
  it('marks what only one of them says, and keeps both texts as they are', () => {
    const [left, right] = ['The train\nleaves at nine.', 'The train\nleaves late, at ten.'];
    const compared = compareWords(left, right);
    expect([whole(compared?.left), whole(compared?.right)]).toEqual([left, right]);
    expect(own(compared?.left)).toContain('nine');
    expect(own(compared?.right).join(' ')).toMatch(/late,.*ten/);
    expect(own(compared?.left).join(' ')).not.toContain('train');
  });

  it('marks nothing in equal answers', () => {
    expect(compareWords('Same.', 'Same.')).toEqual({
      left: [{ text: 'Same.', own: false }],
      right: [{ text: 'Same.', own: false }],
    });
  });

  it('gives up on long answers that share nothing', () => {
    const words = (letter: string) => Array.from({ length: 40_000 }, (_, i) => `${letter}${i}`).join(' ');
    const start = performance.now();
    expect(compareWords(words('a'), words('b'))).toBeNull();
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});
