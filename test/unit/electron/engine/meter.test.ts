import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { StreamFrame } from '@/electron/contract/engine';
import { FrameBatcher, flushMs } from '@/electron/engine/generation';
import { Meter, PrefillTrend, queuedStats } from '@/electron/engine/meter';

const drafts = { drafted: 0, accepted: 0, slower: false };

function metered(drafting = false) {
  let time = 1000;
  const meter = new Meter(8192, () => time, drafting);
  return {
    meter,
    at(ms: number) {
      time = 1000 + ms;
    },
    token(answerTokens: number, elapsedMs: number) {
      time = 1000 + elapsedMs;
      meter.onTokens({ answerTokens, contextUsed: 100 + answerTokens, elapsedMs, drafts });
    },
  };
}

test('before the first token it is in the prefill and shows its rate', () => {
  const { meter, at } = metered();
  at(500);
  meter.onPrefill({ promptTokens: 1000, cachedTokens: 200, done: 400, elapsedMs: 500 });
  expect(meter.stats()).toEqual({
    ...{ phase: 'prefill', promptTokens: 1000, cachedTokens: 200, prefillDone: 400, promptTokensPerSecond: 800 },
    ...{ promptTokensPerSecondNow: 800, prefillMsLeft: 500, ttftMs: null, answerTokens: 0, tokensPerSecondNow: 0 },
    ...{ tokensPerSecondAverage: 0, contextUsed: 600, contextSize: 8192 },
  });
});

test('the rate of now covers the last second, the average everything', () => {
  const { meter, token } = metered();
  // 10 tokens a second for 4 s, then 100 a second for 1 s
  for (let step = 0; step <= 40; step++) token(step + 1, 500 + step * 100);
  for (let step = 1; step <= 100; step++) token(41 + step, 4500 + step * 10);
  const stats = meter.stats();
  expect(stats.ttftMs).toBe(500);
  expect(stats.answerTokens).toBe(141);
  expect(stats.tokensPerSecondNow).toBeCloseTo(100, 5);
  expect(stats.tokensPerSecondAverage).toBeCloseTo(140 / 5, 5);
});

test('the rate of now falls while no token comes', () => {
  const { meter, at, token } = metered();
  token(1, 100);
  token(11, 200);
  expect(meter.stats().tokensPerSecondNow).toBeCloseTo(100, 5);
  at(3200);
  expect(meter.stats().tokensPerSecondNow).toBe(0);
});

test('what was drafted is told where tokens are drafted, and nowhere else', () => {
  const some = { drafted: 8, accepted: 6, slower: false };
  const chunk = { answerTokens: 1, contextUsed: 101, elapsedMs: 10, drafts: some };
  for (const drafting of [true, false]) {
    const { meter } = metered(drafting);
    meter.onTokens(chunk);
    expect(meter.stats().drafts).toEqual(drafting ? some : undefined);
  }
});

test('times are those of the engine, whenever its chunks arrive, and text that was held back is no token', () => {
  const { meter, at } = metered();
  at(900);
  for (let step = 1; step <= 11; step++) {
    meter.onTokens({ answerTokens: step, contextUsed: step, elapsedMs: 300 + step * 20, drafts });
  }
  meter.onTokens({ answerTokens: 11, contextUsed: 11, elapsedMs: 900, drafts });
  expect(meter.stats()).toMatchObject({ ttftMs: 320, phase: 'decode', prefillMsLeft: null });
  expect(meter.stats().tokensPerSecondAverage).toBeCloseTo(50, 5);
});

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

test('where attention makes later batches slower, the rest is computed from their trend', () => {
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

test('there is no estimate before the first batch, and never less than none', () => {
  const trend = new PrefillTrend();
  expect([trend.msLeft, trend.rateNow]).toEqual([null, 0]);
  trend.add({ promptTokens: 100, cachedTokens: 0, done: 0, elapsedMs: 0 });
  expect([trend.msLeft, trend.rateNow]).toEqual([null, 0]);
  // each batch faster than the one before: the mean of them, not a line that falls below zero
  expect(read(8192, 4096, (tokens) => 100 * Math.sqrt(tokens)).msLeft).toBeGreaterThan(0);
});

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

test('the first token does not wait; close sends the rest at once, and nothing when there is no rest', () => {
  const { sent, frames } = setUp();
  frames.add('first', '');
  vi.advanceTimersByTime(1);
  expect(sent.map(({ text }) => text)).toEqual(['first']);
  frames.add('second', '');
  vi.advanceTimersByTime(flushMs - 5);
  expect(sent).toHaveLength(1);
  vi.advanceTimersByTime(10);
  expect(sent).toHaveLength(2);
  frames.add('x', '');
  frames.close();
  vi.advanceTimersByTime(1000);
  frames.close();
  expect(sent.map(({ text }) => text)).toEqual(['first', 'second', 'x']);
});
