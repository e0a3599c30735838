/** What a comparison does with the memory of the chat: takes it when it must, and gives it back. */
import { expect, test, vi } from 'vitest';
import type { CompareRun } from '@/electron/contract/compare/compare';
import type { OperationInput } from '@/electron/contract/contract';
import { say } from '@/electron/contract/lib/language';
import type { CacheType } from '@/electron/contract/settings';
import { reserveOf } from '@/electron/engine/fit/budgets';
import { freeMemory } from '@/electron/engine/memory';
import type { Context, Engine, Model } from '@/electron/engine/native/types';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { deviceUse, plan } from '@/test/fixtures/samples';
import { setUpServices } from '@/test/fixtures/services';

const GiB = 1024 ** 3;
const contextBytes = 2 * GiB;
/** what the app leaves to everything else, on whatever machine this runs */
const reserve = reserveOf('ram', freeMemory([]).total);

/** Contexts of 2 GiB (q8_0: 4 GiB) on a machine with so much memory for them; `alive` counts them. */
function machineWith(free: number): { engine: Engine; alive: { now: number; most: number } } {
  const alive = { now: 0, most: 0 };
  const plain = createFakeEngine();
  const counted = (model: Model): Model => ({
    ...model,
    async createContext(options) {
      const context = await model.createContext(options);
      alive.most = Math.max(alive.most, ++alive.now);
      const dispose = async () => void alive.now--;
      return Object.assign(Object.create(context) as Context, { dispose });
    },
  });
  const engine: Engine = {
    ...plain,
    memories: () => [{ name: 'RAM', kind: 'ram', free: free + reserve - alive.now * contextBytes, total: 8 * GiB }],
    estimate: async (_path, _layers, { nCtx, typeK }) => {
      const context = typeK === 'q8_0' ? 2 * contextBytes : contextBytes;
      return { ...plan, nCtx, devices: [{ ...deviceUse, context }] };
    },
    loadModel: async (path, options) => counted(await plain.loadModel(path, options)),
  };
  return { engine, alive };
}

async function setUp(free: number) {
  const { engine, alive } = machineWith(free);
  const app = await setUpServices({ engine });
  alive.most = alive.now;
  const [model] = await app.call('models.list', undefined);
  async function compare(
    options: OperationInput<'compare.start'>['options'] = {},
    { modelId = model?.id ?? '', types = ['f16', 'turbo4'] as CacheType[] } = {},
  ) {
    const configurations = types.map((type) => ({ typeK: type, typeV: type, nCtx: 8192 }));
    const prompt = { kind: 'text' as const, text: 'one two three' };
    const { runId } = await app.call('compare.start', { modelId, prompt, configurations, options });
    return vi.waitFor(async () => {
      const run = await app.call('compare.get', { runId });
      if (run.state === 'running') throw new Error('not yet');
      return run;
    }, 4000);
  }
  const steps = () => app.payloads('onCompare').map(({ step }) => step);
  return { ...app, alive, compare, steps, model };
}

const states = (run: CompareRun) => run.columns.map(({ state }) => state);

test('with room beside it the chat stays as it is', async () => {
  const { alive, compare, services } = await setUp(6 * GiB);
  const run = await compare({ quality: null });
  expect({ state: run.state, notes: run.notes }).toEqual({ state: 'done', notes: [] });
  expect(alive).toEqual({ now: 1, most: 2 });
  expect(services.engine.status().state).toBe('ready');
});

test('without it the context of the chat is freed, and made again afterwards', async () => {
  const { alive, compare, services, steps, final, send } = await setUp(3.5 * GiB);
  const run = await compare();
  expect(run.state).toBe('done');
  expect(run.notes.join()).toContain('The memory of the chat was needed');
  expect(alive).toEqual({ now: 1, most: 1 });
  expect(steps()).toContain('restoring-chat');
  expect(services.engine.status()).toMatchObject({ state: 'ready', comparing: null, context: { nCtx: 8192 } });
  const { turn } = await send('hello');
  expect((await final(turn)).text).toBe('hello');
});

test('a column that does not fit at all is refused with the figures, and the others go on', async () => {
  const { compare, services } = await setUp(3.5 * GiB);
  const run = await compare({}, { types: ['q8_0', 'turbo4'] });
  expect(run).toMatchObject({ state: 'done', error: null });
  expect(states(run)).toEqual(['failed', 'done']);
  expect(run.columns[0]?.error).toMatchObject({
    code: 'out-of-memory',
    message: expect.stringContaining('4.0 GiB are needed'),
  });
  expect(run.columns[1]).toMatchObject({ answer: { text: 'one two three' }, agreement: null, difference: null });
  expect(services.engine.status().state).toBe('ready');
});

test('contexts take turns when all fit; at once only then, and the run says why not', async () => {
  const roomy = await setUp(8 * GiB);
  const turns = await roomy.compare({ rounds: 2, quality: null });
  expect(turns.columns.map(({ speed }) => speed?.interleaved)).toEqual([true, true]);
  expect(roomy.alive.most).toBe(3);
  const atOnce = await roomy.compare({ together: true, quality: null });
  expect(states(atOnce)).toEqual(['done', 'done']);

  const tight = await setUp(3.5 * GiB);
  const alone = await tight.compare({ rounds: 2, quality: null });
  expect(alone.columns.map(({ speed }) => speed?.interleaved)).toEqual([false, false]);
  expect(alone.columns[0]?.notes.join()).toContain('one column after another');
  const refused = await tight.compare({ together: true });
  expect(refused).toMatchObject({ state: 'failed', error: { code: 'out-of-memory' } });
  const { configurations } = refused.request;
  const modelId = tight.model?.id ?? '';
  const planned = await tight.call('compare.estimate', { modelId, configurations });
  expect(planned).toMatchObject({ together: { fits: false }, columns: [{ problem: '' }, { problem: '' }] });
});

test('another model is compared, and the one before it is loaded again', async () => {
  const { addModel, compare, services, alive } = await setUp(6 * GiB);
  const before = services.engine.status().modelId;
  const run = await compare({}, { modelId: await addModel() });
  expect(run).toMatchObject({ state: 'done', model: { fileName: 'other.gguf' } });
  expect(services.engine.status()).toMatchObject({ state: 'ready', modelId: before });
  expect(services.settings.get().modelId).toBeNull();
  expect(alive).toEqual({ now: 1, most: 1 });
});

test('a check is as deep as f16 fits, and one that a person wants deeper says how deep it could be', async () => {
  const MiB = 1024 ** 2;
  const engine: Engine = {
    ...createFakeEngine(),
    memories: () => [{ name: 'RAM', kind: 'ram', free: 6 * GiB + reserve, total: 8 * GiB }],
    estimate: async (_path, _layers, { nCtx, typeK }) => {
      const context = typeK === 'f16' ? nCtx * MiB : 0;
      return { ...plan, nCtx, devices: [{ ...deviceUse, weights: 0, mapped: 0, compute: 0, context }] };
    },
  };
  const { call, payloads } = await setUpServices({ engine });
  const [model] = await call('models.list', undefined);
  const question = { modelId: model?.id ?? '' };
  const found = await call('compare.planCheck', question);
  expect(found).toMatchObject({ depth: 6144, problem: '' });
  expect(found.configurations.every(({ nCtx }) => nCtx === 6144)).toBe(true);
  const deeper = { ...question, depth: 8192 };
  const { problem } = await call('compare.planCheck', deeper);
  expect(say(problem)).toMatch(/^A context of 8,192 tokens with f16, .* 6,144 tokens would\.$/);
  await expect(call('compare.check', deeper)).rejects.toMatchObject({ code: 'context-invalid' });
  expect(payloads('onCompare')).toEqual([]);
});
