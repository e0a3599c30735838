import { describe, expect, it } from 'vitest';
import type { Memory } from '@/electron/contract/engine';
import { looksTheSame } from '@/electron/services/engine/engineMemory';

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;
const shown: Memory = {
  weights: 600 * MiB,
  weightsMapped: 600 * MiB,
  kvK: 8 * MiB,
  kvV: 8 * MiB,
  kvF16: 64 * MiB,
  compute: 20 * MiB,
  process: 700 * MiB,
  resident: { own: 90 * MiB, weights: 600 * MiB },
  app: 100 * MiB,
  total: 16 * GiB,
  free: 9 * GiB,
};

describe('two readings of the memory', () => {
  it('look the same when no figure changes by what a person could see', () => {
    expect(looksTheSame(shown, { ...shown })).toBe(true);
    expect(looksTheSame(shown, { ...shown, free: shown.free - 40 * MiB, process: shown.process + MiB })).toBe(true);
    expect(looksTheSame({ ...shown, resident: null }, { ...shown, resident: null })).toBe(true);
  });

  it.each<[string, Partial<Memory>]>([
    ['free memory', { free: shown.free - 60 * MiB }],
    ['the process', { process: shown.process + 5 * MiB }],
    ['the app', { app: shown.app === null ? 0 : shown.app + 2 * MiB }],
    ['own pages', { resident: { own: 94 * MiB, weights: 600 * MiB } }],
    ['pages of the weights', { resident: { own: 90 * MiB, weights: 500 * MiB } }],
    ['mapped weights', { weightsMapped: 500 * MiB }],
    ['weights', { weights: 500 * MiB }],
    ['compute buffers', { compute: 22 * MiB }],
    ['a byte of the K cache', { kvK: shown.kvK + 1 }],
    ['a byte of the V cache', { kvV: shown.kvV + 1 }],
    ['what f16 would take', { kvF16: shown.kvF16 + 1 }],
    ['the total', { total: shown.total + 1 }],
    ['what the system tells', { app: null }],
    ['what the system tells of pages', { resident: null }],
  ])('differ by %s', (_, change) => {
    expect(looksTheSame(shown, { ...shown, ...change })).toBe(false);
  });
});
