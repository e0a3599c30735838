/** Clients that send byte by byte, or read nothing: over real sockets, with limits as short as a test wants them. */
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { settingsSchema } from '@/electron/contract/settings';
import { keptKey } from '@/electron/services/api/access';
import type { ApiService } from '@/electron/services/api/apiService';
import { LocalApi } from '@/electron/services/api/localApi';
import { Emitter } from '@/electron/services/lib/emitter';
import { silentLogger } from '@/electron/services/lib/logger';
import { Gate } from '@/test/fixtures/gate';
import { ask, open } from '@/test/fixtures/httpClient';
import { temporaryFolder } from '@/test/fixtures/temporary';
import { freePort } from '@/test/serve.mjs';

type Answer = ApiService['answer'];
const json = 'application/json; charset=utf-8';
const echo: Answer = async ({ body }, _asker, onPart) =>
  onPart({ status: 200, contentType: json, data: body }, () => undefined);

/** Listens as the window's API does. */
async function setUp(parts: Partial<ConstructorParameters<typeof LocalApi>[0]> & { answer?: Answer }) {
  const { answer = echo, ...others } = parts;
  const port = await freePort();
  const settings = settingsSchema.parse({ api: { on: true, port } });
  const keyFile = join(await temporaryFolder(), 'api.key');
  const service = {
    ...{
      changed: new Emitter(),
      progressed: new Emitter(),
      requests: () => [],
      isReady: () => true,
      restAfter: vi.fn(),
    },
    ...{ answer, look: vi.fn(), models: vi.fn(), oneModel: false },
  };
  const localApi = new LocalApi({
    ...{ engine: { offerApi: vi.fn() }, settings: { get: () => settings, changed: new Emitter() }, keyFile },
    ...{ log: silentLogger, service: service as never, ...others },
  });
  await localApi.open();
  onTestFinished(() => localApi.close());
  const withKey = { Authorization: `Bearer ${keptKey(keyFile)}` };
  const post = (body: string) => ask(port, '/completion', { body, headers: withKey });
  const head = `POST /completion HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: ${withKey.Authorization}\r\n`;
  return { port, withKey, post, head };
}

/** Sends `first`, then a byte as soon as the one before it has left, for as long as the server lets it. */
function drip(port: number, first: string) {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('latin1').on('data', (text: string) => (answer += text));
  socket.on('error', () => undefined);
  const next = () => {
    if (socket.writable) socket.write('a', () => setTimeout(next, 1));
  };
  const sent = new Promise<void>((resolve) => socket.write(first, () => resolve()));
  void sent.then(next);
  // a connection that is reset ends as well
  return { sent, ended: new Promise<string>((resolve) => socket.once('close', () => resolve(answer))) };
}

/** no limit of these may end what a test does not mean */
const patient = { headersTimeout: 600_000, requestTimeout: 600_000, connectionsCheckingInterval: 10 };

test.each([
  ['the head', (head: string) => `${head}X-Slow: `, { headersTimeout: 100 }],
  ['the body', (head: string) => `${head}Content-Length: 100000\r\n\r\n`, { requestTimeout: 100, headersTimeout: 100 }],
])('clients that send %s byte by byte are ended, and meanwhile others are served', async (_part, first, short) => {
  const { port, head, post } = await setUp({ connections: { ...patient, ...short } });
  const slow = Array.from({ length: 20 }, () => drip(port, first(head)));
  await Promise.all(slow.map(({ sent }) => sent));
  expect(await post('{"a":1}')).toMatchObject({ status: 200, body: '{"a":1}' });
  for (const { ended } of slow) expect(await ended).toMatch(/^(HTTP\/1\.1 408 |$)/);
  expect((await ask(port, '/health')).status).toBe(200);
});

test('where all places are taken by bodies that come slowly, the oldest gives way', async () => {
  const { port, head, post } = await setUp({ connections: patient, limits: { requests: 2 } });
  const first = drip(port, `${head}Content-Length: 100000\r\n\r\n`);
  await first.sent;
  // it is read by the time another one is answered
  expect((await post('{"a":1}')).status).toBe(200);
  const second = drip(port, `${head}Content-Length: 100000\r\n\r\n`);
  await second.sent;
  await vi.waitFor(async () => {
    expect((await post('{"a":2}')).status).toBe(200);
    expect(await Promise.race([first.ended, Promise.resolve('open')])).toMatch(/^HTTP\/1\.1 408 .*"code":408/s);
  });
  expect(await Promise.race([second.ended, Promise.resolve('open')])).toBe('open');
});

test('a client that reads nothing is ended, and its place is free again', async () => {
  const ended = new Gate().hold();
  const answer: Answer = async (request, asker, onPart, signal) => {
    if (request.body === '{}') return echo(request, asker, onPart, signal);
    onPart({ status: 200, contentType: 'text/event-stream', data: 'x'.repeat(48 * 2 ** 20) }, () => undefined);
    await ended.pass(signal);
  };
  const { port, post, withKey } = await setUp({ answer, limits: { requests: 1, stallMs: 100 } });
  const { answer: silent } = open(port, '/completion', { body: '{"much":1}', headers: withKey });
  (await silent).pause();
  await vi.waitFor(async () => expect((await post('{}')).status).toBe(200));
});
