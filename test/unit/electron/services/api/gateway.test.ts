/** The API over real HTTP on loopback; what answers is played by the test. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ApiRequest } from '@/electron/contract/engineContract';
import { ConcertinaError } from '@/electron/contract/errors';
import { ApiError } from '@/electron/services/api/apiError';
import type { After, ApiService, OnPart } from '@/electron/services/api/apiService';
import { createGateway, type GatewayOptions } from '@/electron/services/api/gateway';
import { Gate } from '@/test/fixtures/gate';
import { ask, type HttpQuestion, open, raw } from '@/test/fixtures/httpClient';

type Asker = Parameters<ApiService['answer']>[1];
type Answer = (request: ApiRequest, asker: Asker, onPart: OnPart, signal: AbortSignal) => Promise<void>;

const json = 'application/json; charset=utf-8';
const key = 'a-key-of-the-test';
const withKey = { Authorization: `Bearer ${key}` };
const nobody = () => undefined;

const echo: Answer = async (request, asker, onPart) =>
  onPart({ status: 200, contentType: json, data: JSON.stringify({ ...request, ...asker }) }, nobody);

async function setUp(options: Partial<GatewayOptions> & { answer?: Answer; ready?: boolean } = {}) {
  const { answer = echo, ready = true, ...others } = options;
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const service = {
    answer: vi.fn(answer),
    look: (request: ApiRequest, onPart: OnPart, signal: AbortSignal) =>
      answer(request, { named: null, client: '' }, onPart, signal),
    models: async () => ({ object: 'list', data: [] }),
    isReady: () => ready,
  };
  const gateway = createGateway({ service, key, cors: [], hosts: ['127.0.0.1'], log, ...others });
  const server = createServer((request, response) => {
    if (!gateway.handle(request, response, port)) response.writeHead(200).end('the page');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const post = (path: string, body: unknown, { headers, ...question }: HttpQuestion = {}) =>
    ask(port, path, { body: JSON.stringify(body), headers: { ...withKey, ...headers }, ...question });
  return { port, service, log, post };
}

test('a request reaches its handler with its parameters, without the key or another header, and the answer has its length', async () => {
  const { post } = await setUp();
  const answer = await post(
    '/slots/3?action=save&x=a%20b',
    { filename: 'f' },
    { headers: { Cookie: 'c', 'User-Agent': 'a test' } },
  );
  expect(answer).toMatchObject({ status: 200, headers: { 'content-type': json } });
  expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(answer.body)));
  expect(JSON.parse(answer.body)).toEqual({
    ...{ handler: 'post_slots', path: '/slots/3', query: 'action=save&x=a+b', body: '{"filename":"f"}' },
    ...{ params: { action: 'save', x: 'a b', id_slot: '3' }, named: null, client: 'a test' },
  });
});

test.each([
  ['POST', '/v1/chat/completions', 'post_chat_completions'],
  ['POST', '/chat/completions', 'post_chat_completions'],
  ['POST', '/completion', 'post_completions'],
  ['POST', '/v1/completions', 'post_completions_oai'],
  ['POST', '/v1/responses', 'post_responses_oai'],
  ['POST', '/v1/responses/input_tokens', 'post_responses_tok_oai'],
  ['POST', '/v1/chat/completions/input_tokens', 'post_chat_completions_tok'],
  ['POST', '/v1/messages', 'post_anthropic_messages'],
  ['POST', '/v1/messages/count_tokens', 'post_anthropic_count_tokens'],
  ['POST', '/infill', 'post_infill'],
  ['POST', '/embedding', 'post_embeddings'],
  ['POST', '/v1/embeddings', 'post_embeddings_oai'],
  ['POST', '/v1/reranking', 'post_rerank'],
  ['POST', '/tokenize', 'post_tokenize'],
  ['POST', '/detokenize', 'post_detokenize'],
  ['POST', '/apply-template', 'post_apply_template'],
  ['POST', '/lora-adapters', 'post_lora_adapters'],
  ['POST', '/props', 'post_props'],
  ['GET', '/lora-adapters', 'get_lora_adapters'],
  ['GET', '/props', 'get_props'],
  ['GET', '/slots', 'get_slots'],
  ['GET', '/metrics', 'get_metrics'],
])('%s %s is for %s', async (method, path, handler) => {
  const { port } = await setUp();
  const question = method === 'POST' ? { body: '{"model":"m"}', headers: withKey } : { headers: withKey };
  const { status, body } = await ask(port, path, question);
  expect(status).toBe(200);
  expect(JSON.parse(body)).toMatchObject({ handler, named: method === 'POST' ? 'm' : null });
});

const notFound = { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } };

test.each([
  ['GET', '/v1/nothing'],
  ['GET', '/v1/chat/completions'],
  ['POST', '/v1/models'],
  ['POST', '/tools'],
  ['POST', '/models/load'],
  ['POST', '/v1/audio/transcriptions'],
  ['DELETE', '/v1/stream'],
  ['POST', '/slots/'],
])('%s %s is not found', async (method, path) => {
  const { port, service } = await setUp();
  const answer = await ask(port, path, { method, headers: withKey });
  expect(answer.status).toBe(404);
  expect(JSON.parse(answer.body)).toEqual(notFound);
  expect(service.answer).not.toHaveBeenCalled();
});

test('what is not of the API is left to the page, and HEAD asks for no more than the head', async () => {
  const { port } = await setUp();
  for (const path of ['/', '/index.html', '/assets/x.js', '/ws', '/%zz', '//x/v1/models']) {
    expect((await ask(port, path)).body).toBe('the page');
  }
  expect((await ask(port, '/', { method: 'POST' })).body).toBe('the page');
  expect(await ask(port, '/v1/models', { method: 'HEAD', headers: withKey })).toMatchObject({ status: 200, body: '' });
});

// Who may ask.

test.each([
  ['no key', {}],
  ['another key', { Authorization: 'Bearer another' }],
  ['the beginning of the key', { 'X-Api-Key': key.slice(0, -1) }],
  ['an empty key', { Authorization: 'Bearer ' }],
  ['another key before the right one', { Authorization: 'Bearer another', 'X-Api-Key': key }],
])('%s is refused, as llama-server refuses it', async (_what, headers) => {
  const { port, service } = await setUp();
  const answer = await ask(port, '/completions', { body: '{}', headers: headers as Record<string, string> });
  expect(answer).toMatchObject({ status: 401, headers: { 'content-type': json } });
  const error = { code: 401, message: 'Invalid API Key', type: 'authentication_error' };
  expect(JSON.parse(answer.body)).toEqual({ error });
  expect(JSON.parse((await ask(port, '/v1/messages', { body: '{}' })).body)).toEqual({ type: 'error', error });
  expect(service.answer).not.toHaveBeenCalled();
});

test('the key is taken from either header; health needs none, and without a key nobody does', async () => {
  const { port } = await setUp();
  for (const headers of [withKey, { Authorization: key }, { 'X-Api-Key': key }]) {
    expect((await ask(port, '/v1/models', { headers })).status).toBe(200);
  }
  expect((await ask(port, `/v1/models?api_key=${key}`)).status).toBe(401);
  expect(await ask(port, '/health')).toMatchObject({ status: 200, body: '{"status":"ok"}' });
  const open = await setUp({ key: null });
  expect((await ask(open.port, '/v1/models')).status).toBe(200);
});

test('while no model is loaded, health says so', async () => {
  const { port } = await setUp({ ready: false });
  const answer = await ask(port, '/v1/health');
  expect(answer.status).toBe(503);
  expect(JSON.parse(answer.body)).toEqual({
    error: { code: 503, message: 'Loading model', type: 'unavailable_error' },
  });
});

test('a foreign host name is refused, with the key too', async () => {
  const { port } = await setUp();
  for (const host of [`evil.example:${port}`, 'localhost', '127.0.0.1:1', `192.168.1.5:${port}`]) {
    expect((await ask(port, '/v1/models', { headers: { ...withKey, Host: host } })).status).toBe(403);
  }
  for (const host of [`localhost:${port}`, `[::1]:${port}`]) {
    expect((await ask(port, '/v1/models', { headers: { ...withKey, Host: host } })).status).toBe(200);
  }
});

test('a server that other machines reach is reached by address, and still by no foreign name', async () => {
  const { port } = await setUp({ hosts: ['0.0.0.0'] });
  const status = async (host: string) =>
    (await ask(port, '/v1/models', { headers: { ...withKey, Host: host } })).status;
  expect(await status(`192.168.1.5:${port}`)).toBe(200);
  // behind a mapped port
  expect(await status('[fd00::1]:80')).toBe(200);
  expect(await status('localhost')).toBe(200);
  expect(await status(`evil.example:${port}`)).toBe(403);
  expect(await status(`192.168.1.5.evil.example:${port}`)).toBe(403);
});

const foreign = 'https://web.example';

test('a page of another server may neither ask nor read, with a key or without', async () => {
  for (const options of [{}, { key: null }]) {
    const { port, service } = await setUp(options);
    for (const origin of [foreign, 'null', 'http://localhost:1', `http://evil.example:${port}`]) {
      const answer = await ask(port, '/completions', { body: '{}', headers: { ...withKey, Origin: origin } });
      expect(answer).toMatchObject({ status: 403, headers: { vary: 'Origin' } });
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    }
    expect(service.answer).not.toHaveBeenCalled();
    const own = { ...withKey, Origin: `http://127.0.0.1:${port}` };
    expect((await ask(port, '/completions', { body: '{}', headers: own })).status).toBe(200);
  }
});

test.each([
  [[foreign], foreign, true],
  [[foreign], 'https://other.example', false],
  [['localhost'], 'http://localhost:3000', true],
  [['localhost'], 'http://[::1]:3000', true],
  [['localhost'], 'http://127.0.0.1', true],
  [['localhost'], 'http://localhost.evil.com', false],
  [['localhost'], 'http://notlocalhost', false],
  [['localhost'], 'null', false],
  [['*'], 'web.mydomain.fr', true],
])('with --cors %s a page of %s may ask: %s', async (cors, origin, may) => {
  const { port } = await setUp({ cors });
  const allowed = may ? origin : undefined;
  const asked = await ask(port, '/completions', { method: 'OPTIONS', headers: { Origin: origin } });
  expect(asked).toMatchObject({
    status: 200,
    headers: {
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
      'access-control-allow-headers': '*',
    },
  });
  expect(asked.headers['access-control-allow-origin']).toBe(allowed);
  // a page must be able to read why it was refused
  const refused = await ask(port, '/completions', { body: '{}', headers: { Origin: origin } });
  expect(refused.status).toBe(may ? 401 : 403);
  expect(refused.headers['access-control-allow-origin']).toBe(allowed);
});

// Limits.

test.each([
  ['no JSON', '{"a":'],
  ['nothing', ''],
  ['brackets', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`],
  ['brackets without an end', '['.repeat(1_000_000)],
  ['a string without an end', `"${'\\"'.repeat(500_000)}`],
])('%s is a bad request, in the form of the API that was asked', async (_what, body) => {
  const { port, service } = await setUp();
  const answer = await ask(port, '/v1/chat/completions', { body, headers: withKey });
  expect(answer.status).toBe(400);
  const error = { code: 400, message: expect.stringContaining('JSON'), type: 'invalid_request_error' };
  expect(JSON.parse(answer.body)).toEqual({ error });
  const { body: anthropic } = await ask(port, '/v1/messages', { body, headers: withKey });
  expect(JSON.parse(anthropic)).toEqual({ type: 'error', error });
  expect(service.answer).not.toHaveBeenCalled();
});

test('brackets inside of strings have no depth, and a slot is told what to do in its address', async () => {
  const { port } = await setUp();
  const body = `{"a":"${'[{'.repeat(200)}\\"${'['.repeat(200)}\\\\","b":${'['.repeat(99)}${']'.repeat(99)}}`;
  expect((await ask(port, '/completion', { body, headers: withKey })).status).toBe(200);
  expect((await ask(port, '/slots/0?action=erase', { method: 'POST', headers: withKey })).status).toBe(200);
});

test('a body that is no UTF-8 is refused', async () => {
  const { port } = await setUp();
  const length = 'Content-Length: 3\r\nConnection: close\r\n';
  const head = `POST /completion HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Api-Key: ${key}\r\n${length}\r\n`;
  expect(await raw(port, Buffer.concat([Buffer.from(head), Buffer.from([0x22, 0xff, 0x22])]))).toMatch(
    /^HTTP\/1\.1 400 .*UTF-8/s,
  );
});

test('a body that is too large is refused: before it comes, and where it does not say how large it is', async () => {
  const { port, service } = await setUp({ limits: { bodyBytes: 1000 } });
  const head = `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Api-Key: ${key}\r\n`;
  const type = 'request_too_large';
  expect(await raw(port, `${head}Content-Length: 1001\r\n\r\n`)).toMatch(new RegExp(`^HTTP/1\\.1 413 .*${type}`, 's'));
  const chunk = `Transfer-Encoding: chunked\r\n\r\n3e9\r\n${' '.repeat(1001)}\r\n`;
  expect(await raw(port, head + chunk)).toMatch(new RegExp(`^HTTP/1\\.1 413 .*${type}`, 's'));
  const text = JSON.stringify('x'.repeat(998));
  expect((await ask(port, '/completion', { body: text, headers: withKey })).status).toBe(200);
  expect(service.answer).toHaveBeenCalledTimes(1);
});

test.each([
  ['a line that is none', () => 'GET\r\n\r\n', 400],
  ['a header of 100 KB', (host: string) => `GET /v1/models HTTP/1.1\r\n${host}X: ${'x'.repeat(100_000)}\r\n\r\n`, 431],
  ['a request without a host', () => 'GET /v1/models HTTP/1.1\r\n\r\n', 400],
  [
    'two lengths',
    (host: string) => `POST /completion HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`,
    400,
  ],
])('%s ends its connection alone', async (_what, head, status) => {
  const { port } = await setUp();
  expect(await raw(port, head(`Host: 127.0.0.1:${port}\r\n`))).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect((await ask(port, '/health')).status).toBe(200);
});

test('who comes while too many run is told to come again; health is always told', async () => {
  const gate = new Gate().hold();
  const answer: Answer = async (request, asker, onPart, signal) => {
    await gate.pass();
    await echo(request, asker, onPart, signal);
  };
  const { port, post } = await setUp({ answer, limits: { requests: 1 } });
  const first = post('/completion', {});
  await gate.reached();
  const refused = await post('/completion', {});
  expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
  expect(JSON.parse(refused.body).error).toMatchObject({ type: 'rate_limit_error', code: 429 });
  expect((await ask(port, '/health')).status).toBe(200);
  gate.open();
  expect((await first).status).toBe(200);
  expect((await post('/completion', {})).status).toBe(200);
});

// The way of a response.

const stream = 'text/event-stream';
/** more than the buffers of a loopback connection */
const muchText = 'x'.repeat(48 * 2 ** 20);

test('a stream is passed on as it comes', async () => {
  const gate = new Gate().hold();
  const { port } = await setUp({
    async answer(_request, _asker, onPart) {
      onPart({ status: 200, contentType: stream, data: 'data: one\n\n' }, nobody);
      await gate.pass();
      onPart({ status: null, contentType: '', data: 'data: two\n\n' }, nobody);
    },
  });
  const answer = await open(port, '/v1/chat/completions', { body: '{}', headers: withKey }).answer;
  expect(answer.headers).toMatchObject({ 'content-type': stream, 'x-accel-buffering': 'no' });
  const chunks = answer.setEncoding('utf8')[Symbol.asyncIterator]();
  expect((await chunks.next()).value).toBe('data: one\n\n');
  gate.open();
  expect((await chunks.next()).value).toBe('data: two\n\n');
  expect((await chunks.next()).done).toBe(true);
});

test('the engine is told of what a slow client has taken when it reads on', async () => {
  const taken = vi.fn();
  const read = new Gate().hold();
  const { port } = await setUp({
    async answer(_request, _asker, onPart) {
      onPart({ status: 200, contentType: stream, data: 'data: ' }, nobody);
      onPart({ status: null, contentType: '', data: muchText }, taken);
      await read.pass();
    },
  });
  const answer = await open(port, '/completion', { body: '{}', headers: withKey }).answer;
  await read.reached();
  expect(taken).not.toHaveBeenCalled();
  taken.mockImplementationOnce(() => read.open());
  expect((await text(answer)).length).toBe(muchText.length + 6);
  expect(taken).toHaveBeenCalledTimes(1);
  expect(taken.mock.calls[0]?.[0]).toBeGreaterThanOrEqual(muchText.length);
});

test('a client that reads nothing for a minute is dropped, and its request ends', async () => {
  const timers: { ms: number; task: () => void; stop: () => void }[] = [];
  const after: After = (ms, task) => {
    const stop = vi.fn();
    timers.push({ ms, task, stop });
    return stop;
  };
  const ended = new Gate().hold();
  const { port } = await setUp({
    after,
    async answer(_request, _asker, onPart, signal) {
      onPart({ status: 200, contentType: stream, data: 'data: ' }, nobody);
      onPart({ status: null, contentType: '', data: muchText }, nobody);
      await ended.pass(signal);
      if (!signal.aborted) throw new Error('it goes on');
    },
  });
  const answer = await open(port, '/completion', { body: '{}', headers: withKey }).answer;
  await ended.reached();
  expect(timers.map(({ ms }) => ms)).toEqual([60_000]);
  const cut = expect(text(answer)).rejects.toThrow();
  timers[0]?.task();
  await cut;
});

test('a client that reads is not dropped', async () => {
  const stops: unknown[] = [];
  const after: After = () => {
    const stop = vi.fn();
    stops.push(stop);
    return stop;
  };
  const { post } = await setUp({
    after,
    async answer(_request, _asker, onPart) {
      onPart({ status: 200, contentType: json, data: muchText }, nobody);
    },
  });
  expect((await post('/completion', {})).body.length).toBe(muchText.length);
  await vi.waitFor(() => expect(stops).toHaveLength(1));
  await vi.waitFor(() => expect(stops[0]).toHaveBeenCalled());
});

test('a client that goes cancels its request, before the response and in the middle of it', async () => {
  for (const parts of [0, 1]) {
    const running = new Gate().hold();
    const canceled = new Gate().hold();
    const { port, log } = await setUp({
      async answer(_request, _asker, onPart, signal) {
        if (parts > 0) onPart({ status: 200, contentType: stream, data: 'data: one\n\n' }, nobody);
        await running.pass(signal);
        expect(signal.aborted).toBe(true);
        void canceled.pass();
        throw new ConcertinaError('cancelled', 'The response was ended.');
      },
    });
    const question = open(port, '/completion', { body: '{}', headers: withKey });
    await running.reached();
    question.leave();
    await canceled.reached();
    expect(log.error).not.toHaveBeenCalled();
  }
});

test.each([
  [new ConcertinaError('busy', 'A model is being loaded.', 'Ask again.'), 503, 'unavailable_error'],
  [new ConcertinaError('engine-crashed', 'The engine ended.'), 503, 'unavailable_error'],
  [new ConcertinaError('bad-request', 'No object.'), 400, 'invalid_request_error'],
  [new ApiError(404, 'not_found_error', 'There is no model x.', 'model_not_found'), 404, 'not_found_error'],
  [new Error('a bug'), 500, 'server_error'],
])('%s is told with its status', async (error, status, type) => {
  const { post, log } = await setUp({ answer: () => Promise.reject(error) });
  const answer = await post('/completion', {});
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.body).error).toMatchObject({ type, message: expect.stringContaining(error.message) });
  expect(log.error).toHaveBeenCalledTimes(status === 500 ? 1 : 0);
});

test('what goes wrong after the beginning is an event of the stream, or breaks the connection', async () => {
  const error = new ConcertinaError('engine-crashed', 'The engine ended.');
  const partly =
    (contentType: string, parts: number): Answer =>
    async (_request, _asker, onPart) => {
      onPart({ status: 200, contentType, data: 'one ' }, nobody);
      for (let more = 1; more < parts; more++) onPart({ status: null, contentType: '', data: 'two ' }, nobody);
      throw error;
    };
  const told = '{"error":{"code":503,"message":"The engine ended.","type":"unavailable_error"}}';
  const streaming = await setUp({ answer: partly(stream, 2) });
  expect((await streaming.post('/completion', {})).body).toBe(`one two data: ${told}\n\n`);
  const { body } = await streaming.post('/v1/messages', {});
  expect(body).toMatch(/^one two event: error\ndata: \{"type":"error",/);
  // nothing of it had left
  const held = await setUp({ answer: partly(json, 1) });
  expect(await held.post('/completion', {})).toMatchObject({ status: 503, body: told });
  const cut = await setUp({ answer: partly(json, 2) });
  await expect(cut.post('/completion', {})).rejects.toThrow();
});

test('no page of another server can load an answer as a script or an image, whatever it is', async () => {
  const { port, post } = await setUp();
  const answers = [
    await post('/completion', { prompt: 'a' }),
    await ask(port, '/health'),
    await ask(port, '/v1/models', { headers: withKey }),
    await ask(port, '/v1/nothing', { headers: withKey }),
    await ask(port, '/health', { headers: { Host: 'evil.example' } }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 404, 403]);
  for (const { headers } of answers) expect(headers['cross-origin-resource-policy']).toBe('same-origin');
});
