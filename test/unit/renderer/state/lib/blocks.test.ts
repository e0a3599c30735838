import { describe, expect, it } from 'vitest';
import { blockAt, blocksOf, overlap, shownText, stretchesOf } from '@/renderer/state/lib/blocks';

describe('the text in blocks', () => {
  const line = 'A line of some fifty letters stands here again.\n';
  const text = line.repeat(700);
  const sections = [
    { kind: 'page' as const, label: 'Page 1', level: 0, start: 0, end: 100 },
    { kind: 'page' as const, label: 'Page 2', level: 0, start: 100, end: 100 },
    { kind: 'page' as const, label: 'Page 3', level: 0, start: 100, end: text.length },
  ];
  const blocks = blocksOf(sections);
  const shown = (source: string) =>
    blocks.map((block) => {
      const { end = 0 } = sections[block.section] ?? {};
      const read = source.slice(block.start, Math.min(end, block.end + overlap));
      return shownText(read, block, block.end >= end);
    });

  it('shows every character once, and cuts no line but one without a blank', () => {
    expect(shown(text).join('')).toBe(text);
    for (const block of shown(text).slice(2, -1)) expect(block.endsWith('\n')).toBe(true);
    const dense = 'x'.repeat(text.length);
    expect(shown(dense).join('')).toBe(dense);
  });

  it('has a block for an empty page, and finds places', () => {
    expect(blocks.filter(({ first }) => first)).toHaveLength(3);
    expect(blockAt(blocks, { section: 2 })).toBe(2);
    expect(blocks[blockAt(blocks, { offset: 20_000 })]).toMatchObject({ section: 2, first: false });
    expect(blockAt(blocks, { offset: text.length + 5 })).toBe(blocks.length - 1);
  });

  it('of 300 million characters is shown in stretches that a browser can place', () => {
    const million = (count: number) => count * 1_000_000;
    const parts = [0, 1, 2].map((part) => ({
      ...{ kind: 'lines' as const, label: `Part ${part}`, level: 0 },
      ...{ start: million(100 * part), end: million(100 * (part + 1)) },
    }));
    const all = blocksOf(parts);
    const stretches = stretchesOf(all);
    expect(stretches.flat()).toEqual(all);
    expect(stretches.length).toBe(75);
    // a line of two letters and its end is 20 pixels high
    for (const stretch of stretches) {
      expect((((stretch.at(-1)?.end ?? 0) - (stretch[0]?.start ?? 0)) / 3) * 20).toBeLessThan(2 ** 25);
    }
    expect(stretchesOf(blocksOf([]))).toEqual([]);
  });
});
