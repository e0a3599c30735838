/** What is chosen for which machine, over a table of them, and that the reason says it. */
import { describe, expect, it } from 'vitest';
import type { ContextFit } from '@/electron/contract/fit';
import { say } from '@/electron/contract/lib/language';
import { chooseSettings, knee, type MachineFacts, spareBytes } from '@/electron/contract/machine';

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

/** As the engine reports it: asked for 2,048 tokens of turbo4, marks up to the trained length. */
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
    estimate: {
      weights,
      kvK: kv,
      kvV: kv,
      kvF16: 4 * kv,
      compute,
      promptCache: 0,
      promptCacheUsed: 0,
      draft: { weights: 0, kv: 0, compute: 0 },
      projector: { weights: 0, compute: 0 },
      cacheLayers: [],
      speculation: same,
      typeK: same,
      typeV: same,
    },
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
    for (const { why } of [choice.threads, choice.nCtx ?? choice.cache, choice.cache]) expect(say(why)).toMatch(/\.$/);
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

it('explains each choice by its figures', () => {
  const { threads, nCtx } = chooseSettings(facts(8, 16, 4), fitOf(4.7, 12, 131_072));
  expect([say(threads.why), say(nCtx?.why ?? '')]).toEqual([
    expect.stringMatching(/^4 /),
    expect.stringMatching(/^82,176 .*\b4 GB .*turbo4/),
  ]);
  const server = chooseSettings(facts(64, 256, 8), null);
  expect(say(server.threads.why)).toMatch(/^32 .*\b8,/);
  expect(server.nCtx).toBeNull();
});

it('finds where the bandwidth stops growing', () => {
  expect(knee([])).toBeNull();
  expect(knee([{ threads: 1, bytesPerSecond: 0 }])).toBeNull();
  const noisy = [9, 17.9, 18, 18.6].map((giga, i) => ({ threads: 2 ** i, bytesPerSecond: giga * 1e9 }));
  expect(knee(noisy)).toBe(2);
});
