/** The API that a person switches on in the window: over the services, a fake engine and real HTTP on loopback. */
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { LocalApiSettings } from '@/electron/contract/lib/localApi';
import type { ContextOptions } from '@/electron/engine/native/types';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { Gate } from '@/test/fixtures/gate';
import { ask } from '@/test/fixtures/httpClient';
import { setUpServices, waiting } from '@/test/fixtures/services';
import { freePort } from '@/test/serve.mjs';

async function setUp() {
  const parts = new Gate();
  const contexts: ContextOptions[] = [];
  const engine = createFakeEngine({ api: { parts }, onContext: (options) => contexts.push(options) });
  const all = await setUpServices({ engine });
  const { services, call, dataFolder } = all;
  await services.localApi.open();
  const port = await freePort();

  const change = (api: Partial<LocalApiSettings>) => call('settings.update', { api });
  const status = () => services.localApi.status();
  /** Switched on, and the context has what it needs. */
  async function switchOn(api: Partial<LocalApiSettings> = {}): Promise<string> {
    await change({ on: true, port, ...api });
    await vi.waitFor(() => expect(status().address).not.toBeNull(), waiting);
    await vi.waitFor(() => expect(services.engine.hasOfferedApi).toBe(true), waiting);
    await all.state('ready');
    return (await call('api.key', undefined)).key;
  }
  const post = (key: string | null, headers: Record<string, string> = {}) =>
    ask(port, '/v1/completions', {
      body: '{}',
      headers: { ...(key === null ? {} : { Authorization: `Bearer ${key}` }), ...headers },
    });
  return { ...all, port, parts, contexts, change, status, switchOn, post, keyFile: join(dataFolder, 'api.key') };
}

/** Of this machine, that nobody listens on. */
async function listenOn(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

test('it is off until it is switched on; then it answers whoever shows the key, and off again it is gone', async () => {
  const { status, switchOn, post, port, contexts, change, services } = await setUp();
  expect(status()).toMatchObject({ by: 'window', address: null, problem: null, requests: [] });
  expect(contexts.at(-1)?.api).toBeUndefined();
  const key = await switchOn({ slots: 3 });
  expect(status().address).toBe(`http://127.0.0.1:${port}/v1`);
  expect(contexts.at(-1)).toMatchObject({ api: true, slots: 3 });
  expect((await post(null)).status).toBe(401);
  expect((await post(key)).status).toBe(200);
  await change({ on: false });
  await vi.waitFor(() => expect(status().address).toBeNull(), waiting);
  await expect(post(key)).rejects.toThrow(/ECONNREFUSED/);
  await vi.waitFor(() => expect(services.engine.hasOfferedApi).toBe(true), waiting);
  await vi.waitFor(() => expect(contexts.at(-1)?.api).toBeUndefined(), waiting);
});

test('a request that comes before the context was made again has that done, and is answered', async () => {
  const { status, change, port, post, call, contexts } = await setUp();
  await change({ on: true, port });
  await vi.waitFor(() => expect(status().address).not.toBeNull(), waiting);
  const { key } = await call('api.key', undefined);
  expect((await post(key)).status).toBe(200);
  expect(contexts.at(-1)).toMatchObject({ api: true, slots: 4 });
});

test('it is on again at the next start, before the engine makes its first context', async () => {
  const first = await setUp();
  await first.switchOn();
  await first.services.close();
  const contexts: ContextOptions[] = [];
  const engine = createFakeEngine({ onContext: (options) => contexts.push(options) });
  const { services, state } = await setUpServices({ engine, data: first.dataFolder, start: false });
  await services.localApi.open();
  expect(services.localApi.status().address).toBe(`http://127.0.0.1:${first.port}/v1`);
  services.engine.start();
  await state('ready');
  expect(contexts.map(({ api }) => api)).toEqual([true]);
});

test('a port that is taken is said, changes nothing in the engine, and another one is taken at once', async () => {
  const { status, change, services, port } = await setUp();
  const other = createServer();
  onTestFinished(() => new Promise<void>((resolve) => other.close(() => resolve())));
  const taken = await listenOn(other, 0);
  const loads = services.engine.loads();
  await change({ on: true, port: taken });
  await vi.waitFor(() => expect(status().problem?.message).toBe(`Port ${taken} is taken by another program.`), waiting);
  expect(status().address).toBeNull();
  expect([services.engine.hasOfferedApi, services.engine.loads()]).toEqual([true, loads]);
  await change({ port });
  await vi.waitFor(() => expect(status()).toMatchObject({ problem: null, address: expect.any(String) }), waiting);
});

test('only the owner may read the key, and a new one takes its place at once', async () => {
  const { switchOn, post, call, keyFile } = await setUp();
  const key = await switchOn();
  expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
  const { key: next } = await call('api.renewKey', undefined);
  expect(next).not.toBe(key);
  expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
  expect([(await post(key)).status, (await post(next)).status]).toEqual([401, 200]);
  expect((await call('app.diagnostics', undefined)).text).not.toContain(next);
});

test('windows are told of the requests that run, and a person can end one', async () => {
  const { switchOn, post, parts, call, payloads, status } = await setUp();
  const key = await switchOn();
  parts.hold();
  const asked = post(key, { 'User-Agent': 'a test' });
  await parts.reached();
  const [one] = status().requests;
  expect(one).toMatchObject({ path: '/v1/completions', model: null, client: 'a test', bytes: 0 });
  expect(payloads('onApi').at(-1)?.requests).toEqual([one]);
  await call('api.endRequest', { id: one?.id ?? '' });
  const answer = await asked;
  expect([answer.status, JSON.parse(answer.body).error.message]).toEqual([
    503,
    'The request was ended in the window of Concertina.',
  ]);
  expect(payloads('onApi').at(-1)?.requests).toEqual([]);
});

test('pages may ask when their origin was named, and no sooner', async () => {
  const { switchOn, post, change, status } = await setUp();
  const key = await switchOn();
  const page = { Origin: 'http://localhost:3000' };
  expect((await post(key, page)).status).toBe(403);
  await change({ origins: ['http://localhost:3000'] });
  await vi.waitFor(() => expect(status().rules.origins).toHaveLength(1), waiting);
  await vi.waitFor(async () => expect((await post(key, page)).status).toBe(200), waiting);
  await expect(change({ origins: ['http://localhost:3000/path'] })).rejects.toMatchObject({ code: 'bad-request' });
});

test('where the command line serves it, it is shown as it was started, and its key is not handed out', async () => {
  const { services, call, payloads } = await setUp();
  const rules = { slots: 8, origins: ['*'], loadOnRequest: false, idleMinutes: 5 };
  services.localApi.serve({ address: 'http://127.0.0.1:8170/v1', needsKey: true, keyFile: null, rules });
  const expected = { by: 'serve', address: 'http://127.0.0.1:8170/v1', needsKey: true, rules };
  expect(await call('api.status', undefined)).toMatchObject(expected);
  expect(payloads('onApi').at(-1)).toMatchObject(expected);
  await expect(call('api.key', undefined)).rejects.toMatchObject({ code: 'forbidden' });
  await expect(call('api.renewKey', undefined)).rejects.toMatchObject({ code: 'forbidden' });
});
