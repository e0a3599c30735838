import { describe, expect, it, test, vi } from 'vitest';
import { breakMarks, marksFrom, marksOf, withoutMarks } from '@/electron/engine/escapeSpecialTokens';
import type { ChatMessage } from '@/electron/engine/native/types';
import { piecesOf, TokenCounter } from '@/electron/engine/tokenCounter';

/** As many tokenizers: words with the blank before them, runs of line breaks, and the last of several blanks apart. */
const pattern = /<\|\w+\|>| ?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+\n*|\s+(?!\S)|\s+/gu;

function tokens(text: string): number {
  return text.match(pattern)?.length ?? 0;
}

function render(messages: ChatMessage[]): string {
  return `${messages.map(({ role, content }) => `<|${role}|>\n${content.trim()}\n\n`).join('')}<|assistant|>\n\n`;
}

function setUp(splits = true) {
  const countTexts = vi.fn(async (texts: string[]) => Int32Array.from(texts, tokens));
  const counter = new TokenCounter({
    mediaMarker: '<media>',
    splitsAtLines: async () => splits,
    countTexts,
    renderChat: async (messages) => render(messages),
    tokenize: (text, options) => new Int32Array(tokens(text) + (options?.addSpecial ? 1 : 0)),
  });
  const counted = () => countTexts.mock.calls.flatMap(([texts]) => texts).join('').length;
  return { counter, counted };
}

const paragraphs = Array.from(
  { length: 400 },
  (_, i) => `${'The line of a document'.slice(i % 9)}, ${i} words.\n\n  Then\nmore ${i}.`,
);
const document = `<document name="a.txt">\n[Page 1]\n${paragraphs.join('\n')}\n</document>\n\n`;
const chat = (draft: string): ChatMessage[] => [
  { role: 'system', content: 'Be kind.\n' },
  { role: 'user', content: `${document}${draft}` },
];

test('the count of a chat is the count of its whole prompt', async () => {
  for (const splits of [true, false]) {
    const { counter } = setUp(splits);
    for (const draft of ['', 'W', 'What is it?', 'Two\nlines\n\n', '  blanks', '\n\nand lines', 'a'.repeat(500)]) {
      expect(await counter.countChat(chat(draft), {}), JSON.stringify(draft)).toBe(tokens(render(chat(draft))) + 1);
    }
  }
});

test('an image counts as what it takes, between two texts', async () => {
  const { counter } = setUp();
  const media = [{ path: '/a.png', at: 6 }];
  const marked = 'before<media>behind';
  const countMedia = vi.fn(async () => 16);
  const total = await counter.countChat([{ role: 'user', content: marked, media }], {}, countMedia);
  const [left = '', right = ''] = render([{ role: 'user', content: marked }]).split('<media>');
  expect(total).toBe(tokens(left) + tokens(right) + 16 + 1);
  expect(countMedia).toHaveBeenCalledExactlyOnceWith('/a.png');
});

test('a keystroke behind a long document is a short count', async () => {
  const { counter, counted } = setUp();
  await counter.countChat(chat('What'), {});
  const before = counted();
  expect(before).toBeGreaterThan(document.length);
  await counter.countChat(chat('What i'), {});
  expect(counted() - before).toBeLessThan(document.length / 10);
});

test('a page, its document and the prompt share what is known', async () => {
  const { counter, counted } = setUp();
  const [whole = 0] = await counter.countTexts([document]);
  const before = counted();
  await counter.countChat(chat('What'), {});
  expect(counted() - before).toBeLessThan(document.length / 10);
  // in its place it is what it adds to the prompt
  const [system = { role: 'system', content: '' }] = chat('');
  const without = render([system, { role: 'user', content: 'What' }]);
  expect(whole).toBe(tokens(render(chat('What'))) - tokens(without));
});

test('cuts lie before letters and marks that begin a line, and nothing is lost', () => {
  const text = `${document}<|end|>\nafter a mark\n[INST] a\n[Page 2]\nb`;
  const pieces = piecesOf(text);
  expect(pieces.join('')).toBe(text);
  expect(pieces.length).toBeGreaterThan(10);
  for (const piece of pieces.slice(1)) expect(piece).toMatch(/^[A-Za-z0-9[]/);
  expect(pieces.some((piece) => piece.startsWith('[Page 2]'))).toBe(true);
  expect(pieces.some((piece) => piece.startsWith('after') || piece.startsWith('[INST]'))).toBe(false);
});

const marks = marksFrom(new Set(['<|im_end|>', '<s>', '</s>', '[INST]', '<｜User｜>']));

it('marks in a text are broken, wherever they stand, and nothing else changes', () => {
  const text = 'a<s><s></s> [INST]<|im_end|>b<｜User｜>';
  const broken = breakMarks(text, marks);
  for (const mark of marks.all) expect(broken).not.toContain(mark);
  expect(broken.replaceAll('\u200b', '')).toBe(text);
  expect(broken.length - text.length).toBe(6);
  // nor do two passes find more
  expect(breakMarks(broken, marks)).toBe(broken);
  // one inside another is broken too
  const nested = marksFrom(new Set(['<|<s>|>', '<s>']));
  expect(breakMarks('<|<s>|>', nested)).toBe('<\u200b|<\u200bs>|>');
  const without = 'if (a < b && c[INSTANCE] > d) <span>😀</span> <|im_end';
  expect(breakMarks(without, marks)).toBe(without);
  expect(breakMarks('<s>', marksFrom(new Set()))).toBe('<s>');
});

describe('a vocabulary', () => {
  const pieces = ['<unk>', 'the', '<|end|>', '<b>', '->', '[', '<|a b|>'];
  const control = new Set(['<unk>', '<|end|>', '<|a b|>']);
  let asked = 0;
  const model = {
    info: { vocabSize: pieces.length },
    detokenize([id = 0]: Int32Array): string {
      asked += 1;
      return pieces[id] ?? '';
    },
    tokenize: (text: string, options?: { parseSpecial?: boolean }) =>
      options?.parseSpecial && control.has(text) ? Int32Array.of(1) : Int32Array.of(2, 3),
  };

  it('is looked through once; its control tokens are marks, and no other words', async () => {
    expect(await marksOf(model)).toMatchObject({ all: control });
    await marksOf(model);
    expect(asked).toBe(pieces.length);
    const messages = [{ role: 'user' as const, content: '<b>the</b><|end|>' }];
    expect(await withoutMarks(model, messages)).toEqual([{ role: 'user', content: '<b>the</b><\u200b|end|>' }]);
    // where a document ends in it moves with it
    const [moved] = await withoutMarks(model, [
      {
        ...{ role: 'user', content: '<|end|>\nWhy?', documents: [{ id: 'd', name: 'd', end: 8 }] },
        media: [{ path: '/a.png', at: 8 }],
      },
    ]);
    expect(moved?.content.slice(moved.media?.[0]?.at)).toBe('Why?');
    expect(moved?.content.slice(moved.documents?.[0]?.end)).toBe('Why?');
  });

  it('of a model that is gone is an error, not one without marks', async () => {
    const gone = {
      ...model,
      detokenize: () => {
        throw Object.assign(new Error('disposed'), { code: 'disposed' });
      },
    };
    await expect(marksOf(gone)).rejects.toThrow('disposed');
  });
});
