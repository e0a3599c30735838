/** A model over workers says what it says in one process; its cache lies where its layers do, whatever its types, and as was estimated. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { WorkerDevice } from '@/electron/contract/lib/domains/workers';
import type { Context, Model } from '@/electron/engine/native/types';
import { bundleProcesses } from '../processes';
import {
  answer,
  contextOptions,
  engine,
  filler,
  greedy,
  question,
  refusal,
  temporaryFolder,
  tinyModel,
} from '../support';
import { devicesOf, furthest, logProbabilities, startWorkers } from './workers';

bundleProcesses();

/** layers, that of the output among them; the tiny model has eight and that one */
const all = 9;
const optionsOf = (type: string) => contextOptions({ typeK: type, typeV: type, nCtx: 1024, batch: 64 });

async function contextOver(workers: WorkerDevice[], type: string): Promise<{ model: Model; context: Context }> {
  const model = await engine().loadModel(tinyModel, { gpuLayers: workers.length > 0 ? all : 0, workers });
  onTestFinished(() => model.dispose());
  return { model, context: await model.createContext(optionsOf(type)) };
}

it.each([
  [2, 'turbo4'],
  [4, 'turbo3'],
  [2, 'f16'],
])('%i workers say the same with a cache of %s', async (count, type) => {
  const workers = await devicesOf(await startWorkers(count));
  const alone = await contextOver([], type);
  const split = await contextOver(workers, type);
  const { effective } = split.context;
  expect(effective.typeK.effective).toBe(alone.context.effective.typeK.effective);
  expect(effective.typeV.effective).toBe(alone.context.effective.typeV.effective);

  const estimate = await engine().estimate(tinyModel, { gpuLayers: all, workers }, optionsOf(type));
  const { devices } = split.context.memory();
  const here = devices.filter(({ kind }) => kind === 'worker').map(({ name }) => name);
  expect(here.sort()).toEqual(workers.map(({ name }) => name));
  for (const { name, kind, weights, context, compute } of devices) {
    const planned = estimate.devices.find((one) => one.name === name);
    expect(planned).toMatchObject({ weights, context });
    const taken = weights + context + compute;
    expect(Math.abs(weights + context + (planned?.compute ?? 0) - taken)).toBeLessThan(taken / 10);
    if (kind === 'worker') expect(context).toBeGreaterThan(0);
  }
  const reference = await logProbabilities(alone, 2000, 192);
  // from the likeliest tokens to the least likely ones
  expect(reference.filter((value) => value < -5).length).toBeGreaterThan(reference.length / 2);
  expect(furthest(reference, await logProbabilities(split, 2000, 192))).toBeLessThan(1e-3);
  const said = await answer(split.context, question(), greedy({ maxTokens: 16 }));
  expect(said.result.text).toBe((await answer(alone.context, question(), greedy({ maxTokens: 16 }))).result.text);

  // the cells that are read from the workers are those of one process
  const files = [alone, split].map(() => path.join(temporaryFolder(), 'cells'));
  for (const [i, { context }] of [alone, split].entries()) await context.saveSession(files[i] as string);
  const [own, theirs] = files.map((file) => fs.readFileSync(file));
  expect(theirs?.equals(own as Buffer)).toBe(true);
});

it('a machine without a GPU keeps a share of the layers, and says what a worker does without', async () => {
  const workers = await devicesOf(await startWorkers(1));
  const whole = workers.map((one) => ({ ...one, free: 2 * engine().capabilities().totalMemoryBytes }));
  const model = await engine().loadModel(tinyModel, { gpuLayers: -1, workers: whole });
  onTestFinished(() => model.dispose());
  const context = await model.createContext({ ...optionsOf('turbo4'), recentTokens: 256 });
  // two thirds of nine
  expect(context.effective).toMatchObject({ gpuLayers: 6, recent: { tokens: 0 } });
  expect(context.effective.recent.reason).toContain('worker');
});

it('a device that is no CPU is asked what it can compute', async () => {
  const front = (await startWorkers(1))[0];
  const workers = (await devicesOf(front ? [front] : [])).map((one) => ({ ...one, cpu: false }));
  const asked = vi.spyOn(front as unknown as { answerTo(line: string): unknown }, 'answerTo');
  const { devices } = await engine().estimate(tinyModel, { gpuLayers: all, workers }, optionsOf('turbo4'));
  expect(devices.find(({ kind }) => kind === 'worker')?.context).toBeGreaterThan(0);
  const before = asked.mock.calls.length;
  expect(before).toBeGreaterThan(0);
  const [alone, split] = [await contextOver([], 'turbo4'), await contextOver(workers, 'turbo4')];
  expect(split.context.effective.typeK.effective).toBe('turbo4');
  const said = await answer(split.context, question(), greedy({ maxTokens: 8 }));
  expect(said.result.text).toBe((await answer(alone.context, question(), greedy({ maxTokens: 8 }))).result.text);
  // a longer answer has the same operations
  const after = asked.mock.calls.length;
  await answer(split.context, question(), greedy({ maxTokens: 16 }));
  expect(asked.mock.calls.length - after).toBeLessThan(50);
});

it('a worker that is not there is an error, and not the end of the process', async () => {
  const front = (await startWorkers(1))[0];
  const workers = await devicesOf(front ? [front] : []);
  await front?.close();
  const loading = engine().loadModel(tinyModel, { gpuLayers: all, workers });
  expect(await refusal(loading)).toMatchObject({ code: 'worker-lost' });
  const model = await engine().loadModel(tinyModel, { gpuLayers: 0 });
  onTestFinished(() => model.dispose());
  const context = await model.createContext(optionsOf('turbo4'));
  expect((await answer(context, question(filler(1)), greedy({ maxTokens: 2 }))).result.text).not.toBe('');
});
