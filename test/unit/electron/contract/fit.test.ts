/** What is chosen for which machine, over a table of them, and that the reason says it. */
import { describe, expect, it, test } from 'vitest';
import {
  askedLength,
  type Budget,
  type ContextFit,
  changeOf,
  type FitMark,
  isStretched,
  keepsCache,
  offersOf,
  shortBudget,
} from '@/electron/contract/fit';
import { chooseSettings, knee, type MachineFacts, spareBytes } from '@/electron/contract/machine';
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

describe('carryOver', () => {
  const asked = contextSettingsSchema.parse({});
  const trained = 8192;

  test.each([
    ['the same settings', {}, 4000, true],
    ['a shorter context that holds it', { nCtx: 4096 }, 4000, true],
    ['one that does not', { nCtx: 4096 }, 4096, false],
    ['an empty cache', {}, 0, false],
    ['another type', { typeV: 'q8_0' as const }, 4000, false],
    ['attention off', { flashAttention: 'off' as const }, 4000, false],
    ['attention on, as it is', { flashAttention: 'on' as const }, 4000, true],
    ['threads and batch', { threads: 7, batch: 64 }, 4000, true],
    ['a way beyond the trained length, which is not used', { rope: 'yarn' as const }, 4000, true],
    ['positions that are stretched', { rope: 'yarn' as const, nCtx: 16_384 }, 4000, false],
    ['a length that is cut to the trained one', { nCtx: 100_000 }, 8192, false],
  ])('%s', (_, change, used, kept) => expect(keepsCache(effective, { ...asked, ...change }, used, trained)).toBe(kept));

  test('a type that the model runs as another one is that one', () => {
    const typeK = { asked: 'turbo4', effective: 'q8_0', reason: 'no' };
    expect(keepsCache({ ...effective, typeK }, { ...asked, typeK: 'q8_0' }, 10, trained)).toBe(true);
  });

  test('a stretched context keeps its cache only at its own length', () => {
    const stretched = { ...effective, nCtx: 16_384, rope: { kind: 'yarn' as const, factor: 2 } };
    const keeps = (change: object) => keepsCache(stretched, { ...asked, rope: 'yarn', ...change }, 10, trained);
    expect(keeps({ nCtx: 16_300, batch: 64 })).toBe(true);
    expect(keeps({ nCtx: 32_768 })).toBe(false);
    expect(keeps({ nCtx: 16_384, rope: 'linear' })).toBe(false);
    expect(keeps({ nCtx: 8192 })).toBe(false);
  });

  test('only a choice goes beyond the trained length', () => {
    expect(askedLength({ nCtx: 9000, rope: 'model' }, trained)).toBe(8192);
    expect(askedLength({ nCtx: 9000, rope: 'yarn' }, trained)).toBe(9000);
    expect(askedLength({ nCtx: 9000, rope: 'model' }, 0)).toBe(9000);
    expect(isStretched({ nCtx: 8192, rope: 'yarn' }, trained)).toBe(false);
    expect(isStretched({ nCtx: 8193, rope: 'yarn' }, trained)).toBe(true);
  });
});

describe('what is chosen for which machine, over a table of them, and that the reason says it', () => {
  const gib = 2 ** 30;
  /** bytes of K and V for each token of a model with 36 layers, 8 heads of 128 values */
  const perToken = { f16: 147_456, turbo4: 39_168, turbo3: 29_952 };
  const compute = 0.3 * gib;

  /** Bandwidth that grows until `end` threads. */
  function facts(cores: number, totalGib: number, end: number, changes: Partial<MachineFacts> = {}): MachineFacts {
    const bandwidth = [1, 2, 4, 8, 16, 32, 64]
      .filter((threads) => threads <= cores)
      .map((threads) => ({ threads, bytesPerSecond: Math.min(threads, end) * 10e9 }));
    const memory = { totalBytes: totalGib * gib, freeBytes: totalGib * 0.7 * gib };
    return {
      ...{ measuredAt: 0, physicalCores: cores, ...memory, bandwidth, backend: 'CPU', gpu: null, onBattery: null },
      ...changes,
    };
  }

  /** As the engine tells it: asked for 2,048 tokens of turbo4, marks up to the trained length. */
  function fitOf(weightsGib: number, availableGib: number, trained: number): ContextFit {
    const weights = weightsGib * gib;
    const nCtx = 2048;
    const same = { asked: 'turbo4', effective: 'turbo4', reason: '' };
    const kv = (perToken.turbo4 * nCtx) / 2;
    const needed = weights + compute + 2 * kv;
    const available = availableGib * gib;
    const mark = (type: keyof typeof perToken) => {
      const longest = Math.min(trained, Math.floor((available - weights - compute) / perToken[type] / 256) * 256);
      const fits = longest >= 512;
      return {
        ...{ typeK: type, typeV: type, effectiveK: type, effectiveV: type, nCtx: fits ? longest : 0 },
        bytes: fits ? weights + compute + longest * perToken[type] : 0,
      };
    };
    return {
      estimate: { weights, kvK: kv, kvV: kv, kvF16: 4 * kv, compute, typeK: same, typeV: same },
      fits: needed <= available,
      budgets: [{ kind: 'ram', name: 'RAM', needed, available, total: availableGib * gib * 1.4 }],
      trained,
      marks: [mark('turbo4'), mark('f16'), mark('turbo4'), mark('turbo3')],
    };
  }

  describe('a table of machines', () => {
    it.each([
      // tokens: (free - spare - weights - compute) / bytes a token, in whole 256
      // machine, model (weights, free memory, trained) -> threads, context, cache
      ['8 GB laptop', facts(4, 8, 2), fitOf(2.5, 5.5, 40_960), 0, 18_944, 'turbo4'],
      ['8 GB laptop, a model that hardly fits', facts(4, 8, 2), fitOf(3, 5.4, 40_960), 0, 3584, 'turbo3'],
      ['16 GB', facts(8, 16, 4), fitOf(4.7, 12, 131_072), 4, 82_176, 'turbo4'],
      ['64 GB', facts(8, 64, 8), fitOf(4.7, 55, 131_072), 0, 131_072, 'turbo4'],
      ['server of many cores', facts(64, 256, 8), fitOf(40, 200, 131_072), 32, 131_072, 'turbo4'],
      ['GPU', facts(10, 32, 4, { gpu: 'Apple M3' }), fitOf(4.7, 21, 40_960), 0, 40_960, 'turbo4'],
      ['small model', facts(2, 24, 2), fitOf(0.03, 20, 8192), 0, 8192, 'turbo4'],
    ] as const)('%s', (_name, machine, fit, threads, nCtx, cache) => {
      const choice = chooseSettings(machine, fit);
      expect([choice.threads.value, choice.nCtx?.value, choice.cache.value]).toEqual([threads, nCtx, cache]);
      for (const { why } of [choice.threads, choice.nCtx ?? choice.cache, choice.cache]) expect(why).toMatch(/\.$/);
    });
  });

  it('never chooses more than the model was trained for, nor what would not leave the spare memory', () => {
    for (const available of [4, 6, 8, 12, 24, 48]) {
      for (const trained of [512, 2048, 8192, 131_072]) {
        const fit = fitOf(3, available, trained);
        const { nCtx, cache } = chooseSettings(facts(4, available * 1.4, 4), fit);
        const value = nCtx?.value ?? 0;
        expect(value).toBeLessThanOrEqual(trained);
        const bytes = fit.estimate.weights + compute + value * perToken[cache.value as 'turbo4' | 'turbo3'];
        const spare = spareBytes(available * 1.4 * gib);
        // the shortest context is what remains where even it leaves too little
        if (value > 512) expect(available * gib - bytes).toBeGreaterThanOrEqual(spare - 1);
      }
    }
  });

  it('explains each choice in a sentence', () => {
    const { threads, nCtx } = chooseSettings(facts(8, 16, 4), fitOf(4.7, 12, 131_072));
    expect(threads.why).toBe('4 threads: the memory is read no faster with more.');
    expect(nCtx?.why).toBe('82,176 tokens: the longest that leaves 4 GB free at turbo4 for this model.');
    expect(chooseSettings(facts(4, 8, 2), null).threads.why).toBe(
      '4 threads: the memory is read no faster with more than 2, but prompts are.',
    );
    const server = chooseSettings(facts(64, 256, 8), null);
    expect(server.threads.why).toBe('32 threads: the memory is read no faster with more than 8, but prompts are.');
    expect(server.nCtx).toBeNull();
  });

  it('finds where the bandwidth stops growing', () => {
    expect(knee([])).toBeNull();
    expect(knee([{ threads: 1, bytesPerSecond: 0 }])).toBeNull();
    const noisy = [9, 17.9, 18, 18.6].map((giga, i) => ({ threads: 2 ** i, bytesPerSecond: giga * 1e9 }));
    expect(knee(noisy)).toBe(2);
  });
});
