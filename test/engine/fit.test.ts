/** Whether it fits: the operation and the load check of the engine process, which must agree, over real dry runs. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { createEngineServer } from '../../electron/engine/server';
import { contextFitSchema } from '../../electron/shared/fit';
import { type ContextSettings, contextSettingsSchema } from '../../electron/shared/settings';
import { engine, tinyModel } from './support';

const calibration = { folder: '/none', textFile: '/none/text.txt' };

function server() {
  const { handlers, close } = createEngineServer(engine, { frame: () => undefined, loadProgress: () => undefined });
  onTestFinished(close);
  return handlers;
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
