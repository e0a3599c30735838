/** The search alone, over curves that stand for dry runs. */
import { expect, test, vi } from 'vitest';
import { longestThatFits } from '@/electron/engine/planner';

const weights = 4e9;
const kvPerCell = 40_000;

/** bytes of a context: weights, a straight line, and what `compute` adds */
const roomIn = (free: number, compute = (nCtx: number) => 1e8 + nCtx * 1100) =>
  vi.fn(async (nCtx: number) => free - weights - nCtx * kvPerCell - compute(nCtx));

test('everything fits: one dry run', async () => {
  const room = roomIn(64e9);
  expect(await longestThatFits(room, 131_072)).toBe(131_072);
  expect(room).toHaveBeenCalledTimes(1);
});

test('nothing fits', async () => {
  const room = roomIn(3e9);
  expect(await longestThatFits(room, 131_072)).toBe(0);
  expect(room).toHaveBeenCalledTimes(2);
});

test('a length that is no multiple of 256 is cut to one; one below 256 is one step', async () => {
  expect(await longestThatFits(roomIn(64e9), 1000)).toBe(768);
  expect(await longestThatFits(roomIn(64e9), 100)).toBe(256);
  expect(await longestThatFits(roomIn(3e9), 100)).toBe(0);
});

test('only the shortest context fits', async () => {
  expect(await longestThatFits(roomIn(weights + 1e8 + 512 * 41_100), 131_072)).toBe(512);
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
