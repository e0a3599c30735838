import { describe, expect, it, test } from 'vitest';
import type { Memory } from '@/electron/contract/engine';
import { appMemory, besideEngine, looksTheSame } from '@/electron/services/engine/engineMemory';

const status = (anonymousKib: number) => `RssAnon:\t${anonymousKib} kB\nRssFile:\t500000 kB\nRssShmem:\t10 kB\n`;

test.runIf(process.platform === 'linux')('sums up what each process has of its own', () => {
  const bytes = appMemory([1, 2, 3], (pid) => {
    if (pid === 2) throw new Error('ENOENT');
    return status(100 * pid);
  });
  expect(bytes).toBe((100 + 300 + 2 * 10) * 1024);
  expect(appMemory([process.pid])).toBeGreaterThan(10e6);
});

test.runIf(process.platform !== 'linux')('tells nothing where resident sizes hold shared pages', () =>
  expect(appMemory([process.pid])).toBeNull(),
);

test('of the processes the engine is left out, and the one that looks at model files counts once', () => {
  // in Electron all are listed, in headless mode only the server
  expect(besideEngine([1, 2, 3, 4], 2, 3)).toEqual([1, 3, 4]);
  expect(besideEngine([1], 2, 3)).toEqual([1, 3]);
  expect(besideEngine([1], undefined, undefined)).toEqual([1]);
});

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
