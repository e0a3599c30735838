import { expect, test } from 'vitest';
import { pagesOf } from '@/electron/contract/machine';
import { filePages, residentOf, withProcessMemory } from '@/electron/engine/memory';
import { deviceUse, partMemory } from '@/test/fixtures/samples';

const status = `Name:\tnode
VmRSS:\t   90000 kB
RssAnon:\t   40000 kB
RssFile:\t   49000 kB
RssShmem:\t    1000 kB
`;

test('pages are read from what Linux tells of a process', () => {
  expect(pagesOf(status)).toEqual({ own: 41_000 * 1024, file: 49_000 * 1024 });
  expect(pagesOf('Name:\tkthreadd\n')).toBeNull();
});

test('pages of files that came with the weights are weights, up to what is mapped of them', () => {
  const now = { own: 100, file: 900 };
  expect(residentOf(now, 200, 1000)).toEqual({ own: 100, weights: 700 });
  expect(residentOf(now, 200, 500)).toEqual({ own: 100, weights: 500 });
  expect(residentOf(now, 1000, 500)).toEqual({ own: 100, weights: 0 });
  expect(residentOf(null, 200, 500)).toBeNull();
  expect(residentOf(now, null, 500)).toBeNull();
});

test('the figures of this process are in the memory', () => {
  const context = { memory: () => partMemory, devices: () => [deviceUse] };
  const memory = withProcessMemory(context, [], filePages());
  expect(memory).toMatchObject({ ...partMemory, weightsMapped: 30e6, app: null });
  expect(memory.free).toBeLessThanOrEqual(memory.total);
  if (process.platform === 'linux') {
    expect(memory.resident?.own).toBeGreaterThan(10e6);
    expect(memory.resident?.own).toBeLessThanOrEqual(memory.process * 1.05);
  } else {
    expect(memory.resident).toBeNull();
  }
});
