/**
 * A model that its devices cannot hold whole: where upstream's fit puts the layers, devices being workers of this machine that are said
 * to have little memory. What is planned is what is allocated, and the model says what it says in one process.
 */
import path from 'node:path';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { contextFitSchema } from '@/electron/contract/fit';
import type { WorkerDevice } from '@/electron/contract/lib/domains/workers';
import { type ContextSettings, contextSettingsSchema } from '@/electron/contract/settings';
import { reserveOf } from '@/electron/engine/fit/budgets';
import type { Context, Model, Spread } from '@/electron/engine/native/types';
import { createInspectorHandlers } from '@/electron/engine/server';
import { writeMixture } from '../mixture';
import { bundleProcesses } from '../processes';
import {
  answer,
  contextOptions,
  engine,
  engineServer,
  engineWithFree,
  greedy,
  noCalibration,
  question,
  refusal,
  temporaryFolder,
  tinyModel,
} from '../support';
import { devicesOf, furthest, logProbabilities, startWorkers } from './workers';

bundleProcesses();
afterEach(() => vi.restoreAllMocks());

const MiB = 2 ** 20;
/** layers, that of the output among them; both models have eight and that one */
const all = 9;
const options = contextOptions({ typeK: 'turbo4', typeV: 'turbo4', nCtx: 1024, batch: 64 });

type Device = { name: string; kind: string; weights: number; context: number; compute: number };
const bytesOf = ({ weights, context, compute }: Device) => weights + context + compute;
const away = (devices: readonly Device[]) => devices.filter(({ kind }) => kind === 'worker');
const roomsOf = (workers: readonly WorkerDevice[], bytes: number) =>
  workers.map(({ name }) => ({ device: name, bytes }));

async function loaded(file: string, spread: Spread): Promise<{ model: Model; context: Context }> {
  const model = await engine().loadModel(file, spread);
  onTestFinished(() => model.dispose());
  return { model, context: await model.createContext(options) };
}

const logits = (running: { model: Model; context: Context }) => logProbabilities(running, 600, 96);

function expectSame(values: Float32Array, others: Float32Array): void {
  expect(values.length).toBeGreaterThan(0);
  expect(furthest(values, others)).toBeLessThan(1e-3);
}

/** Caches and weights to the byte, all of it within 10%. */
function expectAllocated(made: readonly Device[], planned: readonly Device[]): void {
  expect(made.map(({ name }) => name).sort()).toEqual(planned.map(({ name }) => name).sort());
  for (const device of made) {
    const plan = planned.find(({ name }) => name === device.name) as Device;
    expect(plan).toMatchObject({ weights: device.weights, context: device.context });
    expect(Math.abs(bytesOf(plan) - bytesOf(device))).toBeLessThan(bytesOf(device) / 10);
  }
}

it('a dense model: fewer layers, each device within its room, and the same answers', async () => {
  const workers = await devicesOf(await startWorkers(2));
  const asked = { gpuLayers: -1, workers };
  const whole = away((await engine().estimate(tinyModel, { gpuLayers: all, workers }, options)).devices);
  const room = Math.floor(Math.max(...whole.map(bytesOf)) / 2);
  const { spread, placement } = await engine().fit(tinyModel, asked, options, roomsOf(workers, room));
  expect(placement).toMatchObject({ layers: all, expertsInRam: 0, expertsInPart: 0, workers: true });
  expect(placement.gpuLayers).toBeGreaterThan(1);
  expect(placement.gpuLayers).toBeLessThan(all);
  const { devices } = await engine().estimate(tinyModel, spread, options);
  expect(away(devices)).toHaveLength(2);
  for (const device of away(devices)) expect(bytesOf(device)).toBeLessThanOrEqual(room);
  // the same question has the same answer
  expect((await engine().fit(tinyModel, asked, options, roomsOf(workers, room))).spread).toEqual(spread);

  const alone = await loaded(tinyModel, { gpuLayers: 0 });
  const split = await loaded(tinyModel, spread);
  expectAllocated(split.context.memory().devices, devices);
  expectSame(await logits(alone), await logits(split));
  const said = await answer(split.context, question(), greedy({ maxTokens: 8 }));
  expect(said.result.text).toBe((await answer(alone.context, question(), greedy({ maxTokens: 8 }))).result.text);
});

it('a mixture: attention and cache of all layers away, experts of some in RAM, found or chosen', async () => {
  const file = path.join(temporaryFolder(), 'mixture.gguf');
  const expertBytes = writeMixture(file);
  const workers = (await devicesOf(await startWorkers(1))).map((one) => ({ ...one, free: 2 ** 40 }));
  const whole = away((await engine().estimate(file, { gpuLayers: all, workers }, options)).devices);
  // without the experts of three layers and a half
  const room = Math.floor(whole.reduce((sum, one) => sum + bytesOf(one), 0) - 3.5 * expertBytes);
  const { spread, placement } = await engine().fit(file, { gpuLayers: -1, workers }, options, roomsOf(workers, room));
  expect(placement).toEqual({ layers: all, gpuLayers: all, expertsInRam: 5, expertsInPart: 1, workers: true });
  const { devices } = await engine().estimate(file, spread, options);
  for (const device of away(devices)) expect(bytesOf(device)).toBeLessThanOrEqual(room);
  // the cache is where it was
  expect(away(devices).map(({ context }) => context)).toEqual(whole.map(({ context }) => context));

  const chosen = { gpuLayers: all, expertsInRam: 4, workers };
  const own = await engine().estimate(file, chosen, options);
  const weightsOf = (of: readonly Device[]) => away(of).reduce((sum, { weights }) => sum + weights, 0);
  expect(weightsOf(own.devices)).toBe(weightsOf(whole) - 4 * expertBytes);

  const alone = await logits(await loaded(file, { gpuLayers: 0 }));
  for (const one of [spread, chosen]) {
    const split = await loaded(file, one);
    expectAllocated(split.context.memory().devices, (await engine().estimate(file, one, options)).devices);
    expectSame(alone, await logits(split));
  }
});

it('shares that were chosen', async () => {
  const workers = await devicesOf(await startWorkers(2));
  const spread = { gpuLayers: 8, shares: [3, 1], workers };
  const { devices } = await engine().estimate(tinyModel, spread, options);
  const cacheAt = (index: number) => devices.find(({ name }) => name === workers[index]?.name)?.context ?? 0;
  // six layers, and one with the output layer
  expect(cacheAt(0)).toBe(6 * cacheAt(1));
  expect(cacheAt(1)).toBeGreaterThan(0);
});

it('where all fits, all layers, in numbers: what a machine without a GPU keeps by itself is not asked for again', async () => {
  const workers = await devicesOf(await startWorkers(2));
  const asked = { gpuLayers: -1, workers };
  const { spread } = await engine().fit(tinyModel, asked, options, roomsOf(workers, 2 ** 30));
  expect(spread).toMatchObject({ gpuLayers: all, shares: [2 ** 30, 2 ** 30], found: true });
  const { devices } = await engine().estimate(tinyModel, spread, options);
  expect(away(devices)).toHaveLength(2);

  // most of it is for the RAM, which has no room for it
  const inspector = createInspectorHandlers(engine);
  const { handlers } = engineServer();
  const { ram, ...rest } = await handlers.machineMemory(undefined);
  const machine = { ...rest, ram: { ...ram, free: reserveOf('ram', ram.total) + 60 * MiB } };
  const context = contextSettingsSchema.parse({
    threads: 1,
    speculation: 'off',
    nCtx: 8192,
    typeK: 'f16',
    typeV: 'f16',
  });
  const fit = await inspector.fit({ path: tinyModel, context, workers, machine });
  expect(fit).toMatchObject({ fits: true, placement: { gpuLayers: all, layers: all } });
});

it('the load does as the window and the settings say', async () => {
  const fronts = await startWorkers(1);
  // by memory, this machine would keep most of the layers
  vi.spyOn(engine(), 'capabilities').mockReturnValue({ ...engine().capabilities(), totalMemoryBytes: 1 });
  const total = 2 ** 30;
  const lent = async (room: number) =>
    (await devicesOf(fronts)).map((one) => ({ ...one, total, free: room + reserveOf('worker', total) }));
  const inspector = createInspectorHandlers(engine);
  const { handlers } = engineServer({}, {}, engineWithFree(4096 * MiB));
  const settings = (changes: Partial<ContextSettings> = {}) =>
    contextSettingsSchema.parse({ threads: 1, speculation: 'off', nCtx: 4096, batch: 64, ...changes });
  const machine = await handlers.machineMemory(undefined);
  const ask = async (room: number, context: ContextSettings) => {
    const answer = await inspector.fit({ path: tinyModel, context, workers: await lent(room), machine });
    return contextFitSchema.parse(answer);
  };

  const roomy = await ask(512 * MiB, settings());
  expect(roomy.placement).toBeUndefined();
  const tight = await ask(16 * MiB, settings());
  expect(tight.fits).toBe(true);
  const { placement, devices = [] } = tight;
  expect(placement?.gpuLayers).toBeGreaterThan(0);
  expect(placement?.gpuLayers).toBeLessThan(all);

  const workers = await lent(16 * MiB);
  const { context, memory } = await handlers.load({
    ...{ path: tinyModel, context: settings(), calibration: noCalibration, workers },
  });
  expect(context).toMatchObject({ placement, gpuLayers: placement?.gpuLayers, gpuLayersAsked: -1 });
  const there = away(devices)[0];
  expect(memory.workers).toMatchObject([{ weights: there?.weights, context: there?.context }]);

  // what was chosen is not changed: it does not fit, and says so
  const chosen = settings({ gpuLayers: all });
  expect(await ask(16 * MiB, chosen)).toMatchObject({ fits: false });
  const refused = handlers.load({ path: tinyModel, context: chosen, calibration: noCalibration, workers });
  expect(await refusal(refused)).toMatchObject({ code: 'out-of-memory', message: expect.stringContaining('worker 0') });
  // Auto: no length fits there whole
  const auto = await ask(16 * MiB, settings({ nCtx: 0 }));
  expect(auto).toMatchObject({ fits: true, auto: { nCtx: 8192, end: 'placed' } });
  // no room at all: in RAM
  expect(await ask(0, settings())).toMatchObject({ fits: true, placement: { gpuLayers: 0 } });
});
