/** What is offered in place of settings that do not fit, and which changes keep the cache. */
import { describe, expect, test } from 'vitest';
import {
  type Budget,
  type ContextFit,
  changeOf,
  type FitMark,
  isStretched,
  keepsCache,
  offersOf,
  requestedLength,
  shortBudget,
} from '@/electron/contract/fit';
import { type CacheType, contextSettingsSchema } from '@/electron/contract/settings';
import { effective } from '@/test/fixtures/samples';

const asked = { typeK: 'f16', typeV: 'f16', nCtx: 32_768 } as const;

function mark(type: CacheType, nCtx: number, effective: string = type): FitMark {
  return { typeK: type, typeV: type, effectiveK: effective, effectiveV: effective, nCtx, bytes: nCtx * 1000 };
}

function budget(needed: number, available: number): Budget {
  return { kind: 'ram', name: 'RAM', needed, available, total: available * 2 };
}

function fitOf(marks: FitMark[], fits = false): ContextFit {
  const type = { asked: 'f16', effective: 'f16', reason: '' };
  const estimate = {
    weights: 1,
    kvK: 1,
    kvV: 1,
    kvF16: 2,
    compute: 1,
    promptCache: 0,
    promptCacheUsed: 0,
    draft: { weights: 0, kv: 0, compute: 0 },
    projector: { weights: 0, compute: 0 },
    cacheLayers: [],
    speculation: type,
    typeK: type,
    typeV: type,
  };
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

describe('keepsCache', () => {
  const asked = contextSettingsSchema.parse({ nCtx: 8192 });
  const trained = 8192;

  test.each([
    ['the same settings', {}, 4000, true],
    ['a shorter context that holds it', { nCtx: 4096 }, 4000, true],
    ['one that does not', { nCtx: 4096 }, 4096, false],
    ['an empty cache', {}, 0, false],
    ['another type', { typeV: 'q8_0' as const }, 4000, false],
    ['attention off', { flashAttention: 'off' as const }, 4000, false],
    ['attention on, as it is', { flashAttention: 'on' as const }, 4000, true],
    ['another number of recent tokens', { recentTokens: 129 }, 4000, true],
    ['threads and batch', { threads: 7, batch: 64 }, 4000, true],
    ['a way beyond the trained length, which is not used', { rope: 'yarn' as const }, 4000, true],
    ['positions that are stretched', { rope: 'yarn' as const, nCtx: 16_384 }, 4000, false],
    ['a length that is cut to the trained one', { nCtx: 100_000 }, 8192, false],
  ])('%s', (_, change, used, kept) => expect(keepsCache(effective, { ...asked, ...change }, used, trained)).toBe(kept));

  test('a type that the model runs as another one is that one; a stretched context keeps its cache only at its own length', () => {
    const typeK = { asked: 'turbo4', effective: 'q8_0', reason: 'no' };
    expect(keepsCache({ ...effective, typeK }, { ...asked, typeK: 'q8_0' }, 10, trained)).toBe(true);
    const stretched = { ...effective, nCtx: 16_384, rope: { kind: 'yarn' as const, factor: 2 } };
    const keeps = (change: object) => keepsCache(stretched, { ...asked, rope: 'yarn', ...change }, 10, trained);
    expect(keeps({ nCtx: 16_300, batch: 64 })).toBe(true);
    expect(keeps({ nCtx: 32_768 })).toBe(false);
    expect(keeps({ nCtx: 16_384, rope: 'linear' })).toBe(false);
    expect(keeps({ nCtx: 8192 })).toBe(false);
  });

  test('only a choice goes beyond the trained length', () => {
    expect(requestedLength({ nCtx: 9000, rope: 'model' }, trained)).toBe(8192);
    expect(requestedLength({ nCtx: 9000, rope: 'yarn' }, trained)).toBe(9000);
    expect(requestedLength({ nCtx: 9000, rope: 'model' }, 0)).toBe(9000);
    expect(isStretched({ nCtx: 8192, rope: 'yarn' }, trained)).toBe(false);
    expect(isStretched({ nCtx: 8193, rope: 'yarn' }, trained)).toBe(true);
  });
});
