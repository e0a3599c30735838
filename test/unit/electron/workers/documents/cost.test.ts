import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { watchCost } from '@/electron/workers/documents/cost';

const limits = { memoryBytes: 1000, heapMb: 1, stallSeconds: 10, totalSeconds: 100 };

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

function watched() {
  const used = { bytes: 0, processorSeconds: 0 };
  const ends: string[] = [];
  const cost = watchCost(limits, (exceeded) => ends.push(exceeded), {
    bytes: () => used.bytes,
    processorSeconds: () => used.processorSeconds,
  });
  return { used, ends, progressed: cost.progressed };
}

it('ends what takes too much memory, once', () => {
  const { used, ends } = watched();
  used.bytes = 1000;
  vi.advanceTimersByTime(1000);
  expect(ends).toEqual([]);
  used.bytes = 1001;
  vi.advanceTimersByTime(1000);
  expect(ends).toEqual(['memory']);
});

it('counts the time of processors, not that of the clock', () => {
  const { used, ends, progressed } = watched();
  vi.advanceTimersByTime(3_600_000);
  expect(ends).toEqual([]);
  for (const seconds of [9, 18, 27]) {
    used.processorSeconds = seconds;
    vi.advanceTimersByTime(1000);
    progressed();
  }
  expect(ends).toEqual([]);
  used.processorSeconds = 38;
  vi.advanceTimersByTime(1000);
  expect(ends).toEqual(['stalled']);
});

it('ends what gets on without end', () => {
  const { used, ends, progressed } = watched();
  for (let seconds = 0; seconds <= 101; seconds++) {
    used.processorSeconds = seconds;
    vi.advanceTimersByTime(1000);
    progressed();
  }
  expect(ends).toEqual(['late']);
});
