import { expect, test } from 'vitest';
import { Meter } from '@/electron/engine/meter';

function setUp() {
  let time = 1000;
  const meter = new Meter(8192, () => time);
  return {
    meter,
    at(ms: number) {
      time = 1000 + ms;
    },
    token(answerTokens: number, elapsedMs: number) {
      time = 1000 + elapsedMs;
      meter.onTokens({ answerTokens, contextUsed: 100 + answerTokens, elapsedMs });
    },
  };
}

test('before the first token it is in the prefill and shows its rate', () => {
  const { meter, at } = setUp();
  at(500);
  meter.onPrefill({ promptTokens: 1000, cachedTokens: 200, done: 400, elapsedMs: 500 });
  expect(meter.stats()).toEqual({
    phase: 'prefill',
    promptTokens: 1000,
    cachedTokens: 200,
    prefillDone: 400,
    promptTokensPerSecond: 800,
    promptTokensPerSecondNow: 800,
    prefillMsLeft: 500,
    ttftMs: null,
    answerTokens: 0,
    tokensPerSecondNow: 0,
    tokensPerSecondAverage: 0,
    contextUsed: 600,
    contextSize: 8192,
  });
});

test('the rate of now covers the last second, the average everything', () => {
  const { meter, token } = setUp();
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
  const { meter, at, token } = setUp();
  token(1, 100);
  token(11, 200);
  expect(meter.stats().tokensPerSecondNow).toBeCloseTo(100, 5);
  at(3200);
  expect(meter.stats().tokensPerSecondNow).toBe(0);
});

test('times are those of the engine, whenever its chunks arrive, and text that was held back is no token', () => {
  const { meter, at } = setUp();
  at(900);
  for (let step = 1; step <= 11; step++) {
    meter.onTokens({ answerTokens: step, contextUsed: step, elapsedMs: 300 + step * 20 });
  }
  meter.onTokens({ answerTokens: 11, contextUsed: 11, elapsedMs: 900 });
  expect(meter.stats()).toMatchObject({ ttftMs: 320, phase: 'decode', prefillMsLeft: null });
  expect(meter.stats().tokensPerSecondAverage).toBeCloseTo(50, 5);
});
