/** What is kept on disk beside the chats, as the settings tell it and remove it. */
import { expect, it } from 'vitest';
import type { ChatSummary } from '@/electron/contract/chats';
import type { SavedSession } from '@/electron/contract/engine';
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
  const text = (...sessions: SavedSession[]) => totalText(sessions, { maxBytes: 8 * GiB });
  expect(text()).toMatch(/0 B.*8\.00 GiB/);
  expect(text(savedSession(), savedSession())).toMatch(/^2 .*2\.00 GiB.*8\.00 GiB/);
});

it('a cache has the title of its chats, its size and its types', () => {
  const chats = ['chat-1', 'chat-2'].map((id) => ({ id, title: `About ${id}` }) as ChatSummary);
  expect(titleOf(savedSession(), chats)).toBe('About chat-1');
  expect(titleOf(savedSession({ chatIds: ['chat-1', 'chat-2'] }), chats)).toMatch(/^About chat-1 .*1/);
  expect(titleOf(savedSession({ chatIds: ['gone'] }), chats)).not.toContain('About');
  expect(sizeText(savedSession({ typeV: 'turbo3' }))).toMatch(/1\.00 GiB.*8,192.*turbo4.*turbo3/);
});

it('times are told roughly', () => {
  const minute = 60_000;
  const now = 100 * 24 * 60 * minute;
  const texts = [0.5, 5, 130, 60 * 25, 60 * 24 * 12].map((minutes) => agoText(now - minutes * minute, now));
  expect(texts).toEqual(['just now', '5 minutes ago', '2 hours ago', 'yesterday', '12 days ago']);
});

it('documents are told with what a sweep would free, where it would', () => {
  const none = { count: 0, bytes: 0 };
  expect(documentsText({ count: 2, bytes: 2048, unused: none })).toMatch(/2 .*2\.00 KiB/);
  expect(unusedText({ ...none, unused: none })).toBeNull();
  expect(unusedText({ ...none, unused: { count: 1, bytes: 10 } })).toMatch(/1 .*10\.0 B/);
});
