/** What is kept on disk beside the chats, as the settings tell it and remove it. */
import { expect, it } from 'vitest';
import type { ChatSummary } from '@/electron/contract/chats';
import {
  agoText,
  documentsText,
  sizeText,
  titleOf,
  totalText,
  unusedText,
} from '@/renderer/features/settings/KeptSection';
import { savedSession } from '@/test/fixtures/samples';

const GiB = 1024 ** 3;

it('the total is told against the quota, when there is nothing too', () => {
  const quota = { maxBytes: 8 * GiB };
  expect(totalText([], quota)).toBe('No caches are kept: 0 B of 8.00 GiB.');
  expect(totalText([savedSession()], quota)).toBe('1 cache: 1.00 GiB of 8.00 GiB.');
  expect(totalText([savedSession(), savedSession()], quota)).toBe('2 caches: 2.00 GiB of 8.00 GiB.');
});

it('a cache has the title of its chats, its size and its types', () => {
  const chats = ['chat-1', 'chat-2'].map((id) => ({ id, title: `About ${id}` }) as ChatSummary);
  expect(titleOf(savedSession(), chats)).toBe('About chat-1');
  expect(titleOf(savedSession({ chatIds: ['chat-1', 'chat-2'] }), chats)).toBe('About chat-1 and 1 more');
  expect(titleOf(savedSession({ chatIds: ['gone'] }), chats)).toBe('A chat in the trash');
  expect(sizeText(savedSession({ typeV: 'turbo3' }))).toBe('1.00 GiB · 8,192 tokens · turbo4 / turbo3');
});

it('times are told roughly', () => {
  const minute = 60_000;
  const now = 100 * 24 * 60 * minute;
  const texts = [0.5, 5, 130, 60 * 25, 60 * 24 * 12].map((minutes) => agoText(now - minutes * minute, now));
  expect(texts).toEqual(['just now', '5 minutes ago', '2 hours ago', 'yesterday', '12 days ago']);
});

it('documents are told with what a sweep would free', () => {
  const none = { count: 0, bytes: 0 };
  expect(documentsText({ ...none, unused: none })).toBe('No texts of documents are stored.');
  expect(documentsText({ count: 2, bytes: 2048, unused: none })).toBe('Texts of 2 documents: 2.00 KiB.');
  expect(unusedText({ ...none, unused: none })).toBeNull();
  expect(unusedText({ ...none, unused: { count: 1, bytes: 10 } })).toBe('1 of them is in no chat: 10.0 B.');
});
