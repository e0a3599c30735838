import { describe, expect, it, test } from 'vitest';
import type { Memory } from '@/electron/contract/engine';
import { appMemory, besideEngine, looksTheSame } from '@/electron/services/engine/engineMemory';
import { memory } from '@/test/fixtures/samples';

const status = (anonymousKib: number) => `RssAnon:\t${anonymousKib} kB\nRssFile:\t500000 kB\nRssShmem:\t10 kB\n`;

test.runIf(process.platform === 'linux')('sums up what each process has of its own', () => {
  const bytes = appMemory([1, 2, 3], (pid) => {
    if (pid === 2) throw new Error('ENOENT');
    return status(100 * pid);
  });
  expect(bytes).toBe((100 + 300 + 2 * 10) * 1024);
  expect(appMemory([process.pid])).toBeGreaterThan(10e6);
});

test.runIf(process.platform !== 'linux')('reports nothing where resident sizes hold shared pages', () =>
  expect(appMemory([process.pid])).toBeNull(),
);

test('of the processes the engine is left out, and those beside it count once', () => {
  // in Electron all are listed, in headless mode only the server
  expect(besideEngine([1, 2, 3, 4], 2, [3, undefined])).toEqual([1, 3, 4]);
  expect(besideEngine([1], 2, [3, 5])).toEqual([1, 3, 5]);
  expect(besideEngine([1], undefined, [undefined])).toEqual([1]);
});

const MiB = 1024 * 1024;
const { free, compute, total } = memory;

describe('two readings of the memory', () => {
  it('look the same when no figure changes by what a person could see', () => {
    expect(looksTheSame(memory, { ...memory })).toBe(true);
    expect(looksTheSame(memory, { ...memory, free: free - 15 * MiB, process: 90e6 + MiB })).toBe(true);
    expect(looksTheSame({ ...memory, resident: null }, { ...memory, resident: null })).toBe(true);
  });

  it.each<Partial<Memory>>([
    { free: free - 60 * MiB },
    { process: 90e6 + 5 * MiB },
    { app: 200e6 + 2 * MiB },
    { resident: { own: 44e6, weights: 30e6 } },
    { resident: { own: 40e6, weights: 20e6 } },
    { weightsMapped: 20e6 },
    { weights: 20e6 },
    { compute: compute + 2 * MiB },
    // the caches and the total to the byte
    { kvK: memory.kvK + 1 },
    { kvV: memory.kvV + 1 },
    { kvF16: memory.kvF16 + 1 },
    { total: total + 1 },
    // what the system does not tell
    { app: null },
    { resident: null },
  ])('differ by %j', (change) => {
    expect(looksTheSame(memory, { ...memory, ...change })).toBe(false);
  });
});
