/** The real server on a loopback port, over HTTP and WebSocket. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import { limits } from '@/electron/contract/limits';
import { type Envelope, socketProtocol, socketProtocols } from '@/electron/contract/rpc';
import { startServer } from '@/electron/server/server';
import { createGateway, type Gateway } from '@/electron/services/api/gateway';
import { Emitter } from '@/electron/services/lib/emitter';
import * as staticFiles from '@/electron/services/lib/staticFiles';
import { securityHeaders, staticFile, urlPath } from '@/electron/services/lib/staticFiles';
import type { AppEvent, Services } from '@/electron/services/services';
import { ask, raw } from '@/test/fixtures/httpClient';
import { temporaryFolder } from '@/test/fixtures/temporary';

async function setUp(gateway?: Gateway, host = '127.0.0.1') {
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
  const services = { call, events, engine: { memory: { watch: () => release } } } as unknown as Services;
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const server = await startServer({
    hosts: [host],
    port: 0,
    page,
    token: 'a-token-of-the-test',
    gateway,
    services,
    log,
  });
  onTestFinished(() => server.close());
  const token = new URL(server.url).searchParams.get('token') ?? '';
  return { ...server, token, events, call, release, log };
}

const get = (port: number, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  ask(port, path, { headers, method });

interface Offer extends ClientOptions {
  protocols?: string[];
}

/** The open socket, or the status with which it was refused. */
function connect(
  port: number,
  path: string,
  { protocols, ...options }: Offer = {},
  host = '127.0.0.1',
): Promise<WebSocket | number> {
  const socket = new WebSocket(`ws://${host}:${port}${path}`, protocols, options);
  onTestFinished(() => socket.terminate());
  return new Promise((resolve) => {
    socket.on('open', () => resolve(socket));
    socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
    socket.on('error', () => undefined);
  });
}

async function open(port: number, token: string): Promise<WebSocket> {
  const offer = { protocols: socketProtocols(token), origin: `http://127.0.0.1:${port}` };
  const socket = await connect(port, '/ws', offer);
  if (typeof socket === 'number') throw new Error(`refused with ${socket}`);
  return socket;
}

/** The server still serves the page and lets a new socket in. */
async function expectAlive(port: number, token: string): Promise<void> {
  expect(await get(port, '/')).toMatchObject({ status: 200, body: '<p>the page</p>' });
  await expectAnswer(await open(port, token));
}

async function expectAnswer(socket: WebSocket): Promise<void> {
  const answered = nextMessage(socket);
  socket.send(JSON.stringify({ type: 'call', id: 1, name: 'chats.list' }));
  expect(await answered).toMatchObject({ type: 'answer', id: 1, envelope: { ok: true } });
}

function nextMessage(socket: WebSocket): Promise<unknown> {
  return new Promise((resolve) => socket.once('message', (data) => resolve(JSON.parse(data.toString()))));
}

test('the page comes with the content policy; other paths, methods and host names are refused', async () => {
  const { port } = await setUp();
  const answer = await get(port, '/');
  expect(answer).toMatchObject({ status: 200, body: '<p>the page</p>' });
  expect(answer.headers['content-security-policy']).toContain(`connect-src 'self' ws://127.0.0.1:${port}`);
  // every kind of path: the tests of `urlPath` below
  const body = expect.not.stringContaining('secret');
  expect(await get(port, '/%2e%2e/secret.json')).toMatchObject({ status: 400, body });
  expect(await get(port, '/nothing.js')).toMatchObject({ status: 404, body });
  expect((await get(port, '/', {}, 'POST')).status).toBe(405);
  expect((await get(port, '/', { Host: `evil.example:${port}` })).status).toBe(403);
  expect((await get(port, '/', { Host: '127.0.0.1:1' })).status).toBe(403);
  expect((await get(port, '/', { Host: `localhost:${port}` })).status).toBe(200);
});

test('the API answers on the port of the page, which keeps its paths', async () => {
  const service = { answer: vi.fn(), look: vi.fn(), models: async () => ({ data: [] }), isReady: () => true };
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const gateway = createGateway({ service, key: 'the key', cors: [], hosts: ['127.0.0.1'], log });
  const { port, token, api } = await setUp(gateway);
  expect(api).toBe(`http://127.0.0.1:${port}/v1`);
  expect((await get(port, '/v1/models')).status).toBe(401);
  expect(await get(port, '/v1/models', { 'X-Api-Key': 'the key' })).toMatchObject({ status: 200, body: '{"data":[]}' });
  await expectAlive(port, token);
});

// an address of this machine that is no name of it: macOS has none without being asked
test.runIf(process.platform === 'linux')('a server that other machines reach has no page for them', async () => {
  const { port, token, url } = await setUp(undefined, '0.0.0.0');
  expect(url).toBe(`http://127.0.0.1:${port}/?token=${token}`);
  await expectAlive(port, token);
  const headers = { Host: `127.0.0.1:${port}` };
  expect((await ask(port, '/', { host: '127.0.0.2', headers })).status).toBe(403);
  const offer = { protocols: socketProtocols(token), headers };
  expect(await connect(port, '/ws', offer, '127.0.0.2')).toBe(403);
});

// what `new URL` throws at, followed by a path that is a file of the page: any web page can send these, as the address of a picture
const unparsable = ['//x:99999/', '//[/', '//%5B/', '//%25/', '//:80/', '//@/', '//1.2.3.4.5.6.999999999/'];

test.each(unparsable)('a request of %s is refused, and the server lives on', async (host) => {
  const { port, token, log } = await setUp();
  const socket = await open(port, token);
  for (const target of [host, `${host}..%2findex.html`, `${host}..%2findex.html?token=${token}`]) {
    const answer = await raw(port, `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  }
  await expectAnswer(socket);
  await expectAlive(port, token);
  expect(log.error).not.toHaveBeenCalled();
});

test.each([
  ...unparsable.map((host) => `GET ${host}..%2fws HTTP/1.1`),
  'GET /%zz HTTP/1.1',
  'GET /ws HTTP/1.1',
  'POST /ws HTTP/1.1',
])('an upgrade of %s is refused, also when its connection is reset, and the server lives on', async (line) => {
  const { port, token, call } = await setUp();
  const socket = await open(port, token);
  // neither a key of WebSocket nor a version, and the connection ends with an error while the server still reads from it
  const head = `${line}\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
  expect(await raw(port, head, { resetAfterAnswer: true })).toMatch(/^HTTP\/1\.1 40[14] /);
  expect(call).not.toHaveBeenCalled();
  await expectAnswer(socket);
  await expectAlive(port, token);
});

test('an upgrade that has the token and is no WebSocket is refused, and the server lives on', async () => {
  const { port, token } = await setUp();
  const offer = `Sec-WebSocket-Protocol: ${socketProtocols(token).join(', ')}\r\n`;
  const lines = `Host: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${offer}`;
  const answer = await raw(port, `GET /ws HTTP/1.1\r\n${lines}\r\n`, { resetAfterAnswer: true });
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  await expectAlive(port, token);
});

test('a request that fails inside the server is answered, and the server lives on', async () => {
  const { port, token, log } = await setUp();
  const read = vi.spyOn(staticFiles, 'staticFile').mockImplementation(() => {
    throw new Error('of the test');
  });
  expect(await get(port, '/')).toMatchObject({ status: 500, body: expect.not.stringContaining('of the test') });
  expect(log.error).toHaveBeenCalledWith(expect.stringContaining('of the test'));
  read.mockRestore();
  await expectAlive(port, token);
});

test('a call whose answer cannot be sent fails, and the socket stays open', async () => {
  const { port, token, call, log } = await setUp();
  const socket = await open(port, token);
  call.mockResolvedValueOnce({ ok: true, value: 1n });
  const answered = nextMessage(socket);
  socket.send(JSON.stringify({ type: 'call', id: 3, name: 'chats.list' }));
  expect(await answered).toMatchObject({ type: 'answer', id: 3, envelope: { ok: false } });
  expect(log.error).toHaveBeenCalledOnce();
  await expectAnswer(socket);
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

const withKey = (token: string): Offer => ({ protocols: socketProtocols(token) });

test.each<[what: string, status: number, path: string, offer: (token: string, port: number) => Offer]>([
  ['nothing', 401, '/ws', () => ({})],
  ['no key', 401, '/ws', () => ({ protocols: socketProtocols(null) })],
  ['a wrong key', 401, '/ws', () => withKey('wrong')],
  ['an empty key', 401, '/ws', () => ({ protocols: [socketProtocol, 'key.'] })],
  ['the key under no name', 401, '/ws', (token) => ({ protocols: [socketProtocol, token] })],
  // a cookie goes to every server of this machine, whatever its port
  ['the right cookie only', 401, '/ws', (token, port) => ({ headers: { Cookie: `concertina-${port}=${token}` } })],
  // an address is written to logs and histories
  ['the right address only', 401, '/ws?token=TOKEN', () => ({})],
  ['the key and another path', 404, '/other', withKey],
  [
    'the key and a foreign host name, without an origin',
    403,
    '/ws',
    (token, port) => ({ ...withKey(token), origin: undefined, headers: { Host: `evil.example:${port}` } }),
  ],
  ...['https://example.com', 'http://127.0.0.1:1', 'null', 'http://127.0.0.1'].map(
    (origin): [string, number, string, (token: string) => Offer] => [
      ...([`the key and the origin ${origin}`, 403, '/ws'] as const),
      (token) => ({ ...withKey(token), origin }),
    ],
  ),
])('a socket that shows %s is refused with %i', async (_, status, path, offer) => {
  const { port, token, call } = await setUp();
  const options = { origin: `http://127.0.0.1:${port}`, ...offer(token, port) };
  expect(await connect(port, path.replace('TOKEN', token), options)).toBe(status);
  expect(call).not.toHaveBeenCalled();
});

test('the key is not sent back, and no cookie is set', async () => {
  const { port, token } = await setUp();
  expect((await open(port, token)).protocol).toBe(socketProtocol);
  const { headers } = await get(port, `/?token=${token}`, { Cookie: `concertina-${port}=${token}` });
  expect(headers['set-cookie']).toBeUndefined();
  expect(JSON.stringify(headers)).not.toContain(token);
});

test.each([
  ...['not json', '{"type":"call"}', '[]', '{"type":"answer","id":1}'].map((text) => [text, 1007, text] as const),
  ['a message that is longer than any call', 1009, 'x'.repeat(limits.maxMessage * 6 + 100_000)] as const,
])('%s closes the socket with %i', async (_, code, text) => {
  const { port, token, call, release } = await setUp();
  const socket = await open(port, token);
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.send(text);
  expect(await closed).toBe(code);
  expect(call).not.toHaveBeenCalled();
  await vi.waitFor(() => expect(release).toHaveBeenCalledOnce());
});

test.each([
  ['/', '/page/index.html', 'text/html; charset=utf-8'],
  ['/assets/a.js?v=1#x', '/page/assets/a.js', 'text/javascript; charset=utf-8'],
  ['/a%20b.css', '/page/a b.css', 'text/css; charset=utf-8'],
  ['/a..b.svg', '/page/a..b.svg', 'image/svg+xml'],
])('%s is a file of the page', (target, path, type) => {
  const name = urlPath(target);
  expect(name === null ? null : staticFile('/page', name)).toEqual({ path, type });
});

test.each([
  '',
  'index.html',
  '/../settings.json',
  '/..%2f..%2fsettings.json',
  '/assets/../../main.js',
  '/x/../a.svg',
  '/./a.svg',
  '//a.svg',
  '/%2fa.svg',
  '/a//b.svg',
  '/%2e%2e/%2e%2e/a.json',
  '/..\\..\\a.json',
  '/a.json%00.js',
  '/%E0%A4%A',
  'http://127.0.0.1:8170/index.html',
])('%s is no path of a file', (target) => {
  expect(urlPath(target)).toBeNull();
});

test.each(['/noextension', '/secret.pem', '/../page-other/a.js', '/../../a.js'])('the file %s is refused', (name) => {
  expect(staticFile('/page', name)).toBeNull();
});

test('the policy allows our own code only', () => {
  const policy = securityHeaders()['Content-Security-Policy'] ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toMatch(/script-src 'self'(;|$)/);
  expect(policy).toMatch(/connect-src 'self'(;|$)/);
  expect(policy).not.toMatch(/https?:|unsafe-eval|\*/);
});
