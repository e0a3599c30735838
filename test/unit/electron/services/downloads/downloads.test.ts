/** Downloads from the test hub, over every fault that it can have. */
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { chunk, holdAt, hubClient, ofFile, received, reportedBytes, testHub } from '@/test/fixtures/hub/client';
import { noise, sampleGguf } from '@/test/fixtures/hub/sampleGguf';
import type { Faults } from '@/test/fixtures/hub/transfer';

const repo = 'someone/Model-GGUF';
const file = 'Model-Q4_K_M.gguf';
const bytes = 20 * chunk + 1234;
const content = sampleGguf(bytes - (bytes % 4), 'a');

async function setUp(options: Parameters<typeof hubClient>[1] = {}) {
  const hub = await testHub([{ id: repo, files: { [file]: content } }]);
  const client = await hubClient(hub, options);
  const start = () => client.downloads.start({ repo, revision: 'main', file });
  return { hub, client, start };
}

/** A download whose line is cut every so many bytes, held at the first cut. */
async function cutAt(bytes: number) {
  const { hub, client, start } = await setUp();
  hub.faults.cutEvery = bytes;
  const gate = holdAt(hub, bytes);
  const { id } = await start();
  await gate.reached();
  return { hub, client, gate, id };
}

type Client = Awaited<ReturnType<typeof hubClient>>;

/** `id`: of a download that has begun; else it is begun here */
async function expectWhole(client: Client, id?: string) {
  const done = await (id === undefined ? client.pull(repo, file) : client.downloads.settled(id));
  expect(done).toMatchObject({ state: 'done', error: null });
  expect((await client.read(repo, file)).equals(content)).toBe(true);
  return done;
}

async function leftovers(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => /\.part|\.log|\.tmp/.test(name));
}

describe('a bad line', () => {
  test('cut again and again: goes on where it was', async () => {
    const { hub, client } = await setUp();
    hub.faults.cutEvery = 100_000;
    await expectWhole(client);
    const starts = hub.seen
      .filter(({ where }) => where === 'cdn')
      .map(({ headers }) => Number(/\d+/.exec(headers.range ?? '0')?.[0]));
    expect(starts.length).toBeGreaterThan(10);
    expect(starts).toEqual([...starts].sort((a, b) => a - b));
  });

  const failing: Faults['failures'] = [
    { where: 'cdn', status: 500, times: 2 },
    { where: 'cdn', status: 503, times: 1, headers: { 'retry-after': '0' } },
  ];
  test.each<[string, Partial<Faults>]>([
    ['nothing comes any more', { stall: { after: 200_000, times: 2 } }],
    ['errors of the server', { failures: failing }],
    ['a server without ranges', { stall: { after: 500_000, times: 1 }, ignoreRange: true }],
  ])('%s: noticed, tried again, and right', async (_, faults) => {
    const { hub, client } = await setUp({ stallMs: 1000 });
    Object.assign(hub.faults, faults);
    await expectWhole(client);
    expect(client.reported.flat().some(({ error }) => error?.code === 'network-failed')).toBe(true);
  });

  test('it ends after some attempts that bring nothing, says why, and can be resumed', async () => {
    const { hub, client } = await setUp();
    hub.faults.failures = [{ where: 'cdn', status: 500, times: 4 }];
    const failed = await client.pull(repo, file);
    expect(failed).toMatchObject({ state: 'failed', error: { code: 'network-failed' } });
    expect(failed.error?.message).toContain('4 times');
    await client.downloads.resume(failed.id);
    expect((await client.downloads.settled(failed.id)).state).toBe('done');
  });

  test('a hub that asks for a pause gets as long a one', async () => {
    const { hub, client } = await setUp();
    const page = await client.service.model(repo, 'main');
    hub.faults.failures = [{ where: 'hub', status: 429, times: 1, headers: { 'retry-after': '600' } }];
    const before = Date.now();
    const { id } = await client.downloads.start({ repo, revision: page.revision, file });
    const waiting = () => client.reported.flat().find(({ state }) => state === 'waiting');
    await vi.waitFor(() => expect(waiting()).toMatchObject({ error: { code: 'rate-limited' } }));
    expect(waiting()?.retryAt).toBeGreaterThanOrEqual(before + 600_000);
    expect(waiting()?.retryAt).toBeLessThanOrEqual(Date.now() + 600_000);
    // ten minutes are longer than this test: only who is woken asks again
    expect(client.downloads.list()[0]?.state).toBe('waiting');
    client.downloads.wake();
    expect((await client.downloads.settled(id)).state).toBe('done');
  });

  test('a hub that sends a byte now and then: cut, tried again, and given up', async () => {
    const timing = { maxAttempts: 3, firstDelayMs: 2, longestDelayMs: 10, leastPerSecond: 5_000_000, paceMs: 50 };
    const { hub, client } = await setUp({ timing });
    // each piece of 32 KiB comes at once, and after it nothing for long
    hub.faults.bytesPerSecond = 50_000;
    const failed = await client.pull(repo, file);
    expect(failed).toMatchObject({ state: 'failed', error: { code: 'network-failed' } });
    expect(failed.error?.message).toContain('less than 5000000 bytes a second');
    const waits = client.reported.flat().filter(({ state }) => state === 'waiting');
    expect(waits.length).toBeGreaterThan(0);
    // each attempt brought something, and nothing of it is lost
    expect(failed.done).toBeGreaterThan(0);
    hub.faults.bytesPerSecond = null;
    // a busy machine may be slower than that, too
    timing.leastPerSecond = 0;
    await client.downloads.resume(failed.id);
    await expectWhole(client, failed.id);
  });

  test('signed addresses that run out are asked for again', async () => {
    const { hub, client, gate, id } = await cutAt(300_000);
    // with the cut one attempt less than ends a download
    hub.faults.expired = 2;
    gate.open();
    expect((await client.downloads.settled(id)).state).toBe('done');
    const [first, ...others] = ofFile(hub).map(({ status }) => status);
    expect([first, others[0], others[1]]).toEqual([200, 403, 403]);
    // how many depends on what of the buffers a cut takes with it
    expect(new Set(others.slice(2))).toEqual(new Set([206]));
  });

  test('another entity tag for the same content goes on where it was', async () => {
    const { hub, client, gate, id } = await cutAt(400_000);
    hub.faults.etagSuffix = '-other';
    gate.open();
    // once is enough
    await ofFile(hub)[0]?.closed;
    hub.faults.cutEvery = null;
    await expectWhole(client, id);
    // answered from the beginning, which is not read; then from where it was
    const [, whole, part, ...more] = ofFile(hub);
    expect(more).toEqual([]);
    expect([whole?.status, part?.status]).toEqual([200, 206]);
    expect(part?.headers.range).toMatch(/^bytes=[1-9]\d+-$/);
    expect(part?.headers.range).toBe(whole?.headers.range);
  });
});

describe('wrong bytes', () => {
  test.each([
    ['in the middle', 2 * chunk + 77],
    ['in the last byte', content.length - 1],
  ])('%s: the file is fetched once more', async (_, at) => {
    const { hub, client } = await setUp();
    hub.faults.corrupt = { path: file, at, times: 1 };
    await expectWhole(client);
    expect(received(hub)).toBe(2 * content.length);
  });

  test('every time: it says so and keeps nothing of it', async () => {
    const { hub, client } = await setUp();
    hub.faults.corrupt = { path: file, at: 5, times: 1000 };
    const failed = await client.pull(repo, file);
    expect(failed).toMatchObject({ state: 'failed', error: { code: 'download-damaged' } });
    expect(existsSync(client.place(repo, file))).toBe(false);
    hub.faults.corrupt = null;
    await client.downloads.resume(failed.id);
    await expectWhole(client, failed.id);
  });

  test('a file that is no model, by the right checksum: never in the list', async () => {
    const hub = await testHub([{ id: repo, files: { [file]: noise(100_000, 'x') } }]);
    const client = await hubClient(hub);
    expect(await client.pull(repo, file)).toMatchObject({ state: 'failed', error: { code: 'model-invalid' } });
    expect(existsSync(client.place(repo, file))).toBe(false);
    expect(client.models).toEqual([]);
  });
});

describe('a file that lies there already', () => {
  async function withThere(there: Buffer, name = file) {
    const { hub, client } = await setUp();
    await mkdir(dirname(client.place(repo, file)), { recursive: true });
    await writeFile(client.place(repo, name), there);
    return { hub, client };
  }

  test('counts as the download by its checksum', async () => {
    const { hub, client } = await withThere(content);
    await expectWhole(client);
    expect(received(hub)).toBe(0);
  });

  test('of the right size and with another content does not', async () => {
    const { hub, client } = await withThere(Buffer.concat([content.subarray(0, -1), Buffer.from([1])]));
    await expectWhole(client);
    expect(received(hub)).toBe(content.length);
  });

  test.skipIf(process.platform === 'win32')('under another name, as on a disk that ignores case, is kept', async () => {
    const other = 'MODEL-q4_k_m.gguf';
    const { hub, client } = await withThere(Buffer.alloc(content.length, 7), other);
    // what such a disk answers, on one that does not
    await symlink(other, client.place(repo, file));
    const failed = await client.pull(repo, file);
    expect(failed.error?.message).toContain(`is the file ${other} on this disk`);
    expect(await client.read(repo, other)).toEqual(Buffer.alloc(content.length, 7));
    expect(received(hub)).toBe(0);
  });
});

describe('over restarts', () => {
  /** `id`: of the download; `app`: as after the next start; `part`: what is there of the file, with its `log` */
  async function cutOff() {
    const { hub, client, start } = await setUp();
    const at = 7 * chunk + 5000;
    holdAt(hub, at);
    const { id } = await start();
    await reportedBytes(client, at);
    await client.close();
    hub.faults.hold = null;
    const before = received(hub);
    const app = await hubClient(hub, { dataFolder: client.dataFolder });
    const part = `${app.place(repo, file)}.part`;
    return { hub, id, before, app, part, log: `${part}.log` };
  }

  test('goes on by itself with what is there', async () => {
    const { hub, id, app } = await cutOff();
    await app.downloads.open();
    await expectWhole(app, id);
    // what was on its way when the app ended may come twice
    expect(received(hub)).toBeLessThan(content.length + 8 * chunk);
    await app.close();
    expect(await leftovers(app.dataFolder)).toEqual([]);
  });

  test('what is half there is found again when the list is lost', async () => {
    const { app } = await cutOff();
    await rm(join(app.dataFolder, 'downloads.json'));
    await app.downloads.open();
    const [orphan] = app.downloads.list();
    expect(orphan).toMatchObject({ state: 'paused', repo, file, bytes: content.length, quant: 'Q4_K_M' });
    expect(orphan?.done).toBeGreaterThan(0);
    await app.downloads.resume(orphan?.id ?? '');
    await expectWhole(app, orphan?.id ?? '');
  });

  test('a log with a torn line, and one that promises more than the disk has', async () => {
    const { id, app, part, log } = await cutOff();
    await appendFile(log, '\n{"end":13107');
    await truncate(part, 3 * chunk + 17);
    await app.downloads.open();
    await expectWhole(app, id);
  });

  test('bytes that never reached the disk are fetched again, and no others', async () => {
    const { hub, id, before, app, part, log } = await cutOff();
    const there = await readFile(part);
    // a power cut leaves zeros behind what was flushed, and no word of it in the log
    const lines = (await readFile(log, 'utf8')).split('\n');
    const marks = lines.filter((line) => line.includes('"end"'));
    await writeFile(log, lines.filter((line) => line !== marks.at(-1)).join('\n'));
    const { end } = JSON.parse(marks.at(-2) ?? '');
    await writeFile(part, Buffer.concat([there.subarray(0, end), Buffer.alloc(there.length - end)]));
    await app.downloads.open();
    await expectWhole(app, id);
    expect(received(hub) - before).toBe(content.length - there.length + content.length - end);
  });

  test('a part without its log is read and used', async () => {
    const { hub, client } = await setUp();
    await mkdir(dirname(client.place(repo, file)), { recursive: true });
    await writeFile(`${client.place(repo, file)}.part`, content.subarray(0, 10 * chunk));
    await expectWhole(client);
    expect(received(hub)).toBe(content.length - 10 * chunk);
  });
});

describe('by hand', () => {
  test('paused, resumed and canceled', async () => {
    const { hub, client, start } = await setUp();
    const gate = holdAt(hub, 10 * chunk);
    const { id } = await start();
    await vi.waitFor(() => {
      const reported = client.reported.flat().find(({ speed }) => speed > 0);
      expect(reported?.secondsLeft).toBeGreaterThan(0);
    });
    await gate.reached();
    expect(await client.downloads.pause(id)).toMatchObject({ state: 'paused', speed: 0 });
    // nobody waits for the rest
    await ofFile(hub)[0]?.closed;
    expect(received(hub)).toBe(10 * chunk);
    await client.downloads.resume(id);
    await gate.reached();
    // no more than the two was asked for: from the beginning, and from where it was
    expect(ofFile(hub).map(({ headers }) => headers.range)).toEqual([undefined, `bytes=${10 * chunk}-`]);
    expect(client.downloads.list()[0]?.state).toBe('active');
    await client.downloads.cancel(id);
    expect(client.downloads.list()).toEqual([]);
    expect(await readdir(join(client.dataFolder, 'models'))).toEqual([]);
  });

  test('the same file twice is one download; done ones are cleared', async () => {
    const { client, start } = await setUp();
    const first = await start();
    expect((await start()).id).toBe(first.id);
    await client.downloads.settled(first.id);
    client.downloads.clear();
    expect(client.downloads.list()).toEqual([]);
    expect(existsSync(client.place(repo, file))).toBe(true);
  });

  test('no more at a time than asked for, in their order', async () => {
    const quants = ['Q2_K', 'Q3_K', 'Q4_0', 'Q8_0'];
    const files = Object.fromEntries(quants.map((quant) => [`m-${quant}.gguf`, sampleGguf(200_000, quant)]));
    const hub = await testHub([{ id: repo, files }]);
    const awake: boolean[] = [];
    const client = await hubClient(hub, { keepAwake: (on) => awake.push(on) });
    const gate = holdAt(hub, 100_000);
    const started = [];
    for (const name of Object.keys(files)) {
      started.push(await client.downloads.start({ repo, revision: 'main', file: name }));
    }
    expect(client.downloads.list().map(({ state }) => state)).toEqual(['active', 'active', 'queued', 'queued']);
    gate.open();
    const ended = await Promise.all(started.map(({ id }) => client.downloads.settled(id)));
    expect(ended.map(({ state }) => state)).toEqual(['done', 'done', 'done', 'done']);
    const most = Math.max(...client.reported.map((list) => list.filter(({ state }) => state === 'active').length));
    expect(most).toBe(2);
    expect(client.models.map((path) => basename(path)).sort()).toEqual(Object.keys(files));
    await vi.waitFor(() => expect(awake).toEqual([true, false]));
  });
});

test('a projector comes with its model, once for all of its files, and counts as no part', async () => {
  const [models, projector] = [['Model-Q4_K_M.gguf', 'Model-Q8_0.gguf'], 'mmproj-F16.gguf'];
  const files = {
    ...Object.fromEntries(models.map((name) => [name, sampleGguf(300_000, name)])),
    'mmproj-BF16.gguf': sampleGguf(200_000, 'bf16'),
    'mmproj-F32.gguf': sampleGguf(400_000, 'f32'),
    [projector]: sampleGguf(200_000, 'f16'),
  };
  const hub = await testHub([{ id: repo, files }]);
  const client = await hubClient(hub);
  const gate = holdAt(hub, 100_000);
  const started = [];
  for (const name of models) started.push(await client.downloads.start({ repo, revision: 'main', file: name }));
  // both would write the projector
  expect(client.downloads.list().map(({ state }) => state)).toEqual(['active', 'queued']);
  gate.open();
  const ended = await Promise.all(started.map(({ id }) => client.downloads.settled(id)));
  const lengths = [...models, projector].map((name) => files[name]?.length ?? 0);
  const whole = (lengths[0] ?? 0) + (lengths[2] ?? 0);
  for (const one of ended) expect(one).toMatchObject({ state: 'done', parts: 1, bytes: whole, done: whole });
  expect((await client.read(repo, projector)).equals(files[projector] ?? Buffer.alloc(0))).toBe(true);
  expect(received(hub)).toBe(lengths.reduce((sum, bytes) => sum + bytes, 0));
  expect(client.models).toEqual(models.map((name) => client.place(repo, name)));
});

describe('split files', () => {
  const names = [1, 2, 3].map((number) => `big/Big-Q8_0-0000${number}-of-00003.gguf`);
  const files = Object.fromEntries(names.map((name, index) => [name, sampleGguf(300_000, String(index))]));

  test('are one download, and are put in their places together', async () => {
    const hub = await testHub([{ id: repo, files }]);
    const client = await hubClient(hub);
    hub.faults.cutEvery = 250_000;
    const [first = ''] = names;
    const done = await client.pull(repo, first);
    expect(done).toMatchObject({ state: 'done', parts: 3, title: 'Big-Q8_0', quant: 'Q8_0' });
    for (const name of names) expect((await client.read(repo, name)).equals(files[name] ?? Buffer.alloc(0))).toBe(true);
    expect(client.models).toEqual([client.place(repo, first)]);
    await client.close();
    expect(await leftovers(client.dataFolder)).toEqual([]);
  });

  test('with a part missing are refused before anything is fetched', async () => {
    const { [names[1] ?? '']: _, ...rest } = files;
    const hub = await testHub([{ id: repo, files: rest }]);
    const client = await hubClient(hub);
    await expect(client.pull(repo, names[0] ?? '')).rejects.toMatchObject({ code: 'model-invalid' });
    expect(received(hub)).toBe(0);
  });
});

describe('what the hub refuses', () => {
  test('a gated model fails with what to do, and works with a token that has access', async () => {
    const hub = await testHub([{ id: repo, files: { [file]: content }, gated: 'manual' }]);
    hub.tokens.set('hf_granted_1', [repo]).set('hf_stranger_1', []);
    const without = await (await hubClient(hub)).pull(repo, file);
    expect(without).toMatchObject({ state: 'failed', error: { code: 'access-denied' } });
    expect(without.error?.hint).toContain('HF_TOKEN');
    const stranger = await (await hubClient(hub, { hfToken: 'hf_stranger_1' })).pull(repo, file);
    expect(stranger.error).toMatchObject({ code: 'access-denied', hint: expect.stringContaining('Ask for access') });
    const granted = await hubClient(hub, { hfToken: 'hf_granted_1' });
    expect((await granted.pull(repo, file)).state).toBe('done');
  });

  test('another file under the same name in the middle of it', async () => {
    const { hub, client, gate, id } = await cutAt(300_000);
    hub.put({ id: repo, files: { [file]: sampleGguf(bytes - (bytes % 4), 'other') } });
    gate.open();
    const failed = await client.downloads.settled(id);
    const code = expect.stringMatching('not-found|download-damaged');
    expect(failed).toMatchObject({ state: 'failed', error: { code } });
    expect(existsSync(client.place(repo, file))).toBe(false);
  });
});
