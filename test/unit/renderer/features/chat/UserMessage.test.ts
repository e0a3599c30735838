import { describe, expect, it } from 'vitest';
import { foldedPart, lastPart, textBlocks } from '@/renderer/features/chat/UserMessage';

describe('long questions', () => {
  it('folds by characters and by lines, with some slack', () => {
    expect(foldedPart('short')).toBeNull();
    expect(foldedPart('x'.repeat(1500))).toBeNull();
    expect(foldedPart('x'.repeat(5000))).toHaveLength(1200);
    expect(foldedPart('l\n'.repeat(40))?.split('\n')).toHaveLength(14);
  });

  it('shows the question at the end of a pasted text', () => {
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
