import { describe, expect, it } from 'vitest';
import type { Memory } from '@/electron/contract/engine';
import { kvUsed, memoryParts } from '@/renderer/features/meter/memoryParts';

const gib = 1024 ** 3;
/** 16 GiB, 10 GiB available, of which 3.5 are pages of a model of 4 GiB that the app has mapped. */
const memory: Memory = {
  weights: 4 * gib,
  weightsMapped: 4 * gib,
  kvK: gib / 2,
  kvV: gib / 2,
  kvF16: 4 * gib,
  compute: gib / 4,
  process: 5 * gib,
  resident: { own: 1.5 * gib, weights: 3.5 * gib },
  app: gib / 2,
  total: 16 * gib,
  free: 10 * gib,
};
const partsOf = (changes: Partial<Memory> = {}) =>
  Object.fromEntries(memoryParts({ ...memory, ...changes }).map(({ id, bytes }) => [id, bytes / gib]));
const sumOf = (parts: Record<string, number>) => Object.values(parts).reduce((sum, bytes) => sum + bytes, 0);

describe('the parts of the memory', () => {
  it('are what is in memory; weights on pages of their file are not free, whatever the system calls them', () => {
    const parts = partsOf();
    expect(parts).toEqual({ weights: 3.5, kv: 1, compute: 0.25, engine: 0.25, app: 0.5, other: 4, free: 6.5 });
    expect(sumOf(parts)).toBe(16);
  });

  it('count weights that were copied to memory of their own there', () => {
    const parts = partsOf({ weightsMapped: gib, resident: { own: 4.5 * gib, weights: gib } });
    expect(parts).toMatchObject({ weights: 4, kv: 1, compute: 0.25, engine: 0.25, other: 1, free: 9 });
    expect(sumOf(parts)).toBe(16);
  });

  it('are no larger than what has been touched', () => {
    const parts = partsOf({ resident: { own: 1.1 * gib, weights: 0 } });
    expect(parts).toMatchObject({ weights: 0, kv: 1, engine: 0 });
    expect(parts.compute).toBeCloseTo(0.1, 10);
    expect(sumOf(parts)).toBeCloseTo(16, 10);
  });

  it('are what was allocated where the system tells no more', () => {
    const parts = partsOf({ resident: null, app: null, process: 5.5 * gib, free: 5 * gib });
    expect(parts).toEqual({ weights: 4, kv: 1, compute: 0.25, engine: 0.25, other: 5.5, free: 5 });
    expect(sumOf(parts)).toBe(16);
  });

  it('never are negative', () => {
    for (const changes of [{ free: 20 * gib }, { free: 0 }, { resident: { own: 0, weights: 0 } }, { resident: null }]) {
      expect(Math.min(...Object.values(partsOf(changes)))).toBeGreaterThanOrEqual(0);
    }
  });
});

it('KV in use is the share of the cells', () => {
  expect(kvUsed(memory, 1024, 4096)).toBe(gib / 4);
  expect(kvUsed(memory, 5000, 4096)).toBe(gib);
  expect(kvUsed(memory, 0, 0)).toBe(0);
});
