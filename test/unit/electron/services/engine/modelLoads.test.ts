/** A model is loaded: at the start, by choice, not at all; see formerModel.test.ts for what is in use meanwhile. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { AddModelsResult } from '@/electron/contract/contract';
import { ConcertinaError } from '@/electron/contract/errors';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { plan } from '@/test/fixtures/samples';
import { setUpServices as setUp } from '@/test/fixtures/services';
import { temporaryFolder } from '@/test/fixtures/temporary';

test('the first start loads the embedded model and is ready to chat', async () => {
  const { call } = await setUp();
  const status = await call('engine.status', undefined);
  const [embedded] = await call('models.list', undefined);
  expect(embedded).toMatchObject({ source: 'embedded', fileName: 'tiny.gguf', problem: null });
  expect(status).toMatchObject({ state: 'ready', modelId: embedded?.id, model: { name: 'Tiny' }, error: null });
});

test('a load that is cancelled while the engine process starts does not happen', async () => {
  const { services, call } = await setUp({ start: false });
  const [embedded] = await call('models.list', undefined);
  const off = services.engine.changed.on((status) => {
    if (status.state !== 'loading') return;
    off();
    void services.engine.cancelLoad();
  });
  expect((await call('models.select', { modelId: embedded?.id ?? '' })).state).toBe('empty');
  expect(services.engine.status()).toMatchObject({ model: null, error: null });
});

test('cancelling while the model is measured ends the measuring only, and the status says so', async () => {
  const { services, call } = await setUp({ start: false, engine: createFakeEngine({ measuring: true }) });
  const [embedded] = await call('models.list', undefined);
  const steps: (string | null)[] = [];
  services.engine.changed.on(({ state, loadStep }) => {
    if (state !== 'loading') return;
    steps.push(loadStep);
    if (loadStep === 'calibration') void services.engine.cancelLoad();
  });
  const status = await call('models.select', { modelId: embedded?.id ?? '' });
  expect(status).toMatchObject({ state: 'ready', loadStep: null, loadProgress: null });
  expect(status.context?.calibration).toContain('skipped');
  expect(new Set(steps)).toEqual(new Set(['weights', 'calibration']));
});

test('a model that fails to load is told and not remembered, and the one before it is loaded again', async () => {
  const engine = createFakeEngine();
  const { call, dataFolder } = await setUp({ engine });
  const path = join(dataFolder, 'huge.gguf');
  await writeFile(path, 'GGUF');
  const { added }: AddModelsResult = await call('models.addPaths', { paths: [path] });
  vi.spyOn(engine, 'loadModel').mockRejectedValueOnce(new ConcertinaError('out-of-memory', 'It needs 900 GB.'));
  const [embedded] = await call('models.list', undefined);
  const status = await call('models.select', { modelId: added[0]?.id ?? '' });
  expect(status).toMatchObject({
    ...{ state: 'ready', modelId: embedded?.id, error: null },
    refused: { modelId: added[0]?.id, error: { code: 'out-of-memory', message: 'It needs 900 GB.' } },
  });
  expect((await call('settings.get', undefined)).modelId).toBeNull();
  expect(await call('models.select', { modelId: added[0]?.id ?? '' })).toMatchObject({ state: 'ready', refused: null });
  expect((await call('settings.get', undefined)).modelId).toBe(added[0]?.id);
});

test('what does not fit is refused with the figures, told by engine.plan before, and loaded when it is forced', async () => {
  const engine = createFakeEngine();
  const needs = { name: 'RAM', kind: 'ram' as const, weights: 9e15, mapped: 0, context: 0, compute: 0 };
  vi.spyOn(engine, 'estimate').mockResolvedValue({ ...plan, devices: [needs] });
  const { call, state } = await setUp({ engine, start: false });
  const [embedded] = await call('models.list', undefined);
  const modelId = embedded?.id ?? '';
  const refused = await call('models.select', { modelId });
  expect(refused).toMatchObject({ state: 'failed', error: { code: 'out-of-memory' } });
  expect(refused.error?.message).toContain('The weights do not fit');
  const { context } = await call('settings.get', undefined);
  const fit = await call('engine.plan', { modelId, context, longest: 4096 });
  expect(fit).toMatchObject({ fits: false, trained: 8192, budgets: [{ kind: 'ram', needed: 9e15 }] });
  expect(fit.marks.map(({ nCtx }) => nCtx)).toEqual([0, 0, 0, 0, 0]);
  expect(await call('models.select', { modelId, force: true })).toMatchObject({ state: 'ready', modelId });
  expect(await call('engine.reload', undefined)).toMatchObject({ state: 'failed' });
  expect(await call('engine.reload', { force: true })).toMatchObject({ state: 'ready' });
  await state('ready');
});

test('a remembered model that is gone says so, and the embedded one can be chosen', async () => {
  const data = await temporaryFolder();
  await writeFile(join(data, 'settings.json'), JSON.stringify({ version: 1, modelId: 'gone' }));
  const { services, call, state } = await setUp({ data, start: false });
  services.engine.start();
  expect((await state('failed')).error).toMatchObject({ code: 'not-found' });
  const [embedded] = await call('models.list', undefined);
  expect(await call('models.select', { modelId: embedded?.id ?? '' })).toMatchObject({ state: 'ready' });
});

test('a loaded model whose file went away is freed when loading it again fails', async () => {
  const engine = createFakeEngine();
  const free = vi.fn(async () => undefined);
  const load = engine.loadModel.bind(engine);
  engine.loadModel = async (...args) => Object.assign(await load(...args), { dispose: free });
  const { call, dataFolder } = await setUp({ engine });
  await rm(join(dataFolder, 'embedded', 'tiny.gguf'));
  expect(await call('engine.reload', undefined)).toMatchObject({ state: 'failed', model: null });
  await vi.waitFor(() => expect(free).toHaveBeenCalledTimes(1));
});

test('a model that is chosen while the start still looks for its own is the one that is loaded', async () => {
  const data = await temporaryFolder();
  const path = join(data, 'other.gguf');
  await writeFile(path, 'GGUF');
  await writeFile(join(data, 'models.json'), JSON.stringify({ version: 1, files: [path] }));
  const { services, call, state } = await setUp({ data, start: false });
  let found = (_id: string | null): void => undefined;
  const searching = new Promise<string | null>((resolve) => (found = resolve));
  const spy = vi.spyOn(services.models, 'defaultModelId').mockReturnValue(searching);
  const [embedded, other] = await services.models.list();
  services.engine.start();
  await vi.waitFor(() => expect(spy).toHaveBeenCalled());
  expect(await call('models.select', { modelId: other?.id ?? '' })).toMatchObject({ state: 'ready' });
  const states: string[] = [];
  services.engine.changed.on(({ state: now }) => states.push(now));
  found(embedded?.id ?? null);
  // what begins a load shows it before anything else is asked
  await new Promise((resolve) => setImmediate(resolve));
  expect(states).not.toContain('loading');
  expect(await state('ready')).toMatchObject({ modelId: other?.id });
});
