import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { channels } from '@/electron/contract/rpc';
import { setUpGate } from '@/electron/desktop/gate';
import { eventFrom, invoke, ipcMain } from '@/test/fixtures/electron';

vi.mock('electron', () => import('@/test/fixtures/electron'));

const call = vi.fn(async () => ({ ok: true as const, value: 'served' }));
const refused = { ok: false, error: { code: 'forbidden', message: 'This page may not use the app.', hint: '' } };

beforeEach(() => setUpGate({ call }));
afterEach(() => {
  ipcMain.removeHandler(channels.call);
  call.mockClear();
});

test('a call of our own page reaches the services with name and input', async () => {
  const answer = await invoke(channels.call, eventFrom('app://concertina/index.html'), 'chats.open', { chatId: 'a' });
  expect(answer).toEqual({ ok: true, value: 'served' });
  expect(call.mock.calls).toEqual([['chats.open', { chatId: 'a' }]]);
});

test.each([
  'https://example.com/',
  'app://other/index.html',
  'app://concertina.example.com/',
  'https://concertina/',
  'file:///index.html',
  'about:blank',
  '',
])('a page at %j is refused', async (url) => {
  expect(await invoke(channels.call, eventFrom(url), 'chats.list', undefined)).toEqual(refused);
  expect(call).not.toHaveBeenCalled();
});

test('an embedded frame is refused, even one of our own address', async () => {
  const event = { ...eventFrom('app://concertina/'), senderFrame: { url: 'app://concertina/' } };
  expect(await invoke(channels.call, event, 'chats.list', undefined)).toEqual(refused);
});

test('a frame that is gone is refused', async () => {
  const event = { ...eventFrom('app://concertina/'), senderFrame: null };
  expect(await invoke(channels.call, event, 'chats.list', undefined)).toEqual(refused);
});
