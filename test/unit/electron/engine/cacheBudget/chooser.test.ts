/** Types for a budget: what is taken first, that the bytes hold, and that nothing uniform of those bytes is better. */
import { describe, expect, it } from 'vitest';
import {
  type BudgetLayer,
  type BudgetType,
  budgetTypes,
  type ChosenTypes,
  chooseTypes,
  smallestBytes,
  typeErrors,
} from '@/electron/engine/cacheBudget/chooser';

const bits: Record<BudgetType, number> = { turbo3: 3.25, turbo4: 4.25, q5_0: 5.5, q8_0: 8.5 };
const values = 1024;
const bytesAs = (type: BudgetType) => (values * bits[type]) / 8;
const side = (price: number, types: readonly BudgetType[] = budgetTypes) => ({
  price,
  options: types.map((type) => ({ type, bytes: bytesAs(type) })),
});
const layersOf = (prices: readonly (readonly [k: number, v: number])[]): BudgetLayer[] =>
  prices.map(([k, v]) => ({ K: side(k), V: side(v) }));
const budgetOf = (layers: readonly unknown[], average: number) => (2 * layers.length * values * average) / 8;
const harmOf = (layers: readonly BudgetLayer[], { K, V }: Pick<ChosenTypes, 'K' | 'V'>) =>
  layers.reduce(
    (sum, layer, i) =>
      sum + layer.K.price * typeErrors[K[i] as BudgetType] + layer.V.price * typeErrors[V[i] as BudgetType],
    0,
  );

describe('chooseTypes', () => {
  it('spends first where it takes most harm away', () => {
    const layers = layersOf([
      [1, 9],
      [5, 1],
    ]);
    // a bit more for one side of four
    const chosen = chooseTypes(layers, budgetOf(layers, 3.5));
    expect(chosen).toEqual({ K: ['turbo3', 'turbo3'], V: ['turbo4', 'turbo3'], bytes: budgetOf(layers, 3.5) });
    expect(chooseTypes(layers, budgetOf(layers, 3.75))).toMatchObject({
      K: ['turbo3', 'turbo4'],
      V: ['turbo4', 'turbo3'],
    });
  });

  it('never takes more bytes than it was given, and uses them as far as a step fits', () => {
    const layers = layersOf([
      [3, 2],
      [1, 7],
      [4, 4],
    ]);
    const smallestStep = bytesAs('turbo4') - bytesAs('turbo3');
    for (let average = 3.25; average < 8.5; average += 0.07) {
      const chosen = chooseTypes(layers, budgetOf(layers, average));
      expect(chosen?.bytes).toBeLessThanOrEqual(budgetOf(layers, average));
      const left = budgetOf(layers, average) - (chosen?.bytes ?? 0);
      const steps = [...(chosen?.K ?? []), ...(chosen?.V ?? [])].filter((type) => type === 'turbo3');
      if (steps.length > 0) expect(left).toBeLessThan(smallestStep);
    }
  });

  it('is uniform at the bytes of a uniform cache that nothing beats, and never worse than one of no more bytes', () => {
    const even = layersOf([
      [1, 1],
      [1, 1],
    ]);
    expect(chooseTypes(even, budgetOf(even, 3.25))).toMatchObject({ K: ['turbo3', 'turbo3'], V: ['turbo3', 'turbo3'] });
    expect(chooseTypes(even, budgetOf(even, 4.25))).toMatchObject({ K: ['turbo4', 'turbo4'], V: ['turbo4', 'turbo4'] });
    const uneven = layersOf([
      [40, 1],
      [0.1, 3],
      [2, 0],
      [0, 11],
    ]);
    for (const k of budgetTypes) {
      for (const v of budgetTypes) {
        const uniform = { K: uneven.map(() => k), V: uneven.map(() => v) };
        const chosen = chooseTypes(uneven, uneven.length * (bytesAs(k) + bytesAs(v)));
        expect(harmOf(uneven, chosen as ChosenTypes)).toBeLessThanOrEqual(harmOf(uneven, uniform));
      }
    }
  });

  it('keeps to what a side can have', () => {
    const layers: BudgetLayer[] = [{ K: side(100, ['q8_0']), V: side(1) }];
    expect(smallestBytes(layers)).toBe(bytesAs('q8_0') + bytesAs('turbo3'));
    expect(chooseTypes(layers, smallestBytes(layers))).toMatchObject({ K: ['q8_0'], V: ['turbo3'] });
    expect(chooseTypes(layers, smallestBytes(layers) - 1)).toBeNull();
  });
});
