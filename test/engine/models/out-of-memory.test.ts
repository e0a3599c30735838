/**
 * Allocations that really fail, under a limit on what this process may allocate: the engine names the part, frees what it had
 * and works on. Linux only: the limit is that of `prlimit --data`, which counts private memory (files that are mapped are
 * not) and can be lifted again.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { contextSettingsSchema } from '@/electron/contract/settings';
import { dense, writeShape } from '../shapeParts';
import { mamba, shapeOf } from '../shapes';
import {
  collectGarbage,
  contextOptions,
  engine,
  engineServer,
  noCalibration,
  refusal,
  temporaryFolder,
} from '../support';

const MiB = 1024 * 1024;
/** Node's own memory grows meanwhile, beside its garbage */
const slack = 48 * MiB;

function limitData(bytes: number | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--data=${bytes}:`]);
}

async function withSpare<T>(bytes: number, task: () => Promise<T>): Promise<T> {
  limitData(statusOf('VmData') + Math.round(bytes));
  try {
    return await task();
  } finally {
    limitData('unlimited');
  }
}

function statusOf(key: 'VmData' | 'RssAnon'): number {
  collectGarbage();
  const kib = new RegExp(`^${key}:\\s+(\\d+) kB$`, 'm').exec(fs.readFileSync('/proc/self/status', 'utf8'))?.[1];
  return Number(kib) * 1024;
}

describe.runIf(process.platform === 'linux')('an allocation that fails', () => {
  it('names the KV cache or the compute buffers, and the model still works', async () => {
    const file = writeShape(temporaryFolder(), shapeOf('llama-3.1-8b'));
    const options = contextOptions({ nCtx: 65_536 });
    const { kvK, kvV, compute } = await engine().estimate(file, { gpuLayers: 0 }, options);
    const model = await engine().loadModel(file, { gpuLayers: 0 });
    onTestFinished(() => model.dispose());
    const before = statusOf('RssAnon');

    const cache = await withSpare((kvK + kvV) / 2, () => refusal(model.createContext(options)));
    const size = (kvK + kvV) / MiB;
    expect(cache).toMatchObject({
      code: 'out-of-memory',
      message: expect.stringContaining(`The KV cache of ${size} MiB could not be allocated`),
      hint: expect.stringContaining('shorter context'),
    });
    const buffers = await withSpare(kvK + kvV + compute / 2, () => refusal(model.createContext(options)));
    expect(buffers).toMatchObject({
      code: 'out-of-memory',
      message: expect.stringMatching(/^The compute buffers of \d+ MiB could not be allocated/),
    });
    // the cache was allocated and written by then
    expect(statusOf('RssAnon') - before).toBeLessThan(slack);

    const context = await model.createContext(contextOptions({ nCtx: 512 }));
    expect(context.effective.nCtx).toBe(512);
  });

  it('names the recurrent state of a model that has one', async () => {
    // 256 MiB: with much less to spare than upstream's own small allocations need, those would end the process
    const file = writeShape(temporaryFolder(), mamba(32_768));
    const model = await engine().loadModel(file, { gpuLayers: 0 });
    onTestFinished(() => model.dispose());
    const error = await withSpare(128 * MiB, () => refusal(model.createContext(contextOptions({ nCtx: 512 }))));
    expect(error).toMatchObject({
      code: 'out-of-memory',
      message: expect.stringMatching(/^The recurrent state of 25\d MiB could not be allocated/),
    });
  });

  it('names the weights, where they are repacked', async () => {
    const sizes = { layers: 2, embd: 512, heads: 4, headsKv: 4, headDim: 128, ff: 131_072, type: 2 };
    const file = writeShape(temporaryFolder(), dense('wide-q4_0', 'llama', sizes));
    const before = statusOf('RssAnon');
    const load = () => engine().loadModel(file, { gpuLayers: 0 });
    const error = await withSpare(128 * MiB, async () =>
      load().then(
        (model) => model.dispose(),
        (failure) => failure,
      ),
    );
    // a processor without a repacked layout maps them all, and nothing fails
    if (error === undefined) return;
    expect(error).toMatchObject({
      code: 'out-of-memory',
      message: expect.stringMatching(/^A buffer for the weights of \d+ MiB could not be allocated/),
      hint: expect.stringContaining('smaller model'),
    });
    expect(statusOf('RssAnon') - before).toBeLessThan(slack);
    await (await load()).dispose();
  });

  it('by a forced load: the engine process says so, is empty, gives the memory back, and loads again', async () => {
    const { handlers } = engineServer();
    const path = writeShape(temporaryFolder(), shapeOf('llama-3.1-8b'));
    const context = contextSettingsSchema.parse({ nCtx: 65_536, typeK: 'f16', typeV: 'f16', threads: 1, gpuLayers: 0 });
    const before = statusOf('RssAnon');
    const error = await withSpare(256 * MiB, () =>
      refusal(handlers.load({ path, context, calibration: noCalibration, force: true })),
    );
    expect(error).toMatchObject({ code: 'out-of-memory', message: expect.stringMatching(/^The KV cache of 512 MiB/) });
    expect(await handlers.memory(undefined)).toMatchObject({ memory: null });
    expect(statusOf('RssAnon') - before).toBeLessThan(slack);
    const loaded = await handlers.load({ path, context: { ...context, nCtx: 512 }, calibration: noCalibration });
    expect(loaded.context.nCtx).toBe(512);
  });
});
