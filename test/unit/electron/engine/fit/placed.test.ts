/** Layers that do not all fit on a made-up GPU: what is planned, loaded and compared then. */
import { expect, test, vi } from 'vitest';
import { ConcertinaError } from '@/electron/contract/errors';
import type { DeviceUse } from '@/electron/contract/fit';
import { autoContext, contextSettingsSchema } from '@/electron/contract/settings';
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

const gpu = { name: 'G', kind: 'gpu' as const, total: 16 * GiB };
/** 16 layers of half a GiB, on a card with so many bytes free */
function setUp(free: number) {
  const estimate = vi.fn<Engine['estimate']>(async (_path, { gpuLayers }, { nCtx }) =>
    planOf(gpuLayers < 0 ? 16 : gpuLayers, nCtx),
  );
  const planOf = (layers: number, nCtx: number) => {
    const there = { weights: layers * (GiB / 2), context: layers * nCtx * 4096 };
    const devices = [use({ weights: (16 - layers) * (GiB / 2) }), use({ ...gpu, ...there })];
    return { ...plan, nCtx, trained: 131_072, devices: layers > 0 ? devices : devices.slice(0, 1) };
  };
  const placement = { layers: 16, expertsInRam: 0, expertsInPart: 0, workers: false };
  const fit = vi.fn<Engine['fit']>(async (_path, spread, { nCtx }, rooms) => {
    const bytes = rooms.find(({ device }) => device === 'G')?.bytes ?? 0;
    const gpuLayers = Math.floor(bytes / (GiB / 2 + nCtx * 4096));
    return { spread: { ...spread, gpuLayers }, placement: { ...placement, gpuLayers } };
  });
  const memories = [{ ...gpu, free }];
  const planner = new MemoryPlanner(
    () => ({ ...createFakeEngine(), estimate, fit, memories: () => memories }),
    () => [],
    () => machine(24 * GiB, 32 * GiB),
  );
  return { planner, fit, memories };
}
const placed = (gpuLayers: number) => expect.objectContaining({ layers: 16, gpuLayers });

test('go where they fit, in the plan and in the load; all of them where they do', async () => {
  const { planner, fit, memories } = setUp(6.05 * GiB);
  const question = { path: '/m', context: { ...context, nCtx: 8192 } };
  const answer = await planner.fit(question);
  expect(answer).toMatchObject({ fits: true, placement: { gpuLayers: 10 } });
  expect(answer.budgets.find(({ kind }) => kind === 'gpu')?.needed).toBeLessThan(5.5 * GiB);
  expect((await planner.check(question)).found?.placement).toEqual(placed(10));
  // so little changes nothing, and what was found is not looked for again
  for (const memory of memories) memory.free -= 10 * 1024 ** 2;
  expect((await planner.check(question)).found?.placement).toEqual(placed(10));
  expect(fit).toHaveBeenCalledTimes(1);
  for (const memory of memories) memory.free = 16 * GiB;
  expect((await planner.check(question)).found).toBeNull();
  expect(fit).toHaveBeenCalledTimes(1);
});

test.each([
  ['layers', { gpuLayers: 16 }],
  ['experts', { expertsInRam: 0 }],
  ['shares', { deviceShares: [1] }],
])('stay where they were put by hand: %s', async (_, chosen) => {
  const { planner, fit } = setUp(6 * GiB);
  const question = { path: '/m', context: { ...context, nCtx: 8192, ...chosen } };
  expect(await planner.fit(question)).toMatchObject({ fits: false });
  await expect(planner.check(question)).rejects.toThrow(/fit into G/);
  expect(fit).not.toHaveBeenCalled();
});

test('Auto is no shorter than is of use, and grows for a chat, with fewer of them', async () => {
  const { planner } = setUp(6 * GiB);
  const auto = { ...context, nCtx: autoContext };
  expect(await planner.fit({ path: '/m', context: auto })).toMatchObject({
    ...{ fits: true, auto: { nCtx: 8192, end: 'placed' }, placement: { gpuLayers: 10 } },
  });
  expect(await planner.check({ path: '/m', context: auto, atLeast: 65_536 })).toMatchObject({
    auto: { nCtx: 65_536, end: 'grown' },
    found: { placement: { gpuLayers: 7 } },
  });
});

test.each([8192, autoContext])(
  'a canceled load ends the search, of length %i, and one that has not begun',
  async (nCtx) => {
    const { planner, fit } = setUp(6 * GiB);
    const controller = new AbortController();
    fit.mockImplementationOnce(async (_path, _spread, _options, _rooms, signal) => {
      controller.abort();
      throw new ConcertinaError(signal?.aborted ? 'cancelled' : 'internal', 'The search ended.');
    });
    const question = { path: '/m', context: { ...context, nCtx } };
    await expect(planner.check(question, controller.signal)).rejects.toMatchObject({ code: 'cancelled' });
    await expect(planner.check(question, controller.signal)).rejects.toMatchObject({ code: 'cancelled' });
    expect(fit).toHaveBeenCalledTimes(1);
  },
);

test('nothing is searched for where nothing can fit; a forced load has what the search finds', async () => {
  const { planner, fit, memories } = setUp(6 * GiB);
  const question = { path: '/m', context: { ...context, nCtx: 131_072 } };
  for (const memory of memories) memory.free = GiB;
  Object.assign(planner, { ram: () => machine(2 * GiB) });
  expect(await planner.fit(question)).toMatchObject({ fits: false });
  expect(fit).not.toHaveBeenCalled();
  for (const memory of memories) memory.free = 6 * GiB;
  Object.assign(planner, { ram: () => machine(24 * GiB) });
  const forced = await planner.check({ path: '/m', context: { ...context, nCtx: 8192 }, force: true });
  expect(forced.found?.placement).toEqual(placed(10));
});

test('a comparison is placed for its largest context', async () => {
  const { planner } = setUp(6 * GiB);
  const [short, long] = [
    { ...context, nCtx: 8192 },
    { ...context, nCtx: 65_536 },
  ];
  expect(await planner.neediest('/m', [short, long], short)).toEqual(long);
  const columns = (await planner.comparison('/m', [short, long])).columns;
  expect(columns.map(({ fits }) => fits)).toEqual([true, true]);
});

test('a newer question of the same view ends the search; who asked the same beside it gets an answer', async () => {
  const { planner, fit } = setUp(6 * GiB);
  let entered = () => {};
  const searching = new Promise<void>((resolve) => (entered = resolve));
  fit.mockImplementationOnce(async (_path, _spread, _options, _rooms, signal) => {
    entered();
    await new Promise((resolve) => signal?.addEventListener('abort', resolve));
    throw new ConcertinaError('cancelled', 'Finding out what fits was canceled');
  });
  const question = { path: '/m', context: { ...context, nCtx: 8192 } };
  const older = planner.fit({ ...question, asker: 'a' });
  older.catch(() => undefined);
  await searching;
  const beside = planner.check(question);
  // it only waits for promises, and now for the same search
  await new Promise((resolve) => setImmediate(resolve));
  const newer = planner.fit({ path: '/m', context: { ...context, nCtx: 16_384 }, asker: 'a' });
  await expect(older).rejects.toMatchObject({ code: 'cancelled' });
  expect((await beside).found?.placement).toEqual(placed(10));
  expect(await newer).toMatchObject({ fits: true, placement: { gpuLayers: 9 } });
});
