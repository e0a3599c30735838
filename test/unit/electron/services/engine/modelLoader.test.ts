/** Which model is loaded: at the start, by choice, after one that cannot be had, and again with changed settings. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ConcertinaError } from '@/electron/contract/errors';
import { autoContext } from '@/electron/contract/settings';
import type { ContextOptions } from '@/electron/engine/native/types';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { Gate } from '@/test/fixtures/gate';
import { plan } from '@/test/fixtures/samples';
import { holding, long, setUpServices as setUp } from '@/test/fixtures/services';
import { temporaryFolder } from '@/test/fixtures/temporary';

const needs = { name: 'RAM', kind: 'ram' as const, weights: 9e15, mapped: 0, context: 0, compute: 0 };

test('a load that is canceled while the engine process starts does not happen', async () => {
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

test('canceling while the model is measured ends the measuring only, and the status says so', async () => {
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

test('the cells of the cache are of the chat that was read last, and of none in a context that begins empty', async () => {
  const { services, call, send, final } = await setUp({});
  const { id, turn } = await send('What is a bellows?');
  await final(turn);
  expect(services.engine.status().contextChat).toBe(id);
  expect(services.engine.status().contextUsed).toBeGreaterThan(0);
  await call('engine.reload', undefined);
  expect(services.engine.status()).toMatchObject({ state: 'ready', contextChat: null, contextUsed: 0 });
});

test('a model that fails to load is reported and not remembered, and the one before it is loaded again', async () => {
  const engine = createFakeEngine();
  const { addModel, call } = await setUp({ engine });
  const modelId = await addModel();
  vi.spyOn(engine, 'loadModel').mockRejectedValueOnce(new ConcertinaError('out-of-memory', 'It needs 900 GB.'));
  const [embedded] = await call('models.list', undefined);
  const status = await call('models.select', { modelId });
  expect(status).toMatchObject({
    ...{ state: 'ready', modelId: embedded?.id, error: null },
    refused: { modelId, error: { code: 'out-of-memory', message: 'It needs 900 GB.' } },
  });
  expect((await call('settings.get', undefined)).modelId).toBeNull();
  expect(await call('models.select', { modelId })).toMatchObject({ state: 'ready', refused: null });
  expect((await call('settings.get', undefined)).modelId).toBe(modelId);
});

test('what does not fit is refused with the figures, shown by engine.plan before, and loaded when it is forced', async () => {
  const engine = createFakeEngine();
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

test('whether the model in use fits is known from its load; marks, and other settings, are asked of the inspector', async () => {
  const engine = createFakeEngine();
  const { call, inspectors } = await setUp({ engine });
  const estimate = vi.spyOn(engine, 'estimate');
  const asked = () =>
    inspectors.flatMap(({ sent }) => sent.filter((message) => (message as { name?: string }).name === 'fit'));
  expect(await call('engine.plan', { marks: false })).toMatchObject({ fits: true, marks: [] });
  expect([estimate.mock.calls.length, asked().length]).toEqual([0, 0]);
  const { context } = await call('settings.get', undefined);
  await call('engine.plan', { marks: false, context: { ...context, typeK: 'f16', typeV: 'f16' } });
  expect(asked()).toHaveLength(1);
  expect((await call('engine.plan', {})).marks).not.toEqual([]);
  expect(asked()).toHaveLength(2);
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

test('a loaded model is freed when loading it again fails', async () => {
  const engine = createFakeEngine();
  const free = vi.fn(async () => undefined);
  const load = engine.loadModel.bind(engine);
  let damaged = false;
  engine.loadModel = async (...args) => {
    const model = await load(...args);
    const make = model.createContext.bind(model);
    const createContext: typeof make = async (options) => {
      if (damaged) throw new ConcertinaError('model-invalid', 'Damaged.');
      return make(options);
    };
    return Object.assign(model, { dispose: free, createContext });
  };
  const { call } = await setUp({ engine });
  damaged = true;
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

/** The embedded model is in use; `other` can be chosen. */
async function withOther() {
  const loading = new Gate();
  const words = new Gate();
  const engine = createFakeEngine({ loading, words });
  const loads = vi.spyOn(engine, 'loadModel');
  const inspecting = createFakeEngine();
  const parts = await setUp({ engine, inspecting });
  const other = await parts.addModel();
  const inUse = parts.services.engine.status();
  loads.mockClear();
  return { ...parts, engine, inspecting, loading, words, loads, other, inUse };
}

test('what does not fit is refused while the model in use stays as it is, and can be forced', async () => {
  const { engine, call, loads, other, inUse } = await withOther();
  vi.spyOn(engine, 'estimate').mockImplementation(async (path) =>
    path.endsWith('other.gguf') ? { ...plan, devices: [needs] } : plan,
  );
  const status = await call('models.select', { modelId: other });
  expect(status).toEqual({
    ...inUse,
    memory: expect.anything(),
    refused: { modelId: other, error: expect.objectContaining({ code: 'out-of-memory' }) },
  });
  expect(loads).not.toHaveBeenCalled();
  expect((await call('settings.get', undefined)).modelId).toBeNull();
  expect(await call('models.select', { modelId: other, force: true })).toMatchObject({
    ...{ state: 'ready', modelId: other, refused: null },
  });
});

test('a file that ends the process that looks at it is refused before the model in use, and the answer it writes, are affected', async () => {
  const { call, final, loads, other, inUse, services, transports, words, begin, ...parts } = await withOther();
  words.hold(3);
  const { turn } = await begin('word '.repeat(200).trim());
  vi.spyOn(parts.inspecting, 'estimate').mockImplementation(() => {
    parts.inspectors.at(-1)?.exit({ code: null, signal: 'SIGABRT' });
    return new Promise(() => undefined);
  });
  const error = { code: 'model-invalid', message: expect.stringContaining('other.gguf cannot be read') };
  const status = await call('models.select', { modelId: other });
  expect(status).toMatchObject({ state: 'generating', modelId: inUse.modelId, refused: { modelId: other, error } });
  expect(loads).not.toHaveBeenCalled();
  const asked = transports.flatMap(({ sent }) => sent.map((message) => (message as { name?: string }).name));
  expect(asked.filter((name) => name === 'load')).toHaveLength(1);
  await call('turns.stop', { requestId: turn.requestId });
  expect(await final(turn)).toMatchObject({ stopReason: 'cancelled', error: null });
  await vi.waitFor(() => expect(services.engine.status().state).toBe('ready'));

  // nor is one compared
  const configurations = (['f16', 'q8_0'] as const).map((type) => ({ typeK: type, typeV: type, nCtx: 2048 }));
  const prompt = { kind: 'text' as const, text: 'Some words.' };
  const started = await call('compare.start', { modelId: other, prompt, configurations });
  const run = await vi.waitFor(async () => {
    const found = await call('compare.get', { runId: started.runId });
    expect(found.state).not.toBe('running');
    return found;
  });
  expect(run).toMatchObject({ state: 'failed', error });
  expect(transports).toHaveLength(1);
  expect(transports[0]?.sent.some((message) => (message as { name?: string }).name === 'compare')).toBe(false);
});

test('settings of the model in use that were changed while the other one was tried are used', async () => {
  const { engine, call, other, inUse, services } = await withOther();
  const scope = { modelId: inUse.modelId ?? '' };
  vi.spyOn(engine, 'estimate').mockImplementation(async (path) => {
    if (!path.endsWith('other.gguf')) return plan;
    // they are not of the model that is being loaded
    await call('settings.update', { scope, context: { nCtx: 4096 } });
    return { ...plan, devices: [needs] };
  });
  expect(await call('models.select', { modelId: other })).toMatchObject({ modelId: inUse.modelId, refused: {} });
  await vi.waitFor(() => expect(services.engine.status().context?.nCtx).toBe(4096));
});

test('a system that ends the process while it loads: the model before it is loaded in the next process', async () => {
  const { call, state, transports, loading, other, inUse, services } = await withOther();
  loading.hold(1);
  const selected = call('models.select', { modelId: other });
  await loading.reached();
  expect(services.engine.status().loadProgress).toBe(0.25);
  transports.at(-1)?.exit({ code: null, signal: 'SIGKILL' });
  loading.open();
  await selected;
  expect(await state('ready')).toMatchObject({
    modelId: inUse.modelId,
    refused: { modelId: other, error: { code: 'out-of-memory' } },
  });
});

test('a choice that comes while another one fails still falls back to the model that was in use', async () => {
  const { engine, call, loading, other, inUse, addModel } = await withOther();
  const third = await addModel('third.gguf');
  loading.hold();
  void call('models.select', { modelId: other });
  await loading.reached();
  vi.spyOn(engine, 'estimate').mockImplementation(async (path) => {
    if (!path.endsWith('third.gguf')) return plan;
    // the first load has been ended by now; that of the model in use may come
    loading.open();
    return { ...plan, devices: [needs] };
  });
  expect(await call('models.select', { modelId: third })).toMatchObject({
    ...{ state: 'ready', modelId: inUse.modelId, refused: { modelId: third } },
  });
});

test('where neither can be had, the requested one is reported, and nothing is loaded', async () => {
  const { call, loads, other } = await withOther();
  loads.mockRejectedValueOnce(new ConcertinaError('model-invalid', 'Damaged.'));
  loads.mockRejectedValueOnce(new ConcertinaError('model-missing', 'Gone.'));
  expect(await call('models.select', { modelId: other })).toMatchObject({
    ...{ state: 'failed', modelId: other, model: null, refused: null, error: { code: 'model-invalid' } },
  });
});

/** The pause after which changed settings count is over when the test says so. */
function holdTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

test('a changed context loads again by itself, once, after the answer; the chat goes on', async () => {
  const { engine, words } = holding();
  const { services, call, final, begin } = await setUp({ engine });
  const { turn } = await begin('word '.repeat(200).trim());
  await words.reached();
  const loads = services.engine.loads();
  holdTimers();
  await call('settings.update', { context: { nCtx: 1024 } });
  vi.advanceTimersByTime(499);
  await call('settings.update', { context: { nCtx: 2048 } });
  // the first change does not count any more
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(499);
  await vi.advanceTimersByTimeAsync(1);
  expect(services.engine.status()).toMatchObject({ state: 'generating', context: { nCtx: 8192 } });
  vi.useRealTimers();
  words.open();
  expect(await final(turn)).toMatchObject({ stopReason: 'end-of-turn' });
  await vi.waitFor(() => expect(services.engine.status().context?.nCtx).toBe(2048));
  expect(services.engine.loads()).toBe(loads + 1);
  holdTimers();
  await call('settings.update', { sampling: { temperature: 0 } });
  expect(vi.getTimerCount()).toBe(0);
  expect(services.engine.status().state).toBe('ready');
});

test('settings that a person applies are loaded without a pause, and only where they need another context', async () => {
  const { services, call } = await setUp();
  const loads = services.engine.loads();
  const loaded = () => [services.engine.loads() - loads, services.engine.status().context?.nCtx];
  holdTimers();
  await call('settings.update', { context: { nCtx: 1024 }, apply: {} });
  expect(loaded()).toEqual([1, 1024]);
  await call('settings.update', { context: { nCtx: 1024 }, sampling: { topK: 1 }, apply: {} });
  await vi.runAllTimersAsync();
  expect(loaded()).toEqual([1, 1024]);
  const modelId = services.engine.status().modelId ?? '';
  const { typeK, typeV, gpuLayers } = services.settings.get().context;
  const defaults = { context: { nCtx: 2048, typeK, typeV, gpuLayers }, sampling: null, systemPrompt: null };
  await call('models.setDefaults', { modelId, defaults, apply: {} });
  expect(loaded()).toEqual([2, 2048]);
});

test('applied settings of another model load that one; they are kept where it is gone, and loaded by force', async () => {
  const { services, call, engine, other } = await withOther();
  const context = { nCtx: 1024 };
  vi.spyOn(engine, 'estimate').mockResolvedValue({ ...plan, devices: [needs] });
  await call('settings.update', { context, scope: { modelId: other }, apply: {} });
  expect(services.engine.status()).toMatchObject({ state: 'ready', refused: { modelId: other } });
  await call('settings.update', { context, scope: { modelId: other }, apply: { force: true } });
  expect(services.engine.status()).toMatchObject({ state: 'ready', modelId: other, context });
  const gone = { context: { nCtx: 512 }, scope: { modelId: 'gone' }, apply: {} };
  await expect(call('settings.update', gone)).rejects.toMatchObject({ code: 'not-found' });
  expect(services.settings.of(null).context.nCtx).toBe(512);
});

test('a file that is deleted while it is loaded: new settings leave it in use, and say so', async () => {
  const { services, call, final, send, other, dataFolder } = await withOther();
  const { context } = await call('models.select', { modelId: other });
  await rm(join(dataFolder, 'other.gguf'));
  await call('settings.update', { context: { nCtx: 1024 }, apply: {} });
  const status = services.engine.status();
  expect(status).toMatchObject({ state: 'ready', modelId: other, error: null, context: { nCtx: context?.nCtx } });
  expect(status.refused).toMatchObject({ modelId: other, error: { code: 'model-missing' } });
  expect(status.refused?.error.message).toContain('It keeps working');
  expect((await call('engine.reload', undefined)).state).toBe('ready');
  const { turn } = await send('What did Tom see?');
  expect((await final(turn)).stopReason).toBe('end-of-turn');
});

test('an answer that ends at the close does not bring the engine back for changed settings', async () => {
  const { services, call, final, transports, begin } = await setUp(holding());
  const { turn } = await begin(long);
  holdTimers();
  await call('settings.update', { context: { nCtx: 1024 } });
  // from now on the load waits for the end of the answer
  await vi.advanceTimersByTimeAsync(500);
  vi.useRealTimers();
  const states = statesOf(services);
  await services.engine.close();
  expect(await final(turn)).toMatchObject({ stopReason: 'interrupted' });
  // nor do settings that change after it
  holdTimers();
  await call('settings.update', { context: { nCtx: 2048 } });
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(500);
  expect(states).not.toContain('loading');
  expect(transports).toHaveLength(1);
});

/** every one from now on: a load shows before it asks anything of anybody */
function statesOf({ engine }: Awaited<ReturnType<typeof setUp>>['services']): string[] {
  const states: string[] = [];
  engine.changed.on(({ state }) => states.push(state));
  return states;
}

test('a load that is on its way when the app closes does not start the process again', async () => {
  const { services, transports } = await setUp({ start: false });
  const closed = new Promise<void>((resolve, reject) => {
    const off = services.engine.changed.on(({ state, modelId }) => {
      if (state !== 'loading' || modelId === null) return;
      off();
      services.close().then(resolve, reject);
    });
  });
  services.engine.start();
  await closed;
  // as long as the load itself looks for its file
  const id = (await services.models.defaultModelId()) ?? '';
  for (let times = 0; times < 3; times++) await services.models.pathOf(id);
  expect(transports).toHaveLength(1);
});

test('what the API is to have goes to each context, with the name of the file as that of the model', async () => {
  const contexts: ContextOptions[] = [];
  const engine = createFakeEngine({ onContext: (options) => contexts.push(options) });
  const { services, call, addModel, state } = await setUp({ engine, start: false });
  services.engine.offerApi({ slots: 2, options: ['--context-shift'] });
  services.engine.start();
  await state('ready');
  expect(contexts.at(-1)).toMatchObject({ slots: 2, api: true, core: ['--alias', 'tiny.gguf', '--context-shift'] });
  services.engine.offerApi({ slots: 4, options: ['--alias', 'mine'] });
  await call('models.select', { modelId: await addModel() });
  expect(contexts.at(-1)).toMatchObject({ slots: 4, core: ['--alias', 'mine'] });
  services.engine.offerApi(null);
  await services.engine.reload();
  expect(contexts.at(-1)).not.toHaveProperty('api');
});

test('a context that is grown stays so for its model while the app runs, until the engine crashes', async () => {
  const { call, state, services, transports, addModel } = await setUp();
  const [embedded] = await call('models.list', undefined);
  const modelId = embedded?.id ?? '';
  const asked = () => {
    const sent = transports.flatMap((transport) => transport.sent) as { name?: string; input?: { atLeast?: number } }[];
    return sent.filter(({ name }) => name === 'load').map(({ input }) => input?.atLeast);
  };
  await call('settings.update', { apply: { atLeast: 16_384 } });
  await state('ready');
  expect(asked()).toEqual([undefined, 16_384]);
  expect((await call('settings.get', undefined)).context.nCtx).toBe(autoContext);
  // one that is long enough is left alone, and a shorter wish takes nothing back
  await call('settings.update', { apply: { atLeast: 4096 } });
  await call('engine.reload', undefined);
  expect(asked()).toEqual([undefined, 16_384, 16_384]);
  await call('models.select', { modelId: await addModel() });
  expect(asked().at(-1)).toBeUndefined();
  await call('models.select', { modelId });
  expect(asked().at(-1)).toBe(16_384);
  transports.at(-1)?.exit({ code: null, signal: 'SIGKILL' });
  await vi.waitFor(() => expect(services.engine.status().restarts).toBe(1), { timeout: 60_000 });
  await state('ready');
  expect(asked().at(-1)).toBeUndefined();
});
