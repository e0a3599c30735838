/** Whether it fits: the operation of the inspector and the load check of the engine, which must agree, over real dry runs. */
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FitRequest } from '@/electron/contract/engineContract';
import { contextFitSchema } from '@/electron/contract/fit';
import { type ContextSettings, contextSettingsSchema } from '@/electron/contract/settings';
import { createInspectorHandlers } from '@/electron/engine/server';
import { writeGguf } from '../gguf';
import { dense, writeShape } from '../shapeParts';
import { shapeOf } from '../shapes';
import { engine, engineServer, engineWithFree, noCalibration, refusal, temporaryFolder, tinyModel } from '../support';

const calibration = noCalibration;
const machine = engineWithFree(os.totalmem() / 2);

function server(of = machine) {
  const { handlers } = engineServer({}, {}, of);
  const inspector = createInspectorHandlers(engine);
  // as the app asks: with the engine's view of the machine
  const fit = async (question: FitRequest) =>
    inspector.fit({ ...question, machine: await handlers.machineMemory(undefined) });
  return { ...handlers, estimate: inspector.estimate, fit };
}

const settings = (changes: Partial<ContextSettings> = {}) =>
  contextSettingsSchema.parse({ threads: 1, typeK: 'f16', typeV: 'f16', gpuLayers: 0, ...changes });

describe('fit', () => {
  it('agrees with the load: parts, budgets and marks', async () => {
    const handlers = server();
    const context = settings({ nCtx: 4096, typeV: 'turbo3' });
    const fit = contextFitSchema.parse(await handlers.fit({ path: tinyModel, context }));
    const { memory } = await handlers.load({ path: tinyModel, context, calibration });
    const { weights, kvK, kvV, kvF16, compute } = memory;
    expect(fit.estimate).toMatchObject({ weights, kvK, kvV, kvF16, compute });
    expect(fit).toMatchObject({ fits: true, trained: 8192 });
    expect(fit.budgets[0]).toMatchObject({ kind: 'ram', needed: weights + kvK + kvV + compute });
    expect(fit.marks.map(({ typeK, typeV, nCtx }) => [typeK, typeV, nCtx])).toEqual([
      ['f16', 'turbo3', 8192],
      ...['f16', 'q8_0', 'turbo4', 'turbo3'].map((type) => [type, type, 8192]),
    ]);
    const short = await handlers.fit({ path: tinyModel, context, longest: 3000 });
    expect(new Set(short.marks.map(({ nCtx }) => nCtx))).toEqual(new Set([2816]));
  });

  it('counts what requests of the API leave behind up to what is left, and the slots', async () => {
    const context = settings({ nCtx: 4096 });
    const api = { slots: 4, options: [] };
    const roomy = server();
    const fit = await roomy.fit({ path: tinyModel, context, api });
    expect(fit.estimate.promptCache).toBe(2 ** 30);
    expect(fit.marks).toEqual(
      (await roomy.fit({ path: tinyModel, context })).marks.map((mark) => ({ ...mark, bytes: expect.any(Number) })),
    );
    const { memory } = await roomy.load({ path: tinyModel, context, calibration, api });
    const { weights, kvK, kvV, compute, promptCache } = memory;
    expect(fit.estimate).toMatchObject({ weights, kvK, kvV, compute, promptCache });

    const [budget] = fit.budgets;
    const spare = 300 * 2 ** 20;
    const free = os.totalmem() / 2 - (budget?.available ?? 0) + (budget?.needed ?? 0) + spare;
    const tight = server(engineWithFree(free));
    const less = await tight.fit({ path: tinyModel, context, api });
    expect(less).toMatchObject({ fits: true, estimate: { promptCache: spare } });
    const asked = { ...api, options: ['--cache-ram', '301'] };
    expect(await tight.fit({ path: tinyModel, context, api: asked })).toMatchObject({ fits: false });
    expect(await refusal(tight.load({ path: tinyModel, context, calibration, api: asked }))).toMatchObject({
      code: 'out-of-memory',
    });
    expect((await tight.load({ path: tinyModel, context, calibration, api })).memory.promptCache).toBe(spare);
  });

  it('a newer question of the same view ends the older one', async () => {
    const handlers = server();
    const ask = (nCtx: number, asker: string) => handlers.fit({ path: tinyModel, context: settings({ nCtx }), asker });
    const [old, newer, other] = await Promise.allSettled([ask(600, 'a'), ask(700, 'a'), ask(800, 'b')]);
    expect(old).toMatchObject({ status: 'rejected', reason: { code: 'cancelled' } });
    expect(newer.status).toBe('fulfilled');
    expect(other.status).toBe('fulfilled');
  });

  it('leaves types out that the model cannot have', async () => {
    const context = settings({ flashAttention: 'off' });
    const { marks } = await server().fit({ path: tinyModel, context });
    expect(marks.map(({ typeK, effectiveV }) => [typeK, effectiveV])).toEqual([
      ['f16', 'f16'],
      ['f16', 'f16'],
      ['turbo4', 'f16'],
      ['turbo3', 'f16'],
    ]);
  });
});

describe('the load check', () => {
  const sizes = { layers: 1, embd: 256, heads: 32, headsKv: 32, headDim: 128 };

  it('refuses a model that is larger than the memory before it is read', async () => {
    const bytesOfRow = 3 * 256 * (34 / 32);
    const ff = Math.ceil((2 * os.totalmem()) / bytesOfRow / 32) * 32;
    const file = writeShape(temporaryFolder(), dense('huge', 'llama', { ...sizes, ff }));
    expect((await engine().inspect(file)).fileBytes).toBeGreaterThan(2 * os.totalmem());
    const error = await refusal(server().load({ path: file, context: settings(), calibration }));
    expect(error).toMatchObject({
      code: 'out-of-memory',
      message: expect.stringMatching(
        /^The weights do not fit into RAM: [\d.]+ GiB are needed \(weights [\d.]+ GiB, KV cache/,
      ),
      hint: expect.stringContaining('smaller model'),
    });
  });

  it('refuses a context that does not fit, agrees with the marks, and leaves what was loaded', async () => {
    // 2 GiB of cache a layer at 131072 tokens
    const layers = Math.ceil((6 * os.totalmem()) / 2 ** 31);
    const file = writeShape(temporaryFolder(), dense('deep', 'llama', { ...sizes, layers }));
    const handlers = server();
    const loaded = await handlers.load({ path: tinyModel, context: settings(), calibration });
    const context = settings({ nCtx: 131_072 });
    const { fits, budgets, marks } = await handlers.fit({ path: file, context });
    expect(fits).toBe(false);
    expect(budgets[0]?.needed).toBeGreaterThan(budgets[0]?.available ?? 0);
    const lengths = ['f16', 'q8_0', 'turbo4', 'turbo3'].map(
      (type) => marks.findLast(({ typeK }) => typeK === type)?.nCtx ?? 0,
    );
    expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
    expect(new Set(lengths).size).toBe(4);
    for (const { nCtx, typeK, typeV, bytes } of marks) {
      const at = (length: number) =>
        handlers.estimate({ path: file, context: { ...context, nCtx: length, typeK, typeV } });
      const total = async (length: number) => {
        const { weights, kvK, kvV, compute } = await at(length);
        return weights + kvK + kvV + compute;
      };
      expect(bytes).toBe(await total(nCtx));
      expect(bytes).toBeLessThanOrEqual(budgets[0]?.available ?? 0);
      expect(await total(nCtx + 256)).toBeGreaterThan(budgets[0]?.available ?? 0);
    }
    const error = await refusal(handlers.load({ path: file, context, calibration }));
    expect(error).toMatchObject({
      code: 'out-of-memory',
      message: expect.stringMatching(/^The KV cache does not fit into RAM/),
    });
    const { weights, kvK } = loaded.memory;
    expect((await handlers.memory(undefined)).memory).toMatchObject({ weights, kvK });
  });

  it.each(['deepseek-v2', 'jamba', 'gemma-3-1b'])('%s: marks and parts of other kinds of caches', async (name) => {
    const file = writeShape(temporaryFolder(), shapeOf(name));
    const { marks, trained, fits } = contextFitSchema.parse(
      await server().fit({ path: file, context: settings({ nCtx: 2048 }), longest: 16_384 }),
    );
    expect({ trained, fits }).toEqual({ trained: 131_072, fits: true });
    expect(marks.every(({ nCtx, bytes }) => nCtx === 16_384 && bytes > 0)).toBe(true);
  });

  it('an architecture that is not known is an error with a code, for every question', async () => {
    const file = path.join(temporaryFolder(), 'model.gguf');
    writeGguf(file, { 'general.architecture': 'abacus' }, [{ name: 'token_embd.weight', shape: [8, 4] }]);
    const handlers = server();
    const context = settings();
    const error = { code: 'model-unsupported', message: expect.stringContaining('abacus') };
    expect(await refusal(handlers.estimate({ path: file, context }))).toMatchObject(error);
    expect(await refusal(handlers.fit({ path: file, context }))).toMatchObject(error);
    expect(await refusal(handlers.load({ path: file, context, calibration }))).toMatchObject(error);
  });
});
