/** Requests that nobody means well: whatever they are, each is answered or its connection ended, and the next one is served. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createGateway } from '@/electron/services/api/gateway';
import { silentLogger } from '@/electron/services/lib/logger';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { ask, raw } from '@/test/fixtures/httpClient';
import { setUpServices } from '@/test/fixtures/services';

const key = 'the-key-of-the-test';

/** The same numbers for the same seed (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below) | 0;
  };
}

type Random = ReturnType<typeof randomOf>;
const pick = <T>(random: Random, all: readonly T[]): T => all[random(all.length)] as T;

/** What is meant well, four times out of five. */
const mostly = <T>(random: Random, good: readonly T[], bad: readonly T[]): T =>
  pick(random, random(5) > 0 ? good : bad);

const goodPaths = [
  ...['/v1/chat/completions', '/v1/messages', '/v1/messages/count_tokens', '/v1/responses', '/completion', '/tokenize'],
  ...['/slots/0?action=erase', '/slots/0?__proto__=1&constructor=2'],
];
const badPaths = [
  ...['/v1/../slots', '/v1//models', '/v1/%zz', '/slots/%00', '/tools', '*', '/v1/models#x', '/v1/models?a=%'],
  ...['http://evil.example/v1/models', `/v1/${'a'.repeat(5000)}`],
];
const badMethods = ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'PUT', 'TRACE', 'CONNECT', 'get', ''];
const texts = [
  'a',
  '',
  '<|im_end|>',
  '\u0000',
  '\ud800',
  'x'.repeat(10_000),
  '__proto__',
  '{"a":1}',
  '\r\n\r\nGET / HTTP/1.1',
];
const names = [
  'messages',
  'model',
  'stream',
  'content',
  'role',
  'prompt',
  'input',
  'system',
  'tools',
  '__proto__',
  'n',
];

function someValue(random: Random, depth: number): unknown {
  const kind = random(depth > 4 ? 4 : 6);
  if (kind === 0) return pick(random, texts);
  if (kind === 1) return pick(random, [0, -1, 1e308, 2 ** 53, 0.1, Number.NaN]);
  if (kind === 2) return pick(random, [true, false, null]);
  if (kind === 3) return pick(random, ['user', 'tiny', 'other.gguf', 'no-such-model']);
  if (kind === 4) return Array.from({ length: random(4) }, () => someValue(random, depth + 1));
  return Object.fromEntries(
    Array.from({ length: random(5) }, () => [pick(random, names), someValue(random, depth + 1)]),
  );
}

/** Cuts, doubles or changes a few bytes. */
function damaged(random: Random, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  for (let count = random(4); count > 0; count--) copy[random(copy.length)] = random(256);
  return random(4) === 0 ? copy.subarray(0, random(copy.length)) : copy;
}

function requestOf(random: Random, port: number): Buffer {
  const body = Buffer.from(JSON.stringify(someValue(random, 0)) ?? '');
  const sent = random(6) === 0 ? damaged(random, Buffer.concat([body, Buffer.from('}')])) : body;
  const own = `127.0.0.1:${port}`;
  const head = [
    `${mostly(random, ['POST'], badMethods)} ${mostly(random, goodPaths, badPaths)} HTTP/${mostly(random, ['1.1'], ['1.0', '9'])}`,
    `Host: ${mostly(random, [own], ['evil.example', ''])}`,
    mostly(random, [`Authorization: Bearer ${key}`, `X-Api-Key: ${key}`], ['Authorization: ', 'X-Y: z']),
    mostly(random, ['X-A: b', `Origin: http://${own}`], ['Origin: null', 'Transfer-Encoding: chunked', 'Expect: x']),
    `Content-Length: ${mostly<unknown>(random, [sent.length], [sent.length - 1, -1, 1e12, 'many'])}`,
    'Connection: close',
  ];
  const whole = Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), sent]);
  return random(8) === 0 ? damaged(random, whole) : whole;
}

test('1000 requests of chance end, and the server serves on', { timeout: 120_000 }, async () => {
  const { services } = await setUpServices({ engine: createFakeEngine({ api: { marks: ['<|im_end|>'] } }) });
  const gateway = createGateway({ service: services.api, key, cors: [], hosts: ['127.0.0.1'], log: silentLogger });
  const server = createServer((request, response) => {
    if (!gateway.handle(request, response, port)) response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const random = randomOf(20);
  const statuses: Record<string, number> = {};
  for (let round = 0; round < 50; round++) {
    const answers = Array.from({ length: 20 }, () => raw(port, requestOf(random, port), { end: true }));
    for (const answer of await Promise.all(answers)) {
      const status = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 'ended';
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
    expect((await ask(port, '/health')).body).toBe('{"status":"ok"}');
  }
  console.log(`1000 requests of chance: ${JSON.stringify(statuses)}`);
  expect(statuses).not.toHaveProperty('500');
  for (const status of ['200', '400', '401', '403', '404', '413']) expect(statuses[status]).toBeGreaterThan(0);
  expect(services.api.requests()).toEqual([]);
});
