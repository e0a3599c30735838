import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PassageIndex, PassageIndexes } from '@/electron/workers/passages/passageIndexes';
import { firstPassages, scanPassages } from '@/electron/workers/passages/passageScan';
import { queryOf } from '@/electron/workers/passages/question';
import { rank } from '@/electron/workers/passages/ranking';
import { cutPassages, headingsIn, termsOf } from '@/electron/workers/passages/terms';
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

  it('begins a passage with a heading, and says below which heading another one begins', () => {
    const text = `${paragraph(1)}\n\n2.4 Copying files\n${[2, 3, 4, 5, 6].map(paragraph).join('\n\n')}`;
    const [, second, third] = cutPassages(text);
    expect(text.slice(second?.start).startsWith('2.4 Copying files')).toBe(true);
    expect([second?.above, third?.above]).toEqual(['', '2.4 Copying files']);
  });

  it.each([
    ['3.7.5 Exit Status\nThe exit status', ['3.7.5 Exit Status']],
    ['before.\n\nHow do I fix the tree?\n\nOne way.', ['How do I fix the tree?']],
    ['## options\ntext', ['## options']],
    ['前の文。\n\n灯台の油\n\n次の文。', ['灯台の油']],
    // a running head with its page, a line of contents, a sentence, a line of a paragraph
    [
      'a\n\n148 CHAPTER 6. MODELS\n\nFreedomBox Manual 87 / 278\n\n3.7 Commands . . . . 9\n\nIt is so.\n\nA line\nof text',
      [],
    ],
  ])('sees the headings of %j', (text, headings) => {
    expect(headingsIn(text).map((heading) => heading.text)).toEqual(headings);
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
    expect(index.search('zzz', 5)).toEqual({ passages: [], all: 0, words: 'zzz' });
  });

  it('knows words of scripts without blanks', () => {
    expect(termsOf('灯台守は Tokyo')).toEqual(['灯台', '台守', '守は', 'tokyo']);
    const japanese = new PassageIndex(
      `${'海は広い。'.repeat(300)}\n\n灯台守は鯨油を使う。\n\n${'空は青い。'.repeat(300)}`,
    );
    expect(japanese.search('鯨油', 3).passages).toHaveLength(1);
  });

  it.each([
    ['灯台守は何の油を使いますか。', '海は広い。', '灯台守は鯨油を使う。'],
    ['ما هو الزيت الذي يستخدمه حارس المنارة؟', 'من البحر إلى السماء كل يوم. ', 'حارس المنارة يستخدم الزيت القديم. '],
    ['등대지기는 어떤 기름을 사용합니까?', '그리고 바다는 매우 넓다. ', '등대지기는 고래 기름을 쓴다. '],
    [
      'Welches Öl verwendet der Wärter des Turms?',
      'Was der Fischer und die Frau in der Stadt kauften. ',
      'Der Wärter verwendet Walöl. ',
    ],
  ])('finds what is asked in its language: %s', (question, filling, answer) => {
    const whole = `${filling.repeat(200)}\n\n${answer}\n\n${filling.repeat(200)}`;
    const [first] = new PassageIndex(whole).search(question, 1).passages;
    expect(whole.slice(first?.start, first?.end)).toContain(answer.trim());
  });
});

/** The worse one has the higher score so far, by little. */
describe('ranking', () => {
  const candidate = (number: number, text: string, score: number, above = '') => ({
    ...{ number, start: number * 1000, end: number * 1000 + 900, above, text, score, terms: [] },
  });
  const rest = 'Some more is told of boats and nets.';

  it.each([
    [
      'words that stand together',
      'How is the exit status set?',
      `Status zero. One exit. ${rest}`,
      `The exit status. ${rest}`,
    ],
    [
      'a name as it is written',
      'what does --no-act do in practice',
      `No act in practice. ${rest}`,
      `In practice: --no-act. ${rest}`,
    ],
    ['a name that is not part of another one', 'read -t', `read -timing ${rest}`, `read x -t ${rest}`],
    ['a phrase in quotes', '"whale oil" lamps', `Oil of the whale, lamps. ${rest}`, `Lamps, whale oil. ${rest}`],
    ['a heading', 'price of oil in winter', `In winter oil, price. ${rest}`, `4.1 Oil, Price\nIn winter. ${rest}`],
    [
      'what is no table of contents',
      'price of oil',
      'The price of oil . . . . . 12\nOf boats . . . . 14',
      `Oil has its price. ${rest}`,
    ],
    ['what is no index', 'price of oil', 'price of oil, 12\nboats, 14, 19', `Oil has its price. ${rest}`],
  ])('puts %s first', (_, question, worse, better) => {
    const [first] = rank(queryOf(question), [candidate(1, worse, 1), candidate(9, better, 0.98)]);
    expect(first?.start).toBe(9000);
  });

  it('puts first what stands below a heading with the words, and one beside another that has the words', () => {
    const query = queryOf('price of oil');
    const below = [candidate(1, 'Oil, price.', 1), candidate(9, 'Oil, price.', 0.98, 'Price and oil')];
    expect(rank(query, below)[0]?.start).toBe(9000);
    const beside = [candidate(1, 'Oil.', 1), candidate(8, 'Oil.', 0.9), candidate(9, 'Oil.', 0.98)];
    expect(rank(query, beside).map(({ start }) => start)).toEqual([9000, 8000, 1000]);
  });
});

describe('what is searched for', () => {
  it.each([
    ['What does the function lm do?', 'function lm'],
    ['Could you please tell me how often bash looks for new mail?', 'often bash looks new mail'],
    ['How do I use `for` in a loop, with --max-depth=3 and $HOME?', '"for" loop --max-depth=3 $HOME'],
    ['was macht die Funktion lm, und warum?', 'Funktion lm'],
    ['for loop', 'for loop'],
    ['What is it?', 'What is it'],
    ['灯台守は鯨油を使う。', '灯台守は鯨油を使う'],
  ])('of %j is %j', (question, words) => {
    expect(queryOf(question).words).toBe(words);
  });

  it('is each word that a person chose, and of a long text the longest ones', () => {
    expect(queryOf('what the keeper does', true).words).toBe('what the keeper does');
    const long = Array.from({ length: 100 }, (_, n) => `word${'x'.repeat(n % 40)}${n}`).join(' ');
    expect(queryOf(long).words.split(' ')).toHaveLength(24);
  });

  it('has the stems of the words, names as they are written, and what follows each other', () => {
    expect(queryOf('How were the models sampled with rates=invgamma?')).toEqual({
      words: 'models sampled rates=invgamma',
      shown: [
        { word: 'models', terms: ['model'] },
        { word: 'sampled', terms: ['sampl'] },
        { word: 'rates=invgamma', terms: ['rate', 'invgamma'] },
      ],
      terms: ['model', 'sampl', 'rate', 'invgamma'],
      pairs: [
        ['model', 'sampl'],
        ['sampl', 'rate'],
        ['rate', 'invgamma'],
      ],
      exact: ['rates=invgamma'],
    });
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
    expect(await search('zzz')).toEqual({ passages: [], all: 0, words: 'zzz' });
    // the parts of no word but its beginning, and of a short word nothing but itself
    expect((await search('antern'))?.all).toBe(0);
    expect((await search('lan'))?.all).toBe(0);
    expect((await search('lante'))?.all).toBe(2);
    // other words of the same stem
    expect((await search('stoned countings'))?.all).toBe(new PassageIndex(text).search('stoned countings', 1).all);
    expect((await search('stoned countings'))?.all).toBeGreaterThan(2000);
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
