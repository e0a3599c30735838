import { expect, test } from 'vitest';
import { titleFrom } from '@/electron/contract/chats';

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
