import { expect, test } from 'vitest';
import { buildPrompt } from '../../../../../electron/main/services/prompt';
import { titleFrom } from '../../../../../electron/main/services/titles';
import type { Message } from '../../../../../electron/shared/chats';

function message(role: Message['role'], text: string): Message {
  const rest = { thinking: 'secret thoughts', createdAt: 1, stopReason: null, error: null, stats: null, modelName: '' };
  return { id: text, parentId: null, role, text, ...rest };
}

test('roles take turns: an answer without text is left out and its neighbours become one', () => {
  const branch = [
    message('user', 'one'),
    message('assistant', ''),
    message('user', 'two'),
    message('assistant', 'three'),
  ];
  expect(buildPrompt('  ', branch, 'draft')).toEqual([
    { role: 'user', content: 'one\n\ntwo' },
    { role: 'assistant', content: 'three' },
    { role: 'user', content: 'draft' },
  ]);
});

test('the system prompt comes first, thinking is never sent back', () => {
  const prompt = buildPrompt('Be kind.', [message('user', 'one'), message('assistant', 'two')]);
  expect(prompt[0]).toEqual({ role: 'system', content: 'Be kind.' });
  expect(JSON.stringify(prompt)).not.toContain('secret');
});

test.each([
  ['short', 'short'],
  ['\n\n  second line \n third', 'second line'],
  ['a\tb   c', 'a b c'],
  [`${'word '.repeat(30)}`, 'word word word word word word word word word word word word…'],
  ['😀'.repeat(80), `${'😀'.repeat(60)}…`],
  [' \n ', null],
])('title of %j', (text, title) => {
  expect(titleFrom(text)).toBe(title);
});
