import { expect, test } from 'vitest';
import { PrefillTrend } from '@/electron/engine/meter';

/** Reads `done` of `total` tokens in batches; `msOf`: time until that many are read. */
function read(total: number, done: number, msOf: (tokens: number) => number, batch = 512, cachedTokens = 0) {
  const trend = new PrefillTrend();
  const step = (at: number) =>
    trend.add({ promptTokens: total + cachedTokens, cachedTokens, done: at, elapsedMs: msOf(at) });
  for (let at = 0; at < done; at += batch) step(at);
  step(done);
  return trend;
}

/** 2 ms a token, and 0.001 ms more with each token before it: the second half of 16K takes much longer than the first. */
const quadratic = (tokens: number): number => 2 * tokens + 0.0005 * tokens ** 2;
const total = 16_384;

test('where attention makes later batches slower, the rest is told from their trend', () => {
  for (const done of [4096, 8192, 12_288]) {
    const trend = read(total, done, quadratic);
    const rest = quadratic(total) - quadratic(done);
    expect(trend.msLeft).toBeCloseTo(rest, 0);
    // what the mean rate would tell
    expect(((total - done) * quadratic(done)) / done).toBeLessThan(rest * 0.8);
    expect(trend.rateNow).toBeCloseTo((512 * 1000) / (quadratic(done) - quadratic(done - 512)), 5);
  }
});

test('a slow first batch (weights read from the disk) and uneven ones change little', () => {
  const uneven = (tokens: number) => (tokens > 0 ? 5000 : 0) + quadratic(tokens) + 60 * Math.sin(tokens);
  const trend = read(total, 8192, uneven);
  const rest = quadratic(total) - quadratic(8192);
  expect(Math.abs((trend.msLeft ?? 0) / rest - 1)).toBeLessThan(0.1);
});

test('constant cost, few batches, a last batch that is smaller, and cached tokens', () => {
  const linear = (tokens: number) => 3 * tokens;
  expect(read(1000, 512, linear).msLeft).toBeCloseTo(488 * 3, 5);
  expect(read(4000, 3000, linear).msLeft).toBeCloseTo(3000, 5);
  expect(read(4000, 3000, linear, 512, 2000).msLeft).toBeCloseTo(3000, 5);
  expect(read(1000, 1000, linear).msLeft).toBe(0);
});

test('it tells nothing before the first batch, and never less than none', () => {
  const trend = new PrefillTrend();
  expect([trend.msLeft, trend.rateNow]).toEqual([null, 0]);
  trend.add({ promptTokens: 100, cachedTokens: 0, done: 0, elapsedMs: 0 });
  expect([trend.msLeft, trend.rateNow]).toEqual([null, 0]);
  // each batch faster than the one before: the mean of them, not a line that falls below zero
  expect(read(8192, 4096, (tokens) => 100 * Math.sqrt(tokens)).msLeft).toBeGreaterThan(0);
});
