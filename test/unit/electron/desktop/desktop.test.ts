import { EventEmitter } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserWindow } from 'electron';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { channels } from '@/electron/desktop/channels';
import { setUpGate, setUpStreams } from '@/electron/desktop/gate';
import { readWindowState, writeWindowState } from '@/electron/desktop/window';
import { EngineHost } from '@/electron/services/engine/engineHost';
import { silentLogger } from '@/electron/services/lib/logger';
import { eventFrom, invoke, ipcMain } from '@/test/fixtures/electron';
import { temporaryFolder } from '@/test/fixtures/temporary';
import { ScriptedTransport } from '@/test/fixtures/transports';

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

test.each([
  ['an embedded frame, even one of our own address,', { url: 'app://concertina/' }],
  ['a frame that is gone', null],
])('%s is refused', async (_, senderFrame) => {
  const event = { ...eventFrom('app://concertina/'), senderFrame };
  expect(await invoke(channels.call, event, 'chats.list', undefined)).toEqual(refused);
});

function setUp() {
  const opened: ScriptedTransport[] = [];
  const host = new EngineHost(() => {
    const transport = new ScriptedTransport();
    opened.push(transport);
    return transport;
  }, silentLogger);
  const postMessage = vi.fn();
  const webContents = Object.assign(new EventEmitter(), { postMessage });
  const window = Object.assign(new EventEmitter(), { webContents });
  setUpStreams(host).attach(window as unknown as BrowserWindow);
  host.start();
  const ready = () => opened.at(-1)?.ready();
  return { host, opened, window, webContents, postMessage, ready };
}

test('a page that is loaded before the engine is ready gets one port when it is', () => {
  const { webContents, postMessage, ready } = setUp();
  webContents.emit('did-finish-load');
  expect(postMessage).not.toHaveBeenCalled();
  ready();
  expect(postMessage.mock.calls).toEqual([[channels.stream, null, [{ end: 'page' }]]]);
});

test('a page that still loads when the engine is ready gets one port, not two', () => {
  const { webContents, postMessage, ready, opened } = setUp();
  ready();
  webContents.emit('did-finish-load');
  expect(postMessage).toHaveBeenCalledTimes(1);
  expect(opened[0]?.sent).toEqual([{ type: 'port' }]);
});

test('it gets a new one after a reload and after a restart of the engine, and none once it is closed', async () => {
  const { webContents, window, postMessage, ready, opened } = setUp();
  ready();
  webContents.emit('did-finish-load');
  webContents.emit('did-finish-load');
  expect(postMessage).toHaveBeenCalledTimes(2);
  opened[0]?.exit({ code: null, signal: 'SIGABRT' });
  await vi.waitFor(() => expect(opened).toHaveLength(2));
  ready();
  expect(postMessage).toHaveBeenCalledTimes(3);
  window.emit('closed');
  ready();
  expect(postMessage).toHaveBeenCalledTimes(3);
});

const screen = { x: 0, y: 0, width: 1920, height: 1080 };
const bounds = { x: 100, y: 50, width: 900, height: 600 };

const pathOf = async () => join(await temporaryFolder(), 'window.json');

test('the window comes back where it was, and at the default place where its file is damaged', async () => {
  const path = await pathOf();
  writeWindowState(path, { bounds, maximized: true });
  expect(readWindowState(path, [screen])).toEqual({ bounds, maximized: true });
  await writeFile(path, '{"bounds":{"x":"left"}}');
  expect(readWindowState(path, [screen])).toBeNull();
});

test.each([
  ['to the right of every screen', { ...bounds, x: 2500 }],
  ['with its title above the screen', { ...bounds, y: -200 }],
  ['with its title below the screen', { ...bounds, y: 1070 }],
  ['with a sliver left', { ...bounds, x: 1900 }],
])('a window %s opens at the default place', async (_, odd) => {
  const path = await pathOf();
  writeWindowState(path, { bounds: odd, maximized: false });
  expect(readWindowState(path, [screen])).toBeNull();
  const second = { x: 1920, y: -1000, width: 1920, height: 2080 };
  expect(readWindowState(path, [screen, second]) === null).toBe(odd.x < 1800);
});
