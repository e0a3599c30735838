import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { StreamFrame } from '@/electron/contract/engine';
import { FrameBatcher, flushMs } from '@/electron/engine/generation';
import { queuedStats } from '@/electron/engine/meter';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setUp() {
  const sent: StreamFrame[] = [];
  const ids = { requestId: 'r', chatId: 'c', messageId: 'm' };
  const frames = new FrameBatcher(
    ids,
    () => queuedStats(0, 1),
    (frame) => sent.push(frame),
  );
  return { sent, frames };
}

test('a fast stream is sent at most 60 times a second and nothing is lost', () => {
  const { sent, frames } = setUp();
  for (let step = 0; step < 1000; step++) {
    frames.add('a', 'b');
    vi.advanceTimersByTime(1);
  }
  frames.close();
  expect(sent.length).toBeLessThanOrEqual(60);
  expect(sent.length).toBeGreaterThan(30);
  expect(sent.map(({ text }) => text).join('')).toBe('a'.repeat(1000));
  expect(sent.map(({ thinking }) => thinking).join('')).toBe('b'.repeat(1000));
});

test('the first token does not wait', () => {
  const { sent, frames } = setUp();
  frames.add('first', '');
  vi.advanceTimersByTime(1);
  expect(sent.map(({ text }) => text)).toEqual(['first']);
  frames.add('second', '');
  vi.advanceTimersByTime(flushMs - 5);
  expect(sent).toHaveLength(1);
  vi.advanceTimersByTime(10);
  expect(sent).toHaveLength(2);
});

test('close sends the rest at once, and nothing when there is no rest', () => {
  const { sent, frames } = setUp();
  frames.close();
  expect(sent).toEqual([]);
  frames.add('x', '');
  frames.close();
  vi.advanceTimersByTime(1000);
  expect(sent.map(({ text }) => text)).toEqual(['x']);
});
