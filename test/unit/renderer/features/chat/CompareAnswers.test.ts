import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { compareWords, type Piece } from '@/renderer/features/chat/CompareAnswers';

const whole = (pieces: Piece[] = []) => pieces.map(({ text }) => text).join('');
const own = (pieces: Piece[] = []) => pieces.filter((piece) => piece.own).map(({ text }) => text.trim());

describe('compareWords', () => {
  /** It has some time and no more; a machine that is busy elsewhere takes none of it. */
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
  });

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
    const words = (letter: string) => Array.from({ length: 1000 }, (_, i) => `${letter}${i}`).join(' ');
    const [left, right] = [words('a'), words('b')];
    // it looks at the clock again and again, which here goes on by a millisecond each time
    let looks = 0;
    const start = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => start + looks++);
    expect(compareWords(left, right)).toBeNull();
    expect(looks).toBeGreaterThan(400);
    expect(looks).toBeLessThan(410);
  });
});
