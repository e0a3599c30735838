import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PassageIndex, PassageIndexes } from '@/electron/workers/passages/passageIndexes';
import { firstPassages, scanPassages } from '@/electron/workers/passages/passageScan';
import { cutPassages, termsOf } from '@/electron/workers/passages/terms';
import { temporaryFolder } from '@/test/fixtures/temporary';

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

  it('ends passages where paragraphs end, and gives nothing of an empty text', () => {
    const passages = cutPassages(book);
    expect(passages.length).toBeGreaterThan(10);
    for (const { start } of passages.slice(1)) expect(book.slice(start - 2, start)).toBe('\n\n');
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

  it('returns the best first, at most as many as are asked for, and nothing without a word', () => {
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

/** Searching a text that is too long for an index: read in pieces, with the places and the order of the index. */

const filler = (n: number) => `The keeper of wall ${n} counts the stones of the old harbour. `.repeat(15).trim();

async function textFile(text: string) {
  const textPath = join(await temporaryFolder(), 'text');
  await writeFile(textPath, text);
  const search = async (query: string, limit = 5, signal = new AbortController().signal) =>
    scanPassages({ documentId: 'd', textPath, query, limit }, signal, () => undefined);
  const texts = async (query: string) =>
    (await search(query))?.passages.map(({ start, end }) => text.slice(start, end)) ?? [];
  return { textPath, search, texts };
}

const long = Array.from({ length: 3000 }, (_, n) => filler(n));
long[10] = `A lantern burns there. ${filler(10)}`;
long[2900] = `À Marseille brûle une lanterne, the lantern of whale oil. ${filler(2900)}`;
const text = long.join('\n\n');

describe('a scan', () => {
  it.each([
    ['what does the lantern of Marseille burn?', 'Marseille'],
    ['BRULE', 'brûle'],
    ['"whale oil"', 'whale oil'],
    ['marseil', 'Marseille'],
    ['wall 2999', 'wall 2999 '],
  ])('finds by %j first what has %j, behind accents and many pieces', async (query, words) => {
    expect((await (await textFile(text)).texts(query))[0]).toContain(words);
  });

  it('ranks as the index does, counts them all, and ends when nobody waits any more', async () => {
    const { search } = await textFile(text);
    const index = new PassageIndex(text);
    for (const query of ['lantern', 'lantern whale', 'wall 77', 'marseille']) {
      const scanned = await search(query);
      const indexed = index.search(query, 5);
      expect(scanned?.passages[0]?.start).toBe(indexed.passages[0]?.start);
      expect(scanned?.all).toBe(indexed.all);
    }
    expect(await search('zzz')).toEqual({ passages: [], all: 0 });
    // the parts of no word but its beginning, and of a short word nothing but itself
    expect((await search('antern'))?.all).toBe(0);
    expect((await search('lan'))?.all).toBe(0);
    expect((await search('lante'))?.all).toBe(2);
    expect(await search('lantern', 5, AbortSignal.abort())).toBeNull();
  });

  it.each([
    ['without lines', (part: string) => part.repeat(400)],
    ['without blanks', (part: string) => part.replaceAll(' ', '').repeat(400)],
  ])('reads a text %s, in scripts of several bytes', async (_, make) => {
    const whole = `${make(`空は青い、海は広い。 ${'😀 '.repeat(50)}`.repeat(40))} 灯台守は鯨油を使う。`;
    const { texts } = await textFile(whole);
    expect((await texts('鯨油'))[0]).toContain('灯台守は鯨油を使う');
  });

  it('is made of a text that is too long for an index, and once for a question', async () => {
    const { textPath } = await textFile(text);
    const indexes = new PassageIndexes();
    const reported: number[] = [];
    const search = (documentId: string, query: string) =>
      indexes.search({ documentId, textPath, query, limit: 3 }, new AbortController().signal, (one) =>
        reported.push(one),
      );
    const found = await search('d', 'lantern');
    expect(found?.all).toBe(2);
    expect(reported).toEqual([...reported].sort((a, b) => a - b));
    const pieces = reported.length;
    expect(pieces).toBeGreaterThan(1);
    expect(await search('d', 'lantern')).toEqual(found);
    expect(reported).toHaveLength(pieces);
    await search('d', 'whale');
    await search('other', 'lantern');
    expect(reported).toHaveLength(3 * pieces);
  });

  it('begins with the beginning', async () => {
    const { textPath } = await textFile(text);
    const { passages } = await firstPassages(textPath, 2);
    expect(passages.map(({ start, score }) => [start, score])).toEqual([
      [0, 0],
      [expect.any(Number), 0],
    ]);
  });
});
