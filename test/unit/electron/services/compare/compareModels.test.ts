/** Two models side by side: each is loaded once, one after the other, and one that cannot be loaded ends its own columns. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { CompareRun } from '@/electron/contract/compare/compare';
import type { OperationInput } from '@/electron/contract/contract';
import { ConcertinaError } from '@/electron/contract/errors';
import { CompareStore } from '@/electron/services/compare/compareStore';
import { createFakeEngine, type FakeEngineOptions } from '@/test/fixtures/fakeEngine';
import { Gate } from '@/test/fixtures/gate';
import { comparisonRun } from '@/test/fixtures/renderer/comparison';
import { setUpServices } from '@/test/fixtures/services';
import { temporaryFolder } from '@/test/fixtures/temporary';

async function setUp(options: FakeEngineOptions = {}) {
  const engine = createFakeEngine(options);
  const loads = vi.spyOn(engine, 'loadModel');
  const app = await setUpServices({ engine });
  loads.mockClear();
  const [tiny] = await app.call('models.list', undefined);
  const modelId = tiny?.id ?? '';
  const other = await app.addModel();
  const types = (typeK: 'f16' | 'turbo4') => ({ typeK, typeV: typeK, nCtx: 8192 });
  const request: OperationInput<'compare.start'> = {
    ...{ modelId, prompt: { kind: 'text', text: 'a lamp '.repeat(10) } },
    configurations: [types('f16'), { ...types('f16'), modelId: other }, { ...types('turbo4'), modelId: other }],
  };
  const until = (runId: string, test: (run: CompareRun) => boolean) =>
    vi.waitFor(async () => {
      const run = await app.call('compare.get', { runId });
      if (!test(run)) throw new Error(`it is ${run.state}`);
      return run;
    });
  const start = async (change: Partial<typeof request> = {}) =>
    (await app.call('compare.start', { ...request, ...change })).runId;
  const compare = async (change: Partial<typeof request> = {}) =>
    until(await start(change), ({ state }) => state !== 'running');
  const loaded = () => loads.mock.calls.map(([path]) => path.replace(/.*[\\/]/, ''));
  return { ...app, loads, loaded, modelId, other, request, until, start, compare };
}

const states = ({ columns }: CompareRun) => columns.map(({ state }) => state);

test('each is loaded once, that of the reference first, and the later one is judged by it', async () => {
  const { compare, loaded, request, other, call, state } = await setUp();
  const run = await compare({ options: { reference: 1, rounds: 1 } });
  expect(states(run)).toEqual(['done', 'done', 'done']);
  await state('ready');
  // at last the one of the chat, which the comparison had left in memory
  expect(loaded()).toEqual(['other.gguf', 'tiny.gguf']);
  expect(run.model?.fileName).toBe('other.gguf');
  const [tiny, f16, turbo] = run.columns;
  // both call themselves the same in their headers
  expect(tiny?.model).toEqual({
    name: 'tiny.gguf',
    fileName: 'tiny.gguf',
    fingerprint: 'f1',
    loadMs: expect.any(Number),
  });
  expect(f16?.model).toMatchObject({ name: 'other.gguf', fileName: 'other.gguf' });
  expect(turbo?.model).toEqual(f16?.model);
  expect([f16, tiny].map((column) => column?.quality?.meanKld)).toEqual([0, 0.1]);
  expect(tiny?.agreement).not.toHaveProperty('words');
  expect(run.columns.map(({ speed }) => speed?.interleaved)).toEqual([false, true, true]);
  expect(run.notes.join()).toContain('not measured in turns');
  expect(run.request.configurations).toEqual(request.configurations);
  const [summary] = await call('compare.list', undefined);
  expect(summary?.modelName).toBe('tiny.gguf, other.gguf');
  expect(summary?.configurations[1]?.modelId).toBe(other);
  const { text } = await call('compare.export', { runId: run.id, format: 'markdown' });
  expect(text).toContain('| tiny.gguf, f16 | other.gguf, f16 | other.gguf, turbo4 |');
  expect(text).toMatch(/^- Model: other\.gguf \(other\.gguf, fingerprint f1\), loaded in [\d.]+ s$/m);
  const csv = (await call('compare.export', { runId: run.id, format: 'csv' })).text.split('\r\n');
  const place = csv[0]?.split(',').indexOf('model') ?? 0;
  expect(csv.slice(1, 3).map((line) => line.replace(/"[^"]*"/g, '').split(',')[place])).toEqual([
    'tiny.gguf',
    'other.gguf',
  ]);
});

test('of another vocabulary it has no KL divergence, and its answer is compared by words', async () => {
  const { compare } = await setUp({ vocabularyOf: (path) => path.slice(-10) });
  const { columns, state } = await compare();
  expect(state).toBe('done');
  const [reference, other] = columns;
  expect(reference).toMatchObject({ quality: { meanKld: 0 }, notes: [], model: { loadMs: null } });
  expect(other).toMatchObject({
    quality: { meanKld: null, perplexity: 1 },
    agreement: { words: true, share: 1 },
    notes: [expect.stringContaining('another vocabulary')],
  });
});

test('one that is gone, or that cannot be loaded, ends its own columns with the reason', async () => {
  const { compare, call, request, dataFolder, loads, modelId, other } = await setUp();
  const load = loads.getMockImplementation();
  loads.mockImplementation(async (path, options) => {
    if (path.endsWith('other.gguf')) throw new ConcertinaError('model-invalid', 'other.gguf is damaged.');
    return createFakeEngine().loadModel(path, options);
  });
  const damaged = await compare();
  expect(states(damaged)).toEqual(['done', 'failed', 'failed']);
  expect(damaged).toMatchObject({ state: 'done', error: null });
  expect(damaged.columns[1]?.error?.message).toBe('other.gguf is damaged.');
  // its columns are judged by nothing where it was the reference
  const judged = await compare({ options: { reference: 1 } });
  expect(states(judged)).toEqual(['done', 'failed', 'failed']);
  expect(judged.columns[0]).toMatchObject({ agreement: null, quality: { meanKld: null } });
  if (load) loads.mockImplementation(load);

  await rm(join(dataFolder, 'other.gguf'));
  const gone = await compare();
  expect(states(gone)).toEqual(['done', 'failed', 'failed']);
  expect(gone.columns[1]?.error?.code).toMatch(/model-missing|not-found/);
  const { columns } = await call('compare.estimate', { modelId, configurations: request.configurations });
  expect(columns.map(({ problem }) => problem !== '')).toEqual([false, true, true]);
  expect(columns[0]?.estimate).not.toBeNull();
  // none is left that could run
  const only = [request.configurations[1], request.configurations[2]].flatMap((one) => one ?? []);
  await expect(compare({ configurations: only })).rejects.toMatchObject({ code: gone.columns[1]?.error?.code });
  expect(other).not.toBe(modelId);
});

test('canceled while the second one is loaded: what the first has found stays', async () => {
  const loading = new Gate();
  const { start, until, call, state } = await setUp({ loading });
  loading.hold(1);
  const runId = await start();
  const inLoad = await until(runId, (run) => run.step === 'loading' && run.progress > 0);
  expect(states(inLoad)).toEqual(['done', 'waiting', 'waiting']);
  await call('compare.cancel', { runId });
  const run = await until(runId, (one) => one.state !== 'running' || one.step === 'restoring-chat');
  loading.open();
  const ended = await until(run.id, (one) => one.state !== 'running');
  expect(ended.state).toBe('cancelled');
  expect(states(ended)).toEqual(['done', 'cancelled', 'cancelled']);
  await state('ready');
});

test('each has its own adapters, as files', async () => {
  const asked: unknown[] = [];
  const { compare, call, state, other, dataFolder } = await setUp({
    onContext: ({ adapters }) => void asked.push(adapters),
  });
  await call('settings.update', { context: { adapters: [{ model: other, scale: 0.5 }] } });
  await call('engine.reload', undefined);
  await state('ready');
  asked.length = 0;
  await compare();
  const adapter = { model: join(dataFolder, 'other.gguf'), scale: 0.5 };
  expect(asked.slice(0, 3)).toEqual([[adapter], [], []]);
});

test('several are neither in memory together nor checked', async () => {
  const { start, request, modelId, call } = await setUp();
  await expect(start({ options: { together: true } })).rejects.toMatchObject({ code: 'bad-request' });
  await expect(start({ prompt: { kind: 'check', depth: 4096 } })).rejects.toMatchObject({ code: 'bad-request' });
  const { configurations } = request;
  expect((await call('compare.estimate', { modelId, configurations })).together).toEqual({ fits: false, budgets: [] });
  // the model of the comparison by its name is no other
  const own = configurations.map((one) => ({ ...one, modelId }));
  expect((await call('compare.estimate', { modelId, configurations: own })).together.fits).toBe(true);
});

test('a run of a version that knew one model opens as it was', async () => {
  const folder = await temporaryFolder();
  const run = comparisonRun();
  const columns = run.columns.map(({ model: _, ...column }) => column);
  await writeFile(join(folder, 'run.json'), JSON.stringify({ ...run, columns }));
  const store = new CompareStore(folder);
  await store.load();
  expect(await store.get('run')).toEqual(run);
  expect(store.notices).toEqual([]);
});
