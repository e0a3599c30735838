/** Where images and sound stand in the messages that a template sees. */
import { expect, test } from 'vitest';
import { chatBody } from '@/electron/engine/native/chatRequest';
import type { ChatMessage } from '@/electron/engine/native/types';

const messages: ChatMessage[] = [
  { role: 'system', content: 'Be kind.' },
  {
    role: 'user',
    content: 'one two three',
    media: [
      { path: '/a', at: 4 },
      { path: '/b', at: 4 },
      { path: '/c', at: 8 },
    ],
  },
];

test('a marker stands where each of them is, and templates see nothing else of it', () => {
  expect(JSON.parse(chatBody(messages, {}, '<m>')).messages).toEqual([
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'one <m><m>two <m>three' },
  ]);
});

test('a reader that sees nothing refuses them', () => {
  expect(() => chatBody(messages, {})).toThrow(/Images and sound cannot be used here/);
  expect(() => chatBody(messages.slice(0, 1), {})).not.toThrow();
});
