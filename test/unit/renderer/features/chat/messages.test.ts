/** The messages of a chat: words found in them, rows that are kept, long questions, and what two answers differ in. */
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { compareWords, type Piece } from '@/renderer/features/chat/CompareAnswers';
import { messagesWith, occurrences, stepTo } from '@/renderer/features/chat/found';
import { foldedPart, lastPart, textBlocks } from '@/renderer/features/chat/UserMessage';
import { estimateRow, rowsBetween, withKept } from '@/renderer/features/chat/useMessageScroll';

it('words are found in any case, the longer of two first, signs as signs and white space as one', () => {
  expect(occurrences('Train, trains, TRAIN', ['train', 'trains'])).toEqual([
    { start: 0, end: 5 },
    { start: 7, end: 13 },
    { start: 15, end: 20 },
  ]);
  expect(occurrences('costs 3.50 (net), not 3x50', ['3.50 (net)'])).toEqual([{ start: 6, end: 16 }]);
  expect(occurrences('the old\n  bridge', ['old bridge'])).toEqual([{ start: 4, end: 16 }]);
  expect(occurrences('text', ['', ' '])).toEqual([]);
});

it('find in a chat names the messages with the words, and goes round in both directions', () => {
  const messages = ['The train.', 'No word of it.', 'Two TRAINS', 'a+b'].map((text, i) => ({ id: `m${i}`, text }));

  expect(messagesWith(messages, 'train')).toEqual(['m0', 'm2']);
  expect(messagesWith(messages, 'a+b')).toEqual(['m3']);
  expect(messagesWith(messages, ' ')).toEqual([]);
  const ids = ['a', 'b', 'c'];
  expect([stepTo(ids, -1, 1), stepTo(ids, 2, 1), stepTo(ids, 0, -1), stepTo(ids, -1, -1)]).toEqual([
    'a',
    'a',
    'c',
    'c',
  ]);
  expect(stepTo([], -1, 1)).toBeNull();
});

describe('rows', () => {
  it('keep what has the focus and a selection, in order, and nothing that is not there any more', () => {
    expect(withKept([4, 5, 6], [5, 1], 10)).toEqual([1, 4, 5, 6]);
    expect(withKept([0, 1], [12, -1], 10)).toEqual([0, 1]);
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

describe('long questions', () => {
  it('fold by characters and by lines, and show the question at the end', () => {
    expect(foldedPart('short')).toBeNull();
    expect(foldedPart('x'.repeat(1500))).toBeNull();
    expect(foldedPart('x'.repeat(5000))).toHaveLength(1200);
    expect(foldedPart('l\n'.repeat(40))?.split('\n')).toHaveLength(14);
    expect(lastPart(`${'text '.repeat(900)}\n\nWho is it?\n`)).toBe('Who is it?');
    const rows = lastPart('word '.repeat(900));
    expect(rows).toMatch(/^… word word .* word$/);
    expect(lastPart('x'.repeat(2000))).toBe(`… ${'x'.repeat(400)}`);
  });

  it('cuts a book into blocks at line ends and loses nothing', () => {
    const book = `${'A line of the book.\n'.repeat(4000)}${'x'.repeat(20_000)}`;
    const blocks = textBlocks(book);
    expect(blocks.join('')).toBe(book);
    expect(Math.max(...blocks.map((block) => block.length))).toBeLessThanOrEqual(8001);
  });
});

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
