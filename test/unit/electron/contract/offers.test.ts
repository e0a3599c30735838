import { describe, expect, test } from 'vitest';
import { type Budget, type ContextFit, changeOf, type FitMark, offersOf, shortBudget } from '@/electron/contract/fit';
import type { CacheType } from '@/electron/contract/settings';

const asked = { typeK: 'f16', typeV: 'f16', nCtx: 32_768 } as const;

function mark(type: CacheType, nCtx: number, effective: string = type): FitMark {
  return { typeK: type, typeV: type, effectiveK: effective, effectiveV: effective, nCtx, bytes: nCtx * 1000 };
}

function budget(needed: number, available: number): Budget {
  return { kind: 'ram', name: 'RAM', needed, available, total: available * 2 };
}

function fitOf(marks: FitMark[], fits = false): ContextFit {
  const type = { asked: 'f16', effective: 'f16', reason: '' };
  const estimate = { weights: 1, kvK: 1, kvV: 1, kvF16: 2, compute: 1, typeK: type, typeV: type };
  return { estimate, fits, budgets: [budget(2, 1)], trained: 131_072, marks };
}

describe('offersOf', () => {
  test('offers types that fit at the asked length, and the length that fits with the asked types', () => {
    const marks = [
      mark('f16', 12_288),
      mark('f16', 12_288),
      mark('q8_0', 24_000),
      mark('turbo4', 32_768),
      mark('turbo3', 32_768),
    ];
    expect(offersOf(fitOf(marks), asked)).toEqual([
      { typeK: 'turbo4', typeV: 'turbo4', nCtx: 32_768, bytes: 32_768_000, gives: 'types' },
      { typeK: 'turbo3', typeV: 'turbo3', nCtx: 32_768, bytes: 32_768_000, gives: 'types' },
      { typeK: 'f16', typeV: 'f16', nCtx: 12_288, bytes: 12_288_000, gives: 'length' },
    ]);
  });

  test('where no types are enough, the longest of them is offered too', () => {
    const offers = offersOf(fitOf([mark('f16', 4096), mark('q8_0', 7680), mark('turbo3', 19_968)]), asked);
    expect(offers.map(({ gives, typeK, nCtx }) => [gives, typeK, nCtx])).toEqual([
      ['length', 'f16', 4096],
      ['both', 'turbo3', 19_968],
    ]);
  });

  test('types that the model runs as the asked ones, or as each other, are one', () => {
    const marks = [mark('f16', 0), mark('q8_0', 32_768), mark('turbo4', 32_768, 'q8_0'), mark('turbo3', 32_768, 'f16')];
    expect(offersOf(fitOf(marks), asked).map(({ typeK }) => typeK)).toEqual(['q8_0']);
  });

  test('nothing is offered where all fits, and where nothing does', () => {
    expect(offersOf(fitOf([mark('f16', 32_768)], true), asked)).toEqual([]);
    expect(offersOf(fitOf([mark('f16', 0), mark('turbo3', 0)]), asked)).toEqual([]);
  });

  test('an offer changes only what it gives up', () => {
    const one = { typeK: 'turbo4', typeV: 'turbo4', nCtx: 4096, bytes: 1 } as const;
    expect(changeOf({ ...one, gives: 'types' })).toEqual({ typeK: 'turbo4', typeV: 'turbo4' });
    expect(changeOf({ ...one, gives: 'length' })).toEqual({ nCtx: 4096 });
    expect(changeOf({ ...one, gives: 'both' })).toEqual({ typeK: 'turbo4', typeV: 'turbo4', nCtx: 4096 });
  });
});

test('shortBudget is the one that is overdrawn the most', () => {
  expect(shortBudget([budget(1, 2), budget(9, 4), budget(5, 4)])).toEqual(budget(9, 4));
  expect(shortBudget([budget(2, 2)])).toBeNull();
});
