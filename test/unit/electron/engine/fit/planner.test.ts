/** What fits: budgets, the load check and what is kept of dry runs on a made-up machine; the search over made-up curves. */
import { describe, expect, test, vi } from 'vitest';
import type { DeviceUse } from '@/electron/contract/fit';
import { spareBytes } from '@/electron/contract/machine';
import { autoContext, contextSettingsSchema } from '@/electron/contract/settings';
import { budgetsOf, longestThatFits, refusal, reserveOf } from '@/electron/engine/fit/budgets';
import { MemoryPlanner } from '@/electron/engine/fit/planner';
import type { Engine } from '@/electron/engine/native/types';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { plan } from '@/test/fixtures/samples';

const GiB = 1024 ** 3;
const context = contextSettingsSchema.parse({ nCtx: 32_768 });
const use = (changes: Partial<DeviceUse>): DeviceUse => ({
  ...{ name: 'RAM', kind: 'ram', weights: 0, mapped: 0, context: 0, compute: 0 },
  ...changes,
});
const machine = (free: number, total = 16 * GiB) => ({ free, total, releasable: Number.POSITIVE_INFINITY });

/** a model of 4 GiB whose cache takes 64 KiB a cell, and a quarter of that as turbo */
function engineOf(): Engine & { estimate: ReturnType<typeof vi.fn> } {
  const estimate = vi.fn<Engine['estimate']>(async (_path, _gpuLayers, { nCtx, typeK }) => {
    const perCell = typeK.startsWith('turbo') ? 16_384 : 65_536;
    const devices = [use({ weights: 4 * GiB, context: nCtx * perCell, compute: GiB / 4 })];
    return { ...plan, weights: 4 * GiB, nCtx: Math.min(nCtx, 131_072), trained: 131_072, devices };
  });
  return { ...createFakeEngine(), estimate };
}

const plannerOf = (engine: Engine, free: () => number) =>
  new MemoryPlanner(
    () => engine,
    () => [],
    () => machine(free()),
  );

test('marks: more cells with smaller types, at most as many as the engine makes', async () => {
  const planner = plannerOf(engineOf(), () => 10 * GiB);
  const { marks, fits, trained } = await planner.fit({ path: '/m', context, longest: 500_000 });
  expect({ fits, trained }).toEqual({ fits: true, trained: 131_072 });
  const lengths = Object.fromEntries(marks.map(({ typeK, nCtx }) => [typeK, nCtx]));
  const f16 = 10 * GiB - reserveOf('ram', 16 * GiB) - 4.25 * GiB;
  expect(lengths.f16).toBe(Math.floor(f16 / 65_536 / 256) * 256);
  expect(lengths.turbo4).toBe(131_072);
});

test('without marks a question takes one dry run, and says the same of the memory', async () => {
  const engine = engineOf();
  const ask = (marks: boolean) => plannerOf(engine, () => 10 * GiB).fit({ path: '/m', context, marks });
  const { marks, ...others } = await ask(false);
  expect(marks).toEqual([]);
  expect(engine.estimate).toHaveBeenCalledTimes(1);
  expect(await ask(true)).toMatchObject(others);
});

test('a budget: its types are those of a dry run of a list, and so many bytes hold so many cells', async () => {
  const bits = { f16: 16, q8_0: 8.5, q5_0: 5.5, turbo4: 4.25, turbo3: 3.25 };
  /** of each side of a cell, in the one layer that the model has */
  const values = 8192;
  const engine = engineOf();
  engine.estimate.mockImplementation(async (_path: string, _gpuLayers: number, { nCtx, typeK, typeV }) => {
    const bytes = (type: string) => (nCtx * values * (bits[type.split('=').at(-1) as keyof typeof bits] ?? 0)) / 8;
    const [bytesK, bytesV] = [bytes(typeK), bytes(typeV)];
    const devices = [use({ weights: GiB, context: bytesK + bytesV })];
    const type = (asked: string) => ({ asked, effective: asked, reason: '' });
    const of = (side: string) => side.split('=').at(-1) as string;
    const cacheLayers = [{ layer: 0, typeK: of(typeK), typeV: of(typeV), bytesK, bytesV }];
    return {
      ...{ ...plan, weights: GiB, kvK: bytesK, kvV: bytesV, nCtx, trained: 131_072, devices, cacheLayers },
      ...{ typeK: type(typeK.split('=')[0] ?? ''), typeV: type(typeV.split('=')[0] ?? '') },
    };
  });
  const planner = plannerOf(engine, () => 12 * GiB);
  const asked = { ...context, typeK: 'auto:64MiB', typeV: 'auto:64MiB', nCtx: 8192 } as const;
  const { estimate, marks } = await planner.fit({ path: '/m', context: asked });
  // four bits a value: one side can be turbo4
  expect(estimate.cacheLayers).toMatchObject([{ typeK: 'turbo4', typeV: 'turbo3' }]);
  expect(estimate.typeK).toEqual({ asked: 'auto:64MiB', effective: 'auto:64MiB', reason: '' });
  // the longest is where all is turbo3
  const cell = (2 * values * bits.turbo3) / 8;
  expect(marks[0]).toMatchObject({ typeK: 'auto:64MiB', nCtx: Math.floor((64 * 1024 ** 2) / cell / 256) * 256 });
  await expect(planner.fit({ path: '/m', context: { ...asked, nCtx: 16_384 } })).rejects.toThrow(
    /at least .*3\.25 bits/,
  );
});

test('each side of the cache by its type, where that is asked for, and none where the model cannot have it', async () => {
  const engine = engineOf();
  engine.estimate.mockImplementation(async (_path: string, _gpuLayers: number, { typeK, typeV }) => {
    if (typeK === 'turbo3') throw Object.assign(new Error('no'), { code: 'cache-type-unsupported' });
    return { ...plan, kvK: typeK.length, kvV: 10 * typeV.length, devices: [use({ context: 1 })] };
  });
  const planner = plannerOf(engine, () => GiB);
  const { sides } = await planner.fit({ path: '/m', context, sides: true });
  const usual = { f16: 3, q8_0: 4, q5_0: 4, iq4_nl: 6, q4_0: 4, turbo4: 6, turbo4_tcq: 10, turbo3_tcq: 10 };
  expect(sides?.K).toEqual({ ...usual, turbo3: null });
  const tenfold = Object.entries(usual).map(([type, bytes]) => [type, 10 * bytes]);
  expect(sides?.V).toEqual({ ...Object.fromEntries(tenfold), turbo3: 60 });
  expect((await planner.fit({ path: '/m', context })).sides).toBeUndefined();
});

test('a slider that asks again starts no dry run twice', async () => {
  const engine = engineOf();
  let free = 10 * GiB;
  const planner = plannerOf(engine, () => free);
  await planner.fit({ path: '/m', context });
  const first = engine.estimate.mock.calls.length;
  await planner.fit({ path: '/m', context: { ...context, threads: 7 } });
  expect(engine.estimate).toHaveBeenCalledTimes(first);
  const finer = { ...context, recentTokens: context.recentTokens + 1 };
  await planner.fit({ path: '/m', context: finer });
  expect(engine.estimate.mock.lastCall?.[2].recentTokens).toBe(finer.recentTokens);
  // what drafts decides it too, by its file
  const drafting = { ...context, speculation: 'draft' as const, draftModel: '/draft' };
  const undrafted = engine.estimate.mock.calls.length;
  expect(undrafted).toBeGreaterThan(first);
  await planner.fit({ path: '/m', context: drafting });
  expect(engine.estimate.mock.calls.length).toBeGreaterThan(undrafted);
  const drafted = engine.estimate.mock.calls.length;
  await planner.fit({ path: '/m', context: { ...context, draftModel: '/draft' } });
  expect(engine.estimate).toHaveBeenCalledTimes(drafted);
  // and the projector
  await planner.fit({ path: '/m', context: { ...context, projector: '/projector' } });
  const seeing = engine.estimate.mock.calls.length;
  expect(seeing).toBeGreaterThan(drafted);
  // the mark moves, and is found between those that are known
  free -= 0.1 * GiB;
  await planner.fit({ path: '/m', context });
  expect(engine.estimate.mock.calls.length - seeing).toBeLessThanOrEqual(6);
});

test('the check refuses what the marks say does not fit, and nothing else', async () => {
  const planner = plannerOf(engineOf(), () => 10 * GiB);
  const { marks } = await planner.fit({ path: '/m', context });
  const f16 = marks.find(({ typeK }) => typeK === 'f16')?.nCtx ?? 0;
  const at = (nCtx: number) => planner.check({ path: '/m', context: { ...context, typeK: 'f16', typeV: 'f16', nCtx } });
  await at(f16);
  const message = expect.stringMatching(/^The (KV cache|compute buffers) .*RAM: 9\.3 GiB/);
  await expect(at(f16 + 256)).rejects.toMatchObject({ code: 'out-of-memory', message });
});

test('what other processes of the app will take counts as taken', async () => {
  const planner = plannerOf(engineOf(), () => 10 * GiB);
  const { marks } = await planner.fit({ path: '/m', context });
  const f16 = marks.find(({ typeK }) => typeK === 'f16')?.nCtx ?? 0;
  const wanted = { ...context, typeK: 'f16', typeV: 'f16', nCtx: f16 } as const;
  await expect(planner.check({ path: '/m', context: wanted, beside: GiB })).rejects.toMatchObject({
    code: 'out-of-memory',
    message: expect.stringContaining('8.3 GiB are free'),
  });
});

test('what unloading gives back counts as free, but not what is only a mapped file or was never touched', () => {
  const needs = [use({ weights: GiB })];
  const held = [use({ weights: 3 * GiB, mapped: 2 * GiB, context: 4 * GiB, compute: GiB })];
  const available = (releasable: number) =>
    budgetsOf(needs, { ram: { ...machine(2 * GiB), releasable }, memories: [], held })[0]?.available;
  const reserve = reserveOf('ram', 16 * GiB);
  expect(available(Number.POSITIVE_INFINITY)).toBe(2 * GiB + 6 * GiB - reserve);
  expect(available(3 * GiB)).toBe(2 * GiB + 3 * GiB - reserve);
});

test('a GPU has a budget of its own; one that shares the memory counts in both', () => {
  const ram = machine(8 * GiB);
  const memories = [{ name: 'G', kind: 'gpu' as const, free: GiB, total: 8 * GiB }];
  const card = use({ name: 'G', kind: 'gpu', weights: 2 * GiB, context: GiB });
  const host = use({ compute: GiB });
  const held = [use({ name: 'G', kind: 'gpu', weights: 3 * GiB })];
  expect(budgetsOf([host, card], { ram, memories, held })).toMatchObject([
    { kind: 'ram', needed: GiB },
    { kind: 'gpu', name: 'G', needed: 3 * GiB, available: 4 * GiB - reserveOf('gpu', 8 * GiB), total: 8 * GiB },
  ]);
  const shared = memories.map((memory) => ({ ...memory, kind: 'unified' as const }));
  const metal = { ...card, kind: 'unified' as const };
  expect(budgetsOf([host, metal], { ram, memories: shared, held: [] })).toMatchObject([
    { kind: 'ram', needed: 4 * GiB },
    { kind: 'unified', needed: 3 * GiB, available: GiB - reserveOf('unified', 8 * GiB) },
  ]);
  // a card that does not tell its memory
  expect(budgetsOf([host, card], { ram, memories: [], held })).toHaveLength(1);
});

test('a worker has a budget of its own; what our model holds there was free when it was greeted', async () => {
  const engine = engineOf();
  engine.estimate.mockImplementation(async (_path: string, _layers: number, { nCtx }) => {
    const devices = [use({ weights: GiB }), use({ name: 'there', kind: 'worker', weights: 3 * GiB, context: 2 * GiB })];
    return { ...plan, nCtx, trained: 131_072, devices };
  });
  const held = [use({ name: 'there', kind: 'worker', weights: 7 * GiB })];
  const planner = new MemoryPlanner(
    () => engine,
    () => held,
    () => machine(8 * GiB),
  );
  const workers = (free: number) => [{ endpoint: 'a:1', device: 0, name: 'there', cpu: true, free, total: 16 * GiB }];
  const { fits, budgets } = await planner.fit({ path: '/m', context, workers: workers(6 * GiB) });
  expect(fits).toBe(true);
  expect(budgets).toMatchObject([
    { kind: 'ram', needed: GiB },
    { kind: 'worker', name: 'there', needed: 5 * GiB, available: 6 * GiB - reserveOf('worker', 16 * GiB) },
  ]);
  expect(engine.estimate.mock.lastCall?.[1].workers).toEqual(workers(6 * GiB));
  await expect(planner.check({ path: '/m', context, workers: workers(4 * GiB) })).rejects.toThrow(/fit into there/);
});

test.each([
  ['weights', { weights: 9 * GiB }, '9.0 GiB'],
  ['KV cache', { weights: GiB, context: 9 * GiB }, '10.0 GiB'],
  ['compute buffers', { weights: GiB, context: 2 * GiB, compute: 7 * GiB }, '10.0 GiB'],
])('a refusal names the %s and the figures', (part, parts, needed) => {
  const needs = [use(parts)];
  const error = refusal(needs, budgetsOf(needs, { ram: machine(4 * GiB), memories: [], held: [] }));
  expect(error.code).toBe('out-of-memory');
  expect(error.message).toMatch(new RegExp(`^The ${part} .*RAM: ${needed} .*3\\.3 GiB .*768 MiB`));
});

describe('the length Auto', () => {
  const auto = { ...context, nCtx: autoContext, typeK: 'f16', typeV: 'f16' } as const;
  const gpu = { name: 'G', kind: 'gpu' as const };
  interface Made {
    /** bytes of RAM, and of a card; null: there is none */
    free: number;
    card?: number | null;
    total?: number;
    trained?: number;
    perCell?: number;
  }

  /** a model of 4 GiB, on the card where there is one */
  function made({ free, card, total = 16 * GiB, trained = 131_072, perCell = 65_536 }: Made) {
    const engine = engineOf();
    engine.estimate.mockImplementation(async (_path: string, _layers: number, { nCtx, rope, slots = 1 }) => {
      const cells = rope === 'model' && trained > 0 ? Math.min(nCtx, trained) : nCtx;
      const sizes = { weights: 4 * GiB, context: cells * perCell + (slots - 1) * (GiB / 4) };
      const devices = [card === undefined ? use(sizes) : use({ ...gpu, ...sizes })];
      return { ...plan, nCtx: cells, trained, devices };
    });
    engine.memories = () => (card ? [{ ...gpu, free: card, total: card }] : []);
    const planner = new MemoryPlanner(
      () => engine,
      () => [],
      () => machine(free, total),
    );
    const length = (atLeast?: number, change: object = {}) =>
      planner.autoLength('/m', { ...auto, ...change }, atLeast).then(({ nCtx, end }) => [nCtx, end]);
    return { planner, engine, length };
  }
  const floor = (bytes: number, perCell = 65_536) => Math.floor(bytes / perCell / 256) * 256;
  const left = (free: number, total: number) => free - reserveOf('ram', total) - 4 * GiB;

  test('is what the model was trained for where that leaves enough free, and on a processor not much at first', async () => {
    expect(await made({ free: 60 * GiB, card: 60 * GiB }).length()).toEqual([131_072, 'trained']);
    expect(await made({ free: 60 * GiB }).length()).toEqual([32_768, 'processor']);
    expect(await made({ free: 60 * GiB, trained: 16_000 }).length()).toEqual([16_000, 'trained']);
    // a length that is no multiple of the step, and one below the shortest
    expect(await made({ free: 60 * GiB, trained: 500 }).length()).toEqual([500, 'trained']);
  });

  test('is found with two dry runs where it fits, one of which the check of the load shares', async () => {
    const { engine, planner } = made({ free: 60 * GiB, card: 60 * GiB });
    const { auto: chosen } = await planner.check({ path: '/m', context: auto });
    expect(chosen).toEqual({ nCtx: 131_072, end: 'trained', spare: spareBytes(16 * GiB) });
    expect(engine.estimate).toHaveBeenCalledTimes(2);
  });

  test('leaves a quarter of the memory free, and on a card what the reserve of every load does', async () => {
    const spare = spareBytes(16 * GiB);
    expect(await made({ free: 10 * GiB }).length()).toEqual([floor(left(10 * GiB, 16 * GiB) - spare), 'memory']);
    const cells = floor(8 * GiB - reserveOf('gpu', 8 * GiB) - 4 * GiB);
    expect(await made({ free: 60 * GiB, card: 8 * GiB }).length()).toEqual([cells, 'memory']);
  });

  test('leaves what other processes of the app will take', async () => {
    const { planner } = made({ free: 10 * GiB });
    const { auto: chosen } = await planner.check({ path: '/m', context: auto, beside: GiB });
    expect([chosen?.nCtx, chosen?.end]).toEqual(await made({ free: 9 * GiB }).length());
    expect(await made({ free: 10 * GiB }).length()).not.toEqual([chosen?.nCtx, chosen?.end]);
  });

  test('is 8,192 where less than that is to spare, shorter where not even that fits, and then never refused', async () => {
    const total = 8 * GiB;
    const tight = left(0, total) * -1 + 8192 * 65_536;
    expect(await made({ free: tight, total }).length()).toEqual([8192, 'tight']);
    const tiny = made({ free: tight - GiB / 4, total });
    expect(await tiny.length()).toEqual([4096, 'tight']);
    await tiny.planner.check({ path: '/m', context: auto });
    // nothing fits: the load is refused, with the figures of the least
    const none = made({ free: GiB, total });
    expect(await none.length()).toEqual([8192, 'tight']);
    await expect(none.planner.check({ path: '/m', context: auto })).rejects.toMatchObject({ code: 'out-of-memory' });
    expect((await none.planner.check({ path: '/m', context: auto, force: true })).auto?.nCtx).toBe(8192);
  });

  test('is 8,192 where the file or the card does not tell', async () => {
    expect(await made({ free: 60 * GiB, trained: 0 }).length()).toEqual([8192, 'unknown']);
    expect(await made({ free: 60 * GiB, card: null }).length()).toEqual([8192, 'unknown']);
    expect(await made({ free: 60 * GiB, card: null, trained: 4096 }).length()).toEqual([4096, 'unknown']);
  });

  test('grows to what is needed in all of the memory, beyond the trained length only with a choice of positions', async () => {
    const { length } = made({ free: 60 * GiB });
    expect(await length(40_000)).toEqual([40_192, 'grown']);
    expect(await length(1000)).toEqual([32_768, 'processor']);
    expect(await length(200_000)).toEqual([131_072, 'grown']);
    expect(await length(200_000, { rope: 'yarn' })).toEqual([200_192, 'grown']);
    expect(await length(0, { rope: 'yarn' })).toEqual([32_768, 'processor']);
    // the margin goes, the reserve does not
    const tight = made({ free: 10 * GiB });
    expect(await tight.length(131_072)).toEqual([floor(left(10 * GiB, 16 * GiB)), 'grown']);
  });

  test('counts what several slots of the API take', async () => {
    const one = await made({ free: 10 * GiB }).length();
    const four = await made({ free: 10 * GiB }).length(0, { api: { slots: 2, options: [] } });
    expect(four).toEqual([(one[0] as number) - GiB / 4 / 65_536, 'memory']);
  });

  test('is what a plan is about, which says so, and nothing of it stands where a length was chosen', async () => {
    const { planner } = made({ free: 60 * GiB });
    const fit = await planner.fit({ path: '/m', context: auto });
    expect(fit).toMatchObject({ auto: { nCtx: 32_768, end: 'processor' }, fits: true });
    expect(fit.budgets[0]?.needed).toBe(4 * GiB + 32_768 * 65_536);
    expect(await planner.fit({ path: '/m', context })).not.toHaveProperty('auto');
    expect((await planner.check({ path: '/m', context })).auto).toBeNull();
  });
});

const weights = 4e9;
const kvPerCell = 40_000;

/** bytes of a context: weights, a straight line, and what `compute` adds */
const roomIn = (free: number, compute = (nCtx: number) => 1e8 + nCtx * 1100) =>
  vi.fn(async (nCtx: number) => free - weights - nCtx * kvPerCell - compute(nCtx));

// of one below 256 one step remains; a length that is no multiple of 256 is cut to one
test.each([
  ['everything fits', 64e9, 131_072, 131_072, 1],
  ['nothing fits', 3e9, 131_072, 0, 2],
  ['a length between two steps', 64e9, 1000, 768, 1],
  ['a length below the first step', 64e9, 100, 256, 1],
  ['a length below the first step does not fit', 3e9, 100, 0, 1],
  ['only the shortest context fits', weights + 1e8 + 512 * 41_100, 131_072, 512, 24],
])('%s', async (_, free, longest, found, mostRuns) => {
  const room = roomIn(free);
  expect(await longestThatFits(room, longest)).toBe(found);
  expect(room.mock.calls.length).toBeLessThanOrEqual(mostRuns);
});

const curves: [string, (nCtx: number) => number][] = [
  ['straight', (nCtx) => 1e8 + nCtx * 1100],
  ['bent up, as masks of a large batch', (nCtx) => 1e8 + nCtx ** 2 / 4],
  ['flat until another buffer is the largest', (nCtx) => Math.max(3e9, nCtx * 60_000)],
  ['in stairs', (nCtx) => Math.ceil(nCtx / 8192) * 4e8],
];

test.each(curves)(
  '%s: the last length that fits, in few dry runs, and never more with more memory taken',
  async (_, compute) => {
    let former = Number.POSITIVE_INFINITY;
    for (let free = 20e9; free > 4e9; free -= 3.7e8) {
      const room = roomIn(free, compute);
      const found = await longestThatFits(room, 1_048_576);
      expect(room.mock.calls.length).toBeLessThanOrEqual(24); // twice what halving alone takes
      expect(found % 256).toBe(0);
      if (found > 0) expect(await room(found)).toBeGreaterThanOrEqual(0);
      expect(await room(Math.max(found + 256, 512))).toBeLessThan(0);
      expect(found).toBeLessThanOrEqual(former);
      former = found;
    }
  },
);

test('what is known already saves dry runs', async () => {
  const cold = roomIn(8e9);
  const found = await longestThatFits(cold, 131_072);
  const known = cold.mock.calls.map(([nCtx]) => nCtx);
  const warm = roomIn(8e9 - 5e7);
  const next = await longestThatFits(warm, 131_072, [...known, 700]);
  expect(next).toBeLessThan(found);
  const asked = new Set(warm.mock.calls.map(([nCtx]) => nCtx));
  expect([...asked].filter((nCtx) => !known.includes(nCtx)).length).toBeLessThanOrEqual(3);
  expect(asked).not.toContain(700);
});
