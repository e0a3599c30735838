/** The real server on a loopback port, over HTTP and WebSocket. */
import { mkdir, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import { Emitter } from '../../../../electron/main/services/emitter';
import type { AppEvent, Services } from '../../../../electron/main/services/services';
import { startServer } from '../../../../electron/serve/server';
import { limits } from '../../../../electron/shared/limits';
import type { Envelope } from '../../../../electron/shared/operation';
import { temporaryFolder } from '../../../fixtures/temporary';

async function setUp() {
  const folder = await temporaryFolder();
  const page = join(folder, 'page');
  await mkdir(page);
  await writeFile(join(page, 'index.html'), '<p>the page</p>');
  await writeFile(join(folder, 'secret.json'), 'secret');
  const events = new Emitter<AppEvent>();
  const release = vi.fn();
  const call = vi.fn(
    async (name: unknown, input: unknown): Promise<Envelope> => ({ ok: true, value: { name, input } }),
  );
  const services = { call, events, engine: { watch: () => release } } as unknown as Services;
  const server = await startServer({ host: '127.0.0.1', port: 0, page, token: 'a-token-of-the-test', services });
  onTestFinished(() => server.close());
  const token = new URL(server.url).searchParams.get('token') ?? '';
  return { ...server, token, events, call, release };
}

interface Answer {
  status: number;
  body: string;
  headers: Record<string, string | string[] | undefined>;
}

/** fetch would tidy the path and the Host header up. */
function get(port: number, path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const open = request({ host: '127.0.0.1', port, path, headers, method }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body, headers: response.headers }));
    });
    open.on('error', reject).end();
  });
}

/** The open socket, or the status with which it was refused. */
function connect(port: number, path: string, options: ClientOptions = {}): Promise<WebSocket | number> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, options);
  onTestFinished(() => socket.terminate());
  return new Promise((resolve) => {
    socket.on('open', () => resolve(socket));
    socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
    socket.on('error', () => undefined);
  });
}

async function open(port: number, token: string): Promise<WebSocket> {
  const socket = await connect(port, `/ws?token=${token}`, { origin: `http://127.0.0.1:${port}` });
  if (typeof socket === 'number') throw new Error(`refused with ${socket}`);
  return socket;
}

function nextMessage(socket: WebSocket): Promise<unknown> {
  return new Promise((resolve) => socket.once('message', (data) => resolve(JSON.parse(data.toString()))));
}

test('the page comes with the content policy', async () => {
  const { port } = await setUp();
  const answer = await get(port, '/');
  expect(answer).toMatchObject({ status: 200, body: '<p>the page</p>' });
  expect(answer.headers['content-security-policy']).toContain(`connect-src 'self' ws://127.0.0.1:${port}`);
  expect(answer.headers['set-cookie']).toBeUndefined();
});

test.each(['/../secret.json', '/..%2fsecret.json', '/%2e%2e/secret.json', '//secret.json', '/nothing.js'])(
  'GET %s finds nothing',
  async (path) => {
    const { port } = await setUp();
    expect(await get(port, path)).toMatchObject({ status: 404, body: expect.not.stringContaining('secret') });
  },
);

test('other methods and foreign host names are refused', async () => {
  const { port } = await setUp();
  expect((await get(port, '/', {}, 'POST')).status).toBe(405);
  expect((await get(port, '/', { Host: `evil.example:${port}` })).status).toBe(403);
  expect((await get(port, '/', { Host: '127.0.0.1:1' })).status).toBe(403);
  expect((await get(port, '/', { Host: `localhost:${port}` })).status).toBe(200);
});

test('calls go in, answers and events come out', async () => {
  const { port, token, events } = await setUp();
  const socket = await open(port, token);
  const answered = nextMessage(socket);
  socket.send(JSON.stringify({ type: 'call', id: 7, name: 'chats.open', input: { chatId: 'a' } }));
  expect(await answered).toEqual({
    type: 'answer',
    id: 7,
    envelope: { ok: true, value: { name: 'chats.open', input: { chatId: 'a' } } },
  });
  const event = nextMessage(socket);
  events.emit({ name: 'onChats', payload: [] });
  expect(await event).toEqual({ type: 'event', name: 'onChats', payload: [] });
});

test.each(['', '?token=', '?token=wrong', '?other=x'])(
  'a socket with %j instead of the token is refused',
  async (query) => {
    const { port, call } = await setUp();
    expect(await connect(port, `/ws${query}`, { origin: `http://127.0.0.1:${port}` })).toBe(401);
    expect(call).not.toHaveBeenCalled();
  },
);

test.each(['https://example.com', 'http://127.0.0.1:1', 'null', 'http://127.0.0.1'])(
  'a page of the origin %s is refused, even with the token',
  async (origin) => {
    const { port, token } = await setUp();
    expect(await connect(port, `/ws?token=${token}`, { origin })).toBe(403);
  },
);

test('a foreign host name is refused, even with the token', async () => {
  const { port, token } = await setUp();
  expect(await connect(port, `/ws?token=${token}`, { headers: { Host: `evil.example:${port}` } })).toBe(403);
  expect(await connect(port, `/other?token=${token}`)).toBe(404);
});

test('the page that was opened with the token gets a cookie that opens the socket', async () => {
  const { port, token } = await setUp();
  const { headers } = await get(port, `/?token=${token}`);
  const cookie = String(headers['set-cookie']);
  expect(cookie).toMatch(/HttpOnly; SameSite=Strict/);
  const socket = await connect(port, '/ws', { headers: { Cookie: cookie.replace(/;.*$/, '') } });
  expect(socket).toBeInstanceOf(WebSocket);
  expect((await get(port, '/?token=wrong')).headers['set-cookie']).toBeUndefined();
});

test.each(['not json', '{"type":"call"}', '[]', '{"type":"answer","id":1}'])('%s closes the socket', async (text) => {
  const { port, token, call, release } = await setUp();
  const socket = await open(port, token);
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.send(text);
  expect(await closed).toBe(1007);
  expect(call).not.toHaveBeenCalled();
  await vi.waitFor(() => expect(release).toHaveBeenCalledOnce());
});

test('a message that is longer than any call closes the socket', async () => {
  const { port, token, call } = await setUp();
  const socket = await open(port, token);
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.send('x'.repeat(limits.maxMessage * 6 + 100_000));
  expect(await closed).toBe(1009);
  expect(call).not.toHaveBeenCalled();
});
