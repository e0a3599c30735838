import { describe, expect, it } from 'vitest';
import { blockAt, blocksOf, flowed, overlap, shownText, stretchesOf } from '@/renderer/state/lib/blocks';

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

describe('flowed', () => {
  const prose = [
    'The keeper walked to the tower, lit the lamp, and wrote the hour down',
    'in his book. Nobody had seen him since the winter of the great storm,',
    'and the boat lay where he had left it.',
  ];
  const flow = (...lines: string[]) => flowed(lines.join('\n')).split('\n');

  it('joins the lines of a paragraph, and no others', () => {
    expect(flow(...prose, '', ...prose)).toEqual([prose.join(' '), '', prose.join(' ')]);
    expect(
      flow('3.2 The lamp', ...prose, 'The last line was short, so this begins a paragraph of its own here.'),
    ).toEqual([
      ...['3.2 The lamp', prose.join(' ')],
      'The last line was short, so this begins a paragraph of its own here.',
    ]);
  });

  it.each([
    ['a list', ['• walk to the tower and up all of its stairs without a light at all', '• light the lamp']],
    ['a numbered list', ['1. walk to the tower and up all of its stairs without a light, and', '2. light the lamp']],
    ['code', ['x <- lamps(tower = 3, hours = seq(1, 24), lit = TRUE, oil = "whale")', 'summary(x)']],
    ['output', ['> the keeper walked to the tower and lit the lamp and wrote it down', 'nothing more']],
    ['a table', ['Lamp 12.5 13.25 14.75 18.00 19.25 22.50 23.75 24.00 27.00 28.25 30', '9.5 8.5 7.5 6.5']],
    ['contents', ['1.2 The lamp and the tower . . . . . . . . . . . . . . . . . . . . 14', '1.3 The boat . . . 15']],
    ['what a colon leads to', ['He wrote down what he had seen in the night, hour by hour, like this:', 'nothing']],
    ['a poem', ['The lamp was lit', 'at nine at night', 'and put out at six']],
  ])('leaves %s as it is', (_, lines) => {
    expect(flow(...lines)).toEqual(lines);
  });

  it('keeps every character in its place, so that a quotation is marked where it stands', () => {
    const text = [...prose, '', '• a list', ...prose].join('\n');
    const joined = flowed(text);
    expect(joined).toHaveLength(text.length);
    expect(joined.replaceAll('\n', ' ')).toBe(text.replaceAll('\n', ' '));
  });
});
