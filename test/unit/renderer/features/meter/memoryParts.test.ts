/** The parts of the memory, and what the plots and the line of the strip show. */
import { describe, expect, it } from 'vitest';
import type { Memory } from '@/electron/contract/engine';
import { formatAgo } from '@/renderer/features/meter/HistoryPlot';
import { columnsOf, largestOf, stacked, stackedParts } from '@/renderer/features/meter/historySeries';
import { kvUsed, memoryParts } from '@/renderer/features/meter/memoryParts';
import { addSample, emptySparkline, maxValues } from '@/renderer/state/lib/sparkline';
import { memory } from '@/test/fixtures/samples';

const gib = 1024 ** 3;
/** 16 GiB, 10 GiB available, of which 3.5 are pages of a model of 4 GiB that the app has mapped. */
const machine: Memory = {
  weights: 4 * gib,
  workers: [],
  gpus: [],
  weightsMapped: 4 * gib,
  kvK: gib / 2,
  kvV: gib / 2,
  kvF16: 4 * gib,
  compute: gib / 4,
  draft: { weights: 0, kv: 0, compute: 0 },
  projector: { weights: 0, compute: 0 },
  promptCache: 0,
  promptCacheUsed: 0,
  process: 5 * gib,
  resident: { own: 1.5 * gib, weights: 3.5 * gib },
  app: gib / 2,
  total: 16 * gib,
  free: 10 * gib,
};
const partsOf = (changes: Partial<Memory> = {}) =>
  Object.fromEntries(memoryParts({ ...machine, ...changes }).map(({ id, bytes }) => [id, bytes / gib]));

describe('the parts of the memory', () => {
  it.each<[string, Partial<Memory>, Record<string, number>]>([
    [
      'are what is in memory; weights on pages of their file are not free, whatever the system calls them',
      {},
      { weights: 3.5, kv: 1, compute: 0.25, engine: 0.25, app: 0.5, other: 4, free: 6.5 },
    ],
    [
      'count weights that were copied to memory of their own there',
      { weightsMapped: gib, resident: { own: 4.5 * gib, weights: gib } },
      { weights: 4, kv: 1, compute: 0.25, engine: 0.25, app: 0.5, other: 1, free: 9 },
    ],
    [
      'have what requests left behind, and name its limit by the way',
      { promptCache: gib, promptCacheUsed: gib / 8 },
      { weights: 3.5, kv: 1, compute: 0.25, prompts: 0.125, engine: 0.125, app: 0.5, other: 4, free: 6.5 },
    ],
    [
      'have the projector among weights and buffers',
      { projector: { weights: gib / 4, compute: gib / 8 }, resident: { own: 2 * gib, weights: 3.5 * gib } },
      { weights: 3.75, kv: 1, compute: 0.375, engine: 0.375, app: 0.5, other: 3.5, free: 6.5 },
    ],
    [
      'leave out what lies on other machines',
      {
        ...{ weights: 6 * gib, kvK: 0.75 * gib, kvV: 0.75 * gib, compute: gib / 2 },
        workers: [{ name: 'there', weights: 2 * gib, context: gib / 2, compute: gib / 4 }],
      },
      { weights: 3.5, kv: 1, compute: 0.25, engine: 0.25, app: 0.5, other: 4, free: 6.5 },
    ],
    [
      'leave out what lies in the memory of a GPU',
      {
        ...{ weights: 6 * gib, kvK: 0.75 * gib, kvV: 0.75 * gib, compute: gib / 2 },
        // a small model that drafts lies there, too
        draft: { weights: gib, kv: gib / 4, compute: gib / 8 },
        gpus: [{ name: 'Vulkan0', weights: 7 * gib, context: 1.75 * gib, compute: 0.625 * gib }],
        resident: { own: gib, weights: 0 },
      },
      { weights: 0, kv: 0, compute: 0, engine: 1, app: 0.5, other: 4.5, free: 10 },
    ],
    [
      'are no larger than what has been touched',
      { resident: { own: 1.1 * gib, weights: 0 } },
      { weights: 0, kv: 1, compute: expect.closeTo(0.1), engine: 0, app: 0.5, other: expect.closeTo(4.4), free: 10 },
    ],
    [
      'have it there too where the system reports no more',
      { projector: { weights: gib / 4, compute: gib / 8 }, resident: null, app: null, process: 6 * gib, free: 5 * gib },
      { weights: 4.25, kv: 1, compute: 0.375, engine: 0.375, other: 5, free: 5 },
    ],
    [
      'are what was allocated where the system reports no more',
      { resident: null, app: null, process: 5.5 * gib, free: 5 * gib },
      { weights: 4, kv: 1, compute: 0.25, engine: 0.25, other: 5.5, free: 5 },
    ],
  ])('%s', (_, changes, expected) => expect(partsOf(changes)).toEqual(expected));

  it('never are negative', () => {
    for (const changes of [{ free: 20 * gib }, { free: 0 }, { resident: { own: 0, weights: 0 } }, { resident: null }]) {
      expect(Math.min(...Object.values(partsOf(changes)))).toBeGreaterThanOrEqual(0);
    }
  });
});

it('KV in use is the share of the cells', () => {
  expect(kvUsed(machine, 1024, 4096)).toBe(gib / 4);
  expect(kvUsed(machine, 5000, 4096)).toBe(gib);
  expect(kvUsed(machine, 0, 0)).toBe(0);
});

describe('the plots', () => {
  it('have columns of seconds before now, with a gap where nothing was read', () => {
    const points = [10_000, 11_000, 31_000, 32_000].map((at, i) => ({
      ...{ at, answerRate: i, promptRate: 0, contextUsed: 0, contextSize: 0, memory },
    }));
    expect(columnsOf(points, 'answer', 60_000)).toEqual([
      [-22, -21, -20.999, -1, 0],
      [0, 1, null, 2, 3],
    ]);
    expect(columnsOf(points, 'answer', 10_000)[0]).toEqual([-1, 0]);
    expect(columnsOf([], 'memory', 1000)).toHaveLength(1 + stackedParts.length);
  });

  it('stack the memory up to what is not free', () => {
    const point = { at: 0, answerRate: 0, promptRate: 0, contextUsed: 0, contextSize: 0, memory };
    const sums = stacked(columnsOf([point], 'memory', 60_000));
    expect(sums[1]).toEqual([30e6]);
    // 4e9 are available, of which 30e6 are the weights' pages
    expect(largestOf(sums)).toBe(8e9 - (4e9 - 30e6));
  });
});

it('the line in the strip covers the whole answer in a bounded number of values', () => {
  let line = emptySparkline;
  for (let i = 0; i < 1000; i++) line = addSample(line, i < 500 ? 10 : 20);
  expect(line.values.length).toBeLessThan(maxValues);
  expect([line.values[0], line.values.at(-1)]).toEqual([10, 20]);
  expect(line.stride * line.values.length + line.open.length).toBe(1000);
});

it('says how long ago', () => {
  expect([0, -30, -60, -90, -300].map(formatAgo)).toEqual(['now', '−30 s', '−1 min', '−1:30', '−5 min']);
});
