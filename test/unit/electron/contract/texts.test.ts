import { expect, test } from 'vitest';
import { titleFrom } from '@/electron/contract/chatOperations';
import { operations } from '@/electron/contract/contract';
import { fold, type Mark, marksIn, searchWords, snippetOf } from '@/electron/contract/lib/textSearch';

const marked = (text: string, marks: Mark[]) => marks.map(([start, end]) => text.slice(start, end));

test.each([
  ['Café  crème', ['cafe', 'creme']],
  ['"Court of appeal" 2024', ['court of appeal', '2024']],
  ['one one "', ['one']],
  ['   ', []],
  ['`code` ^', ['`code`', '^']],
])('the words of %j', (query, words) => expect(searchWords(query)).toEqual(words));

test('marks stand on the words as they were written', () => {
  // the second one is written with a combining accent
  const text = 'Café, cafe\u0301 or CAFETERIA';
  expect(marked(text, marksIn(text, ['cafe']))).toEqual(['Café', 'cafe\u0301', 'CAFE']);
  expect(marked('abcabc', marksIn('abcabc', ['abc', 'bca']))).toEqual(['abcabc']);
  expect(marksIn('İstanbul', ['istanbul'])).toEqual([[0, 8]]);
  expect(marked('한국어 책', marksIn('한국어 책', searchWords('국어')))).toEqual(['국어']);
  expect(marksIn('nothing here', ['word'])).toEqual([]);
});

test('a snippet is one line around what was found, and says where it was cut', () => {
  const text = `${'before '.repeat(50)}the\n\nNEEDLÉ   is here${' after'.repeat(50)}`;
  const snippet = snippetOf(text, fold(text), ['is', 'needle']);
  expect(snippet.text).toMatch(/^…before (before )+the NEEDLÉ is here( after)+…$/);
  expect(snippet.text.length).toBeLessThan(180);
  expect(marked(snippet.text, snippet.marks)).toEqual(['NEEDLÉ', 'is']);
  expect(snippetOf('Only this.', 'only this.', ['this'])).toEqual({ at: 5, text: 'Only this.', marks: [[5, 9]] });
  // behind characters that folding takes away
  const accents = `${'e\u0301'.repeat(500)} end of it, ${'word '.repeat(100)}`;
  expect(snippetOf(accents, fold(accents), ['end of it']).text).toContain('end of it');
});

test.each([
  ['short', 'short'],
  ['\n\n  second line \n third', 'second line'],
  ['a\tb   c', 'a b c'],
  [`${'word '.repeat(30)}`, `${'word '.repeat(11)}word…`],
  ['x'.repeat(80), `${'x'.repeat(60)}…`],
  ['😀'.repeat(80), `${'😀'.repeat(60)}…`],
  [`Who has the key?\n\n${'A long text. '.repeat(9000)}`, 'Who has the key?'],
  [' \n ', null],
  ['', null],
  ['---\n***', null],
  ['---\nAfter a rule', 'After a rule'],
  ['## **Define** `fold`', 'Define fold'],
  ['> - 2. quoted *item*', 'quoted item'],
  ['```python\nprint(1)\n```', 'print(1)'],
  ['See [the **docs**](https://example.org/a_b) first', 'See the docs first'],
  ['What does __init__ do in snake_case_names?', 'What does __init__ do in snake_case_names?'],
  ['Is 2 * 3 * 4 > 20 in C#?', 'Is 2 * 3 * 4 > 20 in C#?'],
  ['#hashtag - what is it?', '#hashtag - what is it?'],
])('title of %j', (text, title) => {
  expect(titleFrom(text)).toBe(title);
});

test('half of a surrogate pair is no text for the engine', () => {
  const asked = { chatId: null, leafId: null, attachments: [], draft: 'a\ud800b 👩' };
  expect(operations['turns.budget'].input.parse(asked).draft).toBe('a\ufffdb 👩');
});
