/** The probe of the memory: plausible figures in time, and an end when it is asked for. */
import { expect, it } from 'vitest';
import { memoryProbeSchema } from '@/electron/contract/machine';
import { engine, engineServer, refusal } from '../support';

const smallest = 64 * 2 ** 20;

it('reads with 1, 2, 4, ... and all cores, and reports its progress', async () => {
  const fractions: number[] = [];
  const found = await engine().probeBandwidth(smallest, { onProgress: (fraction) => fractions.push(fraction) });
  const { physicalCores } = engine().capabilities();
  const counts = found.map(({ threads }) => threads);
  expect(counts[0]).toBe(1);
  expect(counts.at(-1)).toBe(physicalCores);
  expect(counts).toEqual([...new Set(counts)].sort((a, b) => a - b));
  // slower than any memory in use, faster than none
  for (const { bytesPerSecond } of found) {
    expect(bytesPerSecond).toBeGreaterThan(1e7);
    expect(bytesPerSecond).toBeLessThan(1e13);
  }
  expect(fractions.at(-1)).toBe(1);
});

it('is an operation of the engine process, with the memory of the machine', async () => {
  const fractions: number[] = [];
  const { handlers } = engineServer({ probeProgress: (fraction) => fractions.push(fraction) });
  const found = memoryProbeSchema.parse(await handlers.probe(undefined));
  expect(found.freeBytes).toBeLessThanOrEqual(found.totalBytes);
  expect(found.bandwidth.length).toBe(fractions.length);
  const running = refusal(handlers.probe(undefined));
  await handlers.cancelProbe(undefined);
  expect(await running).toMatchObject({ code: 'cancelled' });
});
