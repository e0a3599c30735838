import { describe, expect, it } from 'vitest';
import { PassageIndex } from '@/electron/workers/passages/passageIndexes';
import { cutPassages, termsOf } from '@/electron/workers/passages/terms';

const sentence = (i: number) => `The keeper walks along wall ${i} and counts the stones of the old harbour again. `;
const paragraph = (i: number) => sentence(i).repeat(4).trim();
const book = Array.from({ length: 60 }, (_, i) => paragraph(i)).join('\n\n');

describe('cutting', () => {
  it.each([
    ['paragraphs', book],
    ['one long line', sentence(1).repeat(100)],
    ['lines', 'a line of words without a dot\n'.repeat(300)],
    ['no blanks', '😀'.repeat(4000)],
    ['blanks only at the ends', `\n\n  ${paragraph(1)}  \n\n`],
  ])('of %s loses nothing but blanks, and cuts no letter', (_, text) => {
    const passages = cutPassages(text);
    let last = 0;
    for (const { start, end } of passages) {
      expect(text.slice(last, start).trim()).toBe('');
      expect(end - start).toBeLessThanOrEqual(1400);
      expect(text.slice(start, end)).toBe(text.slice(start, end).trim());
      expect(text.slice(start, end)).not.toMatch(/^[\udc00-\udfff]|[\ud800-\udbff]$/);
      last = end;
    }
    expect(text.slice(last).trim()).toBe('');
  });

  it('ends passages where paragraphs end', () => {
    const passages = cutPassages(book);
    expect(passages.length).toBeGreaterThan(10);
    for (const { start } of passages.slice(1)) expect(book.slice(start - 2, start)).toBe('\n\n');
  });

  it('gives nothing of an empty text', () => {
    expect(cutPassages('')).toEqual([]);
    expect(cutPassages(' \n ')).toEqual([]);
  });
});

describe('searching', () => {
  const planted = book.replace(paragraph(40), `${paragraph(40)} The lantern of Marseille burns whale oil.`);
  const index = new PassageIndex(planted);
  const textsOf = (query: string) => index.search(query, 5).passages.map(({ start, end }) => planted.slice(start, end));

  it.each(['What does the lantern of Marseille burn?', 'MARSEILLE lanterns', 'lantern in Marseile', 'marséille'])(
    'finds what %j asks for first',
    (query) => {
      expect(textsOf(query)[0]).toContain('whale oil');
    },
  );

  it('tells the best first, at most as many as are asked for, and nothing without a word', () => {
    const { passages: found, all } = index.search('wall 7 keeper', 5);
    expect(found).toHaveLength(5);
    expect(all).toBeGreaterThan(10);
    expect(found.map(({ score }) => score)).toEqual(found.map(({ score }) => score).sort((a, b) => b - a));
    expect(planted.slice(found[0]?.start, found[0]?.end)).toContain('wall 7 ');
    expect(index.search('zzz', 5)).toEqual({ passages: [], all: 0 });
  });

  it('knows words of scripts without blanks', () => {
    expect(termsOf('灯台守は Tokyo')).toEqual(['灯台', '台守', '守は', 'tokyo']);
    const japanese = new PassageIndex(
      `${'海は広い。'.repeat(300)}\n\n灯台守は鯨油を使う。\n\n${'空は青い。'.repeat(300)}`,
    );
    expect(japanese.search('鯨油', 3).passages).toHaveLength(1);
  });
});
