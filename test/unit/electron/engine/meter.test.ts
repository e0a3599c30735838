import { expect, test } from 'vitest';
import { Meter } from '../../../../electron/engine/meter';

function setUp() {
  let time = 1000;
  const meter = new Meter(8192, () => time);
  return {
    meter,
    at(ms: number) {
      time = 1000 + ms;
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
    ttftMs: null,
    answerTokens: 0,
    tokensPerSecondNow: 0,
    tokensPerSecondAverage: 0,
    contextUsed: 600,
    contextSize: 8192,
  });
});

test('the rate of now covers the last second, the average everything', () => {
  const { meter, at } = setUp();
  // 10 tokens a second for 4 s, then 100 a second for 1 s
  for (let token = 0; token <= 40; token++) {
    at(500 + token * 100);
    meter.onTokens(token + 1, 100 + token);
  }
  for (let token = 1; token <= 100; token++) {
    at(4500 + token * 10);
    meter.onTokens(41 + token, 140 + token);
  }
  const stats = meter.stats();
  expect(stats.ttftMs).toBe(500);
  expect(stats.answerTokens).toBe(141);
  expect(stats.tokensPerSecondNow).toBeCloseTo(100, 5);
  expect(stats.tokensPerSecondAverage).toBeCloseTo(140 / 5, 5);
});

test('the rate of now falls while no token comes', () => {
  const { meter, at } = setUp();
  at(100);
  meter.onTokens(1, 1);
  at(200);
  meter.onTokens(11, 11);
  expect(meter.stats().tokensPerSecondNow).toBeCloseTo(100, 5);
  at(3200);
  expect(meter.stats().tokensPerSecondNow).toBe(0);
});
