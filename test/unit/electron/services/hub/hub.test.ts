/** The hub as a window sees it, over the test hub: search, the page of a model, files by quant, refusals, the token. */
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { catalogEntrySchema, hubModelPageSchema, hubPageSchema, repoPathSchema } from '@/electron/contract/hub';
import { contextSettingsSchema } from '@/electron/contract/settings';
import { modelFilesOf, quantOf, summaryOf } from '@/electron/services/hub/api';
import { readGgufHeader, requireRoom } from '@/electron/services/hub/ggufHeader';
import { endpointOf, proxyFor } from '@/electron/services/hub/http';
import { type Keyring, TokenStore } from '@/electron/services/hub/token';
import { hubClient, testHub } from '@/test/fixtures/hub/client';
import { sampleGguf } from '@/test/fixtures/hub/sampleGguf';
import { temporaryFolder } from '@/test/fixtures/temporary';

const repo = 'someone/Model-GGUF';
const readme = `---
license: apache-2.0
tags: [gguf]
---
# Model

![a picture](https://example.com/x.png) <img src="y">

It answers questions.
`;
const files = {
  'Model-Q8_0.gguf': sampleGguf(80_000),
  'Model-Q4_K_M.gguf': sampleGguf(40_000),
  'BF16/Model-BF16-00001-of-00002.gguf': sampleGguf(60_000),
  'BF16/Model-BF16-00002-of-00002.gguf': sampleGguf(60_000),
  'mmproj-F16.gguf': sampleGguf(4000),
  'config.json': Buffer.from('{}'),
};

async function setUp(repos: Parameters<typeof testHub>[0] = [{ id: repo, files }]) {
  const hub = await testHub(repos);
  return { hub, ...(await hubClient(hub)) };
}

type Service = Awaited<ReturnType<typeof setUp>>['service'];
const listOf = async (service: Service, cursor: string | null = null) =>
  hubPageSchema.parse(await service.search({ query: '', sort: 'downloads', cursor }));
const pageOf = async (service: Service) => hubModelPageSchema.parse(await service.model(repo, 'main'));

describe('search', () => {
  test('names, authors and all facts of each model, page by page', async () => {
    const many = Array.from({ length: 40 }, (_, downloads) => ({
      id: `owner/Small-${downloads}-GGUF`,
      files,
      downloads,
    }));
    const facts = { downloads: 1000, likes: 7, license: 'mit', lastModified: '2026-10-01T00:00:00.000Z' };
    const { hub, service } = await setUp([{ id: repo, files, ...facts, gated: 'auto' }, ...many]);
    const first = await listOf(service);
    expect(first.models).toHaveLength(30);
    expect(first.models[0]).toEqual({
      ...{ repo, author: 'someone', name: 'Model-GGUF', downloads: 1000, likes: 7, license: 'mit' },
      ...{ updatedAt: '2026-10-01T00:00:00.000Z', gated: 'auto', private: false },
    });
    const second = await listOf(service, first.next);
    expect(second.models).toHaveLength(11);
    expect(second.next).toBeNull();
    const found = await service.search({ query: 'small-7', sort: 'trending', cursor: null });
    expect(found.models.map((model) => model.repo)).toEqual(['owner/Small-7-GGUF']);
    const asked = new URL(hub.seen[0]?.path ?? '', hub.url).searchParams;
    expect(asked.get('filter')).toBe('gguf');
  });

  test('a cursor may name nothing but a search', async () => {
    const { service } = await setUp([]);
    for (const cursor of ['https://elsewhere.example/', 'api/whoami-v2', '../x']) {
      await expect(service.search({ query: '', sort: 'likes', cursor })).rejects.toMatchObject({ code: 'bad-request' });
    }
  });
});

describe('the page of a model', () => {
  test('files by quant, split ones as one, what is no model behind them', async () => {
    const gguf = { total: 12_000_000, architecture: 'llama', context_length: 4096 };
    const { service } = await setUp([{ id: repo, files, readme, license: 'apache-2.0', gguf }]);
    const page = await pageOf(service);
    expect(page).toMatchObject({ architecture: 'llama', trained: 4096, parameters: 12_000_000, license: 'apache-2.0' });
    expect(page.revision).toMatch(/^[0-9a-f]{40}$/);
    expect(page.summary).toBe('# Model\n\nIt answers questions.');
    expect(page.quants.map(({ quant, files }) => [quant, files.map(({ title, kind }) => `${title} ${kind}`)])).toEqual([
      ['Q4_K_M', ['Model-Q4_K_M model']],
      ['Q8_0', ['Model-Q8_0 model']],
      ['BF16', ['Model-BF16 model']],
      ['F16', ['mmproj-F16 projector']],
    ]);
    expect(page.quants[0]?.files[0]?.projector).toMatchObject({
      path: 'mmproj-F16.gguf',
      bytes: files['mmproj-F16.gguf'].length,
    });
    const [split] = page.quants[2]?.files ?? [];
    // it would not be found from another folder
    expect(split?.projector).toBeNull();
    expect(split).toMatchObject({ file: 'BF16/Model-BF16-00001-of-00002.gguf', missingParts: 0, modelId: null });
    expect(split?.bytes).toBe(2 * files['BF16/Model-BF16-00001-of-00002.gguf'].length);
    expect(split?.parts.every(({ sha256 }) => /^[0-9a-f]{64}$/.test(sha256 ?? ''))).toBe(true);
  });

  test('a file that is here is known by its id', async () => {
    const { service, pull } = await setUp();
    const { modelId } = await pull(repo, 'Model-Q4_K_M.gguf');
    const page = await service.model(repo, 'main');
    const ids = page.quants.flatMap((one) => one.files).map((file) => file.modelId);
    // its projector came with it
    expect(ids).toEqual([modelId, null, null, expect.any(String)]);
  });

  test.each([
    ['a negative size', { size: -5 }, '-5'],
    ['half a byte', { size: 5.5 }, '5.5'],
    ['a size beyond all', { size: 1e300 }, '1e+300'],
    ['a size that no double holds exactly', { size: 2 ** 53 + 2 }, '9007199254740994'],
    ['a size that is no number', { size: '80000' }, '"80000"'],
    ['a checksum that is a path', { oid: '../../x' }, 'SHA-256'],
    ['a checksum that is no text', { oid: 7 }, 'SHA-256'],
  ])('%s: the file is refused by name, the others are listed and come', async (_, lie, why) => {
    const { hub, service, downloads, pull } = await setUp();
    hub.faults.lies = { 'Model-Q8_0.gguf': lie };
    const page = await pageOf(service);
    expect(page.refused).toEqual([{ file: 'Model-Q8_0.gguf', why: expect.stringContaining(why) }]);
    expect(page.quants.map(({ quant }) => quant)).toEqual(['Q4_K_M', 'BF16', 'F16']);
    const refused = { code: 'model-invalid', message: expect.stringContaining('Model-Q8_0.gguf') };
    const file = { repo, revision: 'main', file: 'Model-Q8_0.gguf' };
    await expect(downloads.start(file)).rejects.toMatchObject(refused);
    await expect(service.fit({ ...file, context: contextSettingsSchema.parse({}) })).rejects.toMatchObject(refused);
    expect(downloads.list()).toEqual([]);
    expect(await pull(repo, 'Model-Q4_K_M.gguf')).toMatchObject({ state: 'done' });
  });

  test('a part that cannot be leaves the whole file out, and so do parts that are too large together', async () => {
    const { hub, service } = await setUp();
    const [first, second] = ['BF16/Model-BF16-00001-of-00002.gguf', 'BF16/Model-BF16-00002-of-00002.gguf'] as const;
    hub.faults.lies = { [second]: { size: -5 } };
    const why = expect.stringContaining(second);
    expect((await service.model(repo, 'main')).refused).toEqual([{ file: first, why }]);
    hub.faults.lies = { [first]: { size: Number.MAX_SAFE_INTEGER }, [second]: { size: Number.MAX_SAFE_INTEGER } };
    const { service: again } = await hubClient(hub);
    expect((await again.model(repo, 'main')).refused).toMatchObject([{ file: first }]);
  });

  test('figures that cannot be and are only shown do not hide the model', async () => {
    const gguf = { total: 1e300, architecture: 'llama', context_length: -1 };
    const { service } = await setUp([{ id: repo, files, gguf, downloads: -5, likes: 0.5 }]);
    const found = await listOf(service);
    expect(found.models).toMatchObject([{ repo, downloads: 0, likes: 0 }]);
    const page = await pageOf(service);
    expect(page).toMatchObject({ trained: null, parameters: null, downloads: 0, likes: 0 });
    expect(page.quants).toHaveLength(4);
  });

  test('refusals say what to do', async () => {
    const { hub, service } = await setUp([{ id: repo, files, private: true }]);
    await expect(service.model(repo, 'main')).rejects.toMatchObject({ code: 'not-found' });
    hub.faults.failures = [{ where: 'hub', status: 429, times: 1, headers: { 'retry-after': '20' } }];
    await expect(service.model(repo, 'main')).rejects.toMatchObject({ code: 'rate-limited', retryAfterMs: 20_000 });
    const withBadToken = await hubClient(hub, { hfToken: 'hf_not_a_token' });
    await expect(withBadToken.service.model(repo, 'main')).rejects.toMatchObject({ code: 'access-denied' });
  });
});

test('a new search of a view ends its former request, and one that nobody waits for is ended too', async () => {
  /** by the words: resolves when the request is ended before there is an answer */
  const asked = new Map<string, Promise<void>>();
  const ended: string[] = [];
  const slow = createServer((request, response) => {
    const words = new URL(request.url ?? '', 'http://hub').searchParams.get('search') ?? '';
    if (words === 'quick') return void response.end('[]');
    asked.set(words, new Promise((done) => response.on('close', () => done(void ended.push(words)))));
  });
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void slow.close());
  const hub = await testHub([]);
  const HF_ENDPOINT = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
  const { service } = await hubClient(hub, { environment: { HF_ENDPOINT } });
  const search = (query: string, asker: string) => service.search({ sort: 'trending', cursor: null, query, asker });
  const cancelled = (answer: Promise<unknown>) => expect(answer).rejects.toMatchObject({ code: 'cancelled' });
  const older = cancelled(search('older', 'window'));
  const other = cancelled(search('other', 'another window'));
  await vi.waitFor(() => expect([...asked.keys()].sort()).toEqual(['older', 'other']));
  expect(await search('quick', 'window')).toEqual({ models: [], next: null });
  await older;
  await asked.get('older');
  expect(ended).toEqual(['older']);
  service.cancelSearch('another window');
  await other;
  await asked.get('other');
});

test('goes through the proxy of the environment, and past it where NO_PROXY says so', async () => {
  const hub = await testHub([{ id: repo, files }]);
  const targets: string[] = [];
  const proxy = createServer().on('connect', (request, client) => {
    targets.push(request.url ?? '');
    const [host, port] = (request.url ?? '').split(':');
    const server = connect(Number(port), host, () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    for (const [from, to] of [[client, server] as const, [server, client] as const]) {
      from.pipe(to);
      from.on('error', () => to.destroy());
    }
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  onTestFinished(() => void proxy.close());
  const { port } = proxy.address() as AddressInfo;
  const environment = { HF_ENDPOINT: hub.url, HTTP_PROXY: `http://me:hidden@127.0.0.1:${port}` };
  const through = await hubClient(hub, { environment });
  expect((await through.pull(repo, 'Model-Q4_K_M.gguf')).state).toBe('done');
  expect(new Set(targets)).toEqual(new Set([new URL(hub.url).host, new URL(hub.cdnUrl).host]));
  await through.close();
  const asked = targets.length;
  const past = await hubClient(hub, { environment: { ...environment, NO_PROXY: '127.0.0.1,localhost' } });
  await past.service.model(repo, 'main');
  expect(targets).toHaveLength(asked);
  proxy.close();
  const gone = { HF_ENDPOINT: hub.url, HTTP_PROXY: 'http://me:hidden@127.0.0.1:1' };
  const { service } = await hubClient(hub, { environment: gone });
  const error = await service.model(repo, 'main').catch((one: Error) => one);
  expect(error).toMatchObject({ code: 'network-failed' });
  expect(String(error)).not.toContain('hidden');
});

describe('the token', () => {
  const token = 'hf_PlantedSecret0123456789';

  test('goes to the hub and to no other host, and is found nowhere else', async () => {
    const hub = await testHub([{ id: repo, files, gated: 'auto' }]);
    hub.tokens.set(token, [repo]);
    const client = await hubClient(hub, { hfToken: token });
    hub.faults.failures = [{ where: 'cdn', status: 500, times: 1 }];
    const done = await client.pull(repo, 'Model-Q8_0.gguf');
    expect(done.state).toBe('done');
    expect(hub.seen.filter(({ headers }) => headers.authorization).length).toBeGreaterThan(2);
    expect(hub.seen.filter(({ where, headers }) => where === 'cdn' && headers.authorization)).toEqual([]);
    hub.tokens.clear();
    const refused = await client.service.model(repo, 'main').catch((error: Error) => error);
    const state = JSON.stringify([client.reported, client.logged, client.service.account(), client.notices]);
    const error = refused as Error;
    expect(`${state} ${error.message} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`).not.toContain(
      token,
    );
    await client.close();
    for (const name of await readdir(client.dataFolder, { recursive: true })) {
      const text = await readFile(join(client.dataFolder, name), 'latin1').catch(() => '');
      expect(text.includes(token), name).toBe(false);
    }
  });

  test('is kept by the keyring, and only where there is one', async () => {
    const path = join(await temporaryFolder(), 'hub-token');
    const keyring: Keyring = {
      available: () => true,
      encrypt: (text) => Buffer.from([...Buffer.from(text)].map((byte) => byte ^ 0x5a)),
      decrypt: (data) => Buffer.from([...data].map((byte) => byte ^ 0x5a)).toString(),
    };
    const store = new TokenStore(path, keyring, { HF_TOKEN: 'hf_of_environment' });
    expect([store.get(), store.source]).toEqual(['hf_of_environment', 'environment']);
    await store.set(` ${token}\n`);
    expect(await readFile(path, 'latin1')).not.toContain(token);
    const again = new TokenStore(path, keyring, {});
    await again.load();
    expect([again.get(), again.source, again.canSave]).toEqual([token, 'saved', true]);
    await again.set(null);
    expect([again.get(), again.source]).toEqual([null, 'none']);
    const headless = new TokenStore(path, null, {});
    await expect(headless.set(token)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(store.set('two words of it')).rejects.toMatchObject({ code: 'bad-request' });
  });
});

test('HF_ENDPOINT is an address that a token can be sent to', () => {
  expect(endpointOf({}).href).toBe('https://huggingface.co/');
  expect(endpointOf({ HF_ENDPOINT: 'https://mirror.example/hf' }).href).toBe('https://mirror.example/hf/');
  expect(endpointOf({ HF_ENDPOINT: 'http://127.0.0.1:8080' }).href).toBe('http://127.0.0.1:8080/');
  for (const wrong of ['http://mirror.example', 'ftp://x', 'mirror', 'https://me:secret@mirror.example']) {
    expect(() => endpointOf({ HF_ENDPOINT: wrong }), wrong).toThrow('HF_ENDPOINT');
  }
});

test('quants by name', () => {
  const names: Record<string, string | null> = {
    'Model-Q4_K_M.gguf': 'Q4_K_M',
    'model.q8_0.gguf': 'Q8_0',
    'Model-UD-IQ2_XXS.gguf': 'UD-IQ2_XXS',
    'Model-IQ3_XS.gguf': 'IQ3_XS',
    'UD-Q4_K_XL/Model-UD-Q4_K_XL-00001-of-00003.gguf': 'UD-Q4_K_XL',
    'Qwen3-Q2-thing-BF16.gguf': 'BF16',
    'gpt-oss-20b-mxfp4.gguf': 'MXFP4',
    'Q5_0/model.gguf': 'Q5_0',
    'ggml-model-f16.gguf': 'F16',
    'plain.gguf': null,
  };
  expect(Object.fromEntries(Object.keys(names).map((name) => [name, quantOf(name)]))).toEqual(names);
});

test('a split file that lacks a part says how many', () => {
  const [file] = modelFilesOf([{ path: 'm-00002-of-00003.gguf', bytes: 5, sha256: null }]).files;
  expect(file).toMatchObject({ missingParts: 2, bytes: 5 });
});

test('paths of a repository stay inside the folder of downloads', () => {
  const wrong = '../x.gguf, a/../../x.gguf, /etc/x.gguf, a//b.gguf, C:x.gguf, a\\b.gguf, ., a/. /x, a\0b'.split(', ');
  for (const bad of wrong) expect(repoPathSchema.safeParse(bad).success, bad).toBe(false);
  expect(repoPathSchema.safeParse('Q4_K_M/Größe v1.5.gguf').success).toBe(true);
});

test('names that Windows takes for devices, and signs that hide an ending, are no paths', () => {
  const bad = ['CON', 'nul.gguf', 'a/Aux .gguf', 'com1.gguf', 'lpt¹', 'CONOUT$', 'a/prn.tar.gguf'];
  const hidden = ['model\u202efugg.exe', '\u2066m.gguf', 'm\u200f.gguf', 'm\u061c.gguf', 'm\ud800.gguf'];
  for (const name of [...bad, ...hidden]) expect(repoPathSchema.safeParse(name).success, name).toBe(false);
  for (const name of ['console.gguf', 'auxiliary.gguf', 'com.gguf', 'a.nul/model.con.gguf', 'مفتاح.gguf'])
    expect(repoPathSchema.safeParse(name).success, name).toBe(true);
});

test('the header ends where the weights begin; what is none is refused', () => {
  const whole = sampleGguf(4096);
  const header = readGgufHeader(whole);
  expect(header).toEqual({ dataStart: whole.length - 4096, tensors: 1, lastOffset: 0 });
  for (const length of [0, 3, 20, (header?.dataStart ?? 0) - 40])
    expect(readGgufHeader(whole.subarray(0, length))).toBeNull();
  expect(() => readGgufHeader(Buffer.from('<html>no such page'))).toThrow('begin as one');
  expect(() => requireRoom({ dataStart: 100, tensors: 2, lastOffset: 64 }, 164)).toThrow('shorter');
  const endless = Buffer.concat([whole.subarray(0, 24), Buffer.alloc(8, 0xff)]);
  expect(() => readGgufHeader(endless)).toThrow('cannot be');
});

test('a README becomes short markdown', () => {
  expect(summaryOf('')).toBe('');
  const long = summaryOf(`# T\n\n\`\`\`\n${'x'.repeat(9000)}\n\`\`\`\n`);
  expect(long.length).toBeLessThan(6100);
  expect(long.match(/^```/gm)).toHaveLength(2);
});

test('the catalog that is shipped is whole, and claims nothing that nobody checked', async () => {
  const { service } = await setUp([]);
  const entries = await service.catalog();
  expect(entries.length).toBeGreaterThanOrEqual(15);
  expect(new Set(entries.map(({ repo }) => repo)).size).toBe(entries.length);
  for (const entry of entries) {
    expect(catalogEntrySchema.parse(entry)).toEqual(entry);
    expect(entry.verifiedHere).toBe(false);
    if (entry.file !== null) expect(quantOf(entry.file)).toBe(entry.quant);
  }
});

test('the proxy of the environment is shown without its password, and not where NO_PROXY spares the hub', () => {
  const hub = new URL('https://hub.example/');
  const HTTPS_PROXY = 'http://me:secret@proxy.example:3128';
  expect(proxyFor(hub, {})).toBeNull();
  expect(proxyFor(hub, { HTTPS_PROXY })).toBe('proxy.example:3128');
  expect(proxyFor(hub, { http_proxy: 'http://other.example:80' })).toBe('other.example');
  for (const NO_PROXY of ['*', 'hub.example', '.example', 'a.b, hub.example:443']) {
    expect(proxyFor(hub, { HTTPS_PROXY, NO_PROXY })).toBeNull();
  }
  for (const NO_PROXY of ['', 'example', 'hub.example:80', 'ub.example']) {
    expect(proxyFor(hub, { HTTPS_PROXY, NO_PROXY })).toBe('proxy.example:3128');
  }
});
