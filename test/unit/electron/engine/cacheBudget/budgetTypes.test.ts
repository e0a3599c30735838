/** From a budget to a list: what the model's own rules leave of the types, and what is refused. */
import { describe, expect, it } from 'vitest';
import type { CacheLayer } from '@/electron/contract/engine';
import { ConcertinaError } from '@/electron/contract/errors';
import type { CacheChoice } from '@/electron/contract/settings';
import { BudgetTooSmall, listedTypes } from '@/electron/engine/cacheBudget/budgetTypes';
import type { MemoryPlan } from '@/electron/engine/native/types';
import { plan as samplePlan } from '@/test/fixtures/samples';

const values = 4096;
const bits: Record<string, number> = {
  f16: 16,
  q8_0: 8.5,
  q5_0: 5.5,
  turbo4: 4.25,
  turbo3: 3.25,
  turbo4_64: 4.25,
  turbo3_64: 3.25,
};
const bytesAs = (type: string) => (values * (bits[type] ?? Number.NaN)) / 8;

/** A model of two layers whose rules say what a type becomes. */
function planner(become: (type: string, side: 'K' | 'V') => string = (type) => type, window = 0) {
  return async ({ typeK, typeV }: { typeK: CacheChoice; typeV: CacheChoice }): Promise<MemoryPlan> => {
    const [k, v] = [become(typeK, 'K'), become(typeV, 'V')];
    const layer = (i: number): CacheLayer => ({
      ...{ layer: i, typeK: k, typeV: v, bytesK: bytesAs(k), bytesV: bytesAs(v) },
    });
    const cacheLayers = [layer(0), layer(1)];
    return { ...samplePlan, kvK: 2 * bytesAs(k) + window, kvV: 2 * bytesAs(v), cacheLayers };
  };
}

const both = <T extends CacheChoice>(budget: T) => ({ typeK: budget, typeV: budget });
const prices = async () => ({ K: [1, 9], V: [2, 1] });
const unmeasured = async () => null;

describe('listedTypes', () => {
  it('names a type for each layer and side, by price, for bits and for bytes', async () => {
    const expected = { typeK: 'auto:3.5=turbo3,turbo4', typeV: 'auto:3.5=turbo3,turbo3' };
    expect(await listedTypes(both('auto:3.5'), planner(), prices)).toEqual(expected);
    const megabytes = { typeK: 'auto:0.008MiB=turbo3,q5_0', typeV: 'auto:0.008MiB=turbo4,turbo3' };
    expect(await listedTypes(both('auto:0.008MiB'), planner(), prices)).toEqual(megabytes);
  });

  it('leaves the room of recent tokens at 8 bits in a number of bytes', async () => {
    const window = 0.001 * 1024 ** 2;
    const less = await listedTypes(both('auto:0.008MiB'), planner(undefined, window), prices);
    const alone = await listedTypes(both('auto:0.007MiB'), planner(), prices);
    expect(less.typeK.split('=')[1]).toBe(alone.typeK.split('=')[1]);
    expect(less).not.toEqual(await listedTypes(both('auto:0.008MiB'), planner(), prices));
    const bits = await listedTypes(both('auto:3.5'), planner(undefined, window), prices);
    expect(bits).toEqual(await listedTypes(both('auto:3.5'), planner(), prices));
  });

  it('is f16 where that fits', async () => {
    expect(await listedTypes(both('auto:16'), planner(), unmeasured)).toEqual({
      typeK: 'auto:16=f16',
      typeV: 'auto:16=f16',
    });
  });

  it('asks for nothing smaller than what a model gets in place of a type that breaks it', async () => {
    const bias = planner((type, side) => (side === 'K' && type.startsWith('turbo') ? 'q8_0' : type));
    expect(await listedTypes(both('auto:6'), bias, unmeasured)).toEqual({
      typeK: 'auto:6=q8_0,q8_0',
      typeV: 'auto:6=turbo3,turbo3',
    });
    await expect(listedTypes(both('auto:5.8'), bias, unmeasured)).rejects.toThrow(/auto:5.8.*at least.*5\.88 bits/);
  });

  it('takes the layouts for heads of 64 values for what they are', async () => {
    const small = planner((type) => (type.startsWith('turbo') ? `${type}_64` : type));
    await expect(listedTypes(both('auto:3.5'), small, prices)).resolves.toMatchObject({
      typeV: 'auto:3.5=turbo3,turbo3',
    });
  });

  it('leaves out a type that the heads do not divide into, and says other failures', async () => {
    const failing =
      (code: 'cache-type-unsupported' | 'model-invalid') => (types: { typeK: CacheChoice; typeV: CacheChoice }) =>
        types.typeK === 'q5_0' ? Promise.reject(new ConcertinaError(code, 'no')) : planner()(types);
    await expect(listedTypes(both('auto:8'), failing('cache-type-unsupported'), unmeasured)).resolves.toMatchObject({
      typeV: expect.not.stringContaining('q5_0'),
    });
    await expect(listedTypes(both('auto:8'), failing('model-invalid'), unmeasured)).rejects.toThrow('no');
  });

  it('refuses what is too small, with what is missing, and a budget for one side', async () => {
    const tooSmall = await listedTypes(both('auto:3'), planner(), unmeasured).catch((error: unknown) => error);
    expect(tooSmall).toBeInstanceOf(BudgetTooSmall);
    expect((tooSmall as BudgetTooSmall).missing).toBeCloseTo((4 * values * 0.25) / 8);
    expect((tooSmall as BudgetTooSmall).code).toBe('context-invalid');
    await expect(listedTypes({ typeK: 'turbo4', typeV: 'auto:4' }, planner(), unmeasured)).rejects.toThrow(
      'A budget (auto:4) is for K and V together.',
    );
    await expect(listedTypes({ typeK: 'auto:5', typeV: 'auto:4' }, planner(), unmeasured)).rejects.toThrow(/auto:5/);
  });
});
