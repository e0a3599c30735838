/** The strip's figures thinned out, the history behind the plots, and what they show. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LiveStats } from '@/electron/contract/engine';
import { unknownPower } from '@/electron/contract/machine';
import { formatAgo } from '@/renderer/features/meter/HistoryPlot';
import { columnsOf, largestOf, stacked, stackedParts } from '@/renderer/features/meter/historySeries';
import { powerHint, sparklinePoints } from '@/renderer/features/meter/StatusStrip';
import { type HistoryPoint, initialMeter, type MeterState } from '@/renderer/state/appState';
import { addSample, emptySparkline, maxValues } from '@/renderer/state/lib/sparkline';
import type { Tools } from '@/renderer/state/slice';
import { keptParts } from '@/renderer/state/slices/engine';
import { addPoint, createMeterActions, historyMs, isDue, showEveryMs } from '@/renderer/state/slices/live';
import { memory } from '@/test/fixtures/samples';
import { embeddedModel, fakeSettings, readyStatus } from './fakeData';

const writing: LiveStats = {
  phase: 'decode',
  promptTokens: 10,
  cachedTokens: 0,
  prefillDone: 10,
  promptTokensPerSecond: 100,
  promptTokensPerSecondNow: 90,
  prefillMsLeft: null,
  ttftMs: 100,
  answerTokens: 3,
  tokensPerSecondNow: 40,
  tokensPerSecondAverage: 41,
  contextUsed: 13,
  contextSize: 512,
};
const reading: LiveStats = { ...writing, phase: 'prefill', prefillMsLeft: 500, tokensPerSecondNow: 0 };
const ended = {
  ...{
    promptTokens: 10,
    cachedTokens: 0,
    restoredTokens: 0,
    rereadTokens: 0,
    parts: 1,
    answerTokens: 5,
    ttftMs: 100,
    promptTokensPerSecond: 100,
  },
  ...{ tokensPerSecond: 33, contextUsed: 15, contextSize: 512, typeK: 'turbo4', typeV: 'turbo4', seed: 1 },
};

function setUp() {
  let meter: MeterState = initialMeter;
  const shown: (LiveStats | null)[] = [];
  const status = readyStatus(fakeSettings().context, embeddedModel);
  const tools = {
    get: () => ({ meter, engine: { status } }),
    patch(_slice: 'meter', change: Partial<MeterState>) {
      meter = { ...meter, ...change };
      if ('live' in change) shown.push(meter.live);
    },
  } as unknown as Tools;
  return { actions: createMeterActions(tools), shown, state: () => meter };
}

describe('the figures of the strip', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('change at most four times a second, and end with the last ones', () => {
    const { actions, shown } = setUp();
    for (let frame = 0; frame < 40; frame++) {
      actions.frame('m', { ...writing, answerTokens: frame });
      vi.advanceTimersByTime(25);
    }
    expect(shown.length).toBeLessThanOrEqual(1000 / showEveryMs + 1);
    vi.advanceTimersByTime(showEveryMs);
    expect(shown.at(-1)?.answerTokens).toBe(39);
    const count = shown.length;
    vi.advanceTimersByTime(5000);
    expect(shown.length).toBe(count);
  });

  it('show at once that reading became writing, that an answer ended and that another one began', () => {
    const { actions, shown, state } = setUp();
    actions.frame('m', reading);
    actions.frame('m', writing);
    expect(shown.map((stats) => stats?.phase)).toEqual(['prefill', 'decode']);
    actions.end('m', ended);
    expect(shown.at(-1)).toBeNull();
    expect(state().sparkline.values).toEqual([40]);
    actions.frame('n', reading);
    expect(shown.at(-1)?.phase).toBe('prefill');
    expect(state().sparkline).toEqual(emptySparkline);
    actions.end('m', ended);
    expect(shown.at(-1)?.phase).toBe('prefill');
  });

  it('draw the speed of an answer that was over before it was told', () => {
    const { actions, state } = setUp();
    actions.frame('m', { ...writing, tokensPerSecondNow: 0 });
    actions.end('m', ended);
    expect(state().sparkline.values).toEqual([ended.tokensPerSecond]);
    actions.frame('n', { ...writing, tokensPerSecondNow: 0 });
    actions.frame('n', { ...writing, tokensPerSecondNow: 33 });
    actions.end('n', ended);
    expect(state().sparkline.values).toEqual([33]);
  });

  it('are not those of an answer that waits', () => {
    const { actions, shown } = setUp();
    actions.frame('m', { ...reading, phase: 'queued' });
    expect(shown).toEqual([]);
  });

  it('leave nothing that runs on when an answer ends between two of them', () => {
    const { actions, shown } = setUp();
    actions.frame('m', writing);
    actions.frame('m', { ...writing, answerTokens: 4 });
    actions.end('m', null);
    vi.advanceTimersByTime(5000);
    expect(shown).toEqual([writing, null]);
  });
});

describe('the history', () => {
  it('takes one reading a second, with the speed of an answer that was shorter than that', () => {
    const { actions, state } = setUp();
    actions.read(1000);
    actions.frame('m', reading);
    actions.frame('m', writing);
    actions.end('m', ended);
    actions.read(1400);
    actions.read(2000);
    actions.read(3000);
    expect(state().history.map(({ at, answerRate, promptRate }) => [at, answerRate, promptRate])).toEqual([
      [1000, 0, 0],
      [2000, 33, 90],
      [3000, 0, 0],
    ]);
    expect(state().history[1]).toMatchObject({ contextSize: 8192, memory: { kvK: expect.any(Number) } });
  });

  it('has the speed of a prompt that was read between two readings, once', () => {
    const { actions, state } = setUp();
    actions.frame('m', writing);
    actions.frame('m', { ...writing, answerTokens: 4 });
    actions.read(1000);
    actions.read(2000);
    expect(state().history.map(({ answerRate, promptRate }) => [answerRate, promptRate])).toEqual([
      [40, 90],
      [40, 0],
    ]);
    actions.end('m', null);
  });

  it('holds the speed while an answer goes on without frames', () => {
    const { actions, state } = setUp();
    actions.frame('m', reading);
    actions.read(1000);
    actions.read(2000);
    expect(state().history.map(({ promptRate }) => promptRate)).toEqual([90, 90]);
    expect(state().history[1]?.contextUsed).toBe(13);
    actions.end('m', null);
  });

  it('is a ring, and starts over when the clock is set back', () => {
    const point = (at: number): HistoryPoint => ({
      ...{ at, answerRate: 0, promptRate: 0, contextUsed: 0, contextSize: 0, memory },
    });
    let history: HistoryPoint[] = [];
    for (let at = 0; at <= historyMs + 60_000; at += 1000) history = addPoint(history, point(at));
    expect(history.length).toBe(historyMs / 1000);
    expect(history[0]?.at).toBe(61_000);
    expect([isDue(history, historyMs + 60_500), isDue(history, historyMs + 61_000), isDue(history, 5)]).toEqual([
      false,
      true,
      true,
    ]);
    expect(addPoint(history, point(5))).toEqual([point(5)]);
  });

  it('becomes columns of seconds before now, with a gap where nothing was read', () => {
    const points = [10_000, 11_000, 31_000, 32_000].map((at, i) => ({
      ...{ at, answerRate: i, promptRate: 0, contextUsed: 0, contextSize: 0, memory },
    }));
    expect(columnsOf(points, 'answer', 60_000)).toEqual([
      [-22, -21, -20.999, -1, 0],
      [0, 1, null, 2, 3],
    ]);
    expect(columnsOf(points, 'answer', 10_000)[0]).toEqual([-1, 0]);
    expect(columnsOf([], 'memory', 1000)).toHaveLength(1 + stackedParts.length);
  });

  it('stacks the memory up to what is not free', () => {
    const point = { at: 0, answerRate: 0, promptRate: 0, contextUsed: 0, contextSize: 0, memory };
    const sums = stacked(columnsOf([point], 'memory', 60_000));
    expect(sums[1]).toEqual([30e6]);
    // 4e9 are available, of which 30e6 are the weights' pages
    expect(largestOf(sums)).toBe(8e9 - (4e9 - 30e6));
  });
});

describe('the line in the strip', () => {
  it('covers the whole answer in a bounded number of values', () => {
    let line = emptySparkline;
    for (let i = 0; i < 1000; i++) line = addSample(line, i < 500 ? 10 : 20);
    expect(line.values.length).toBeLessThan(maxValues);
    expect([line.values[0], line.values.at(-1)]).toEqual([10, 20]);
    expect(line.stride * line.values.length + line.open.length).toBe(1000);
  });

  it('reaches from edge to edge, the fastest at the top', () => {
    expect(sparklinePoints([], 56, 14)).toBe('');
    expect(sparklinePoints([0, 0], 56, 14)).toBe('');
    expect(sparklinePoints([5], 56, 14)).toBe('0,1 56,1');
    expect(sparklinePoints([0, 5, 10], 56, 14)).toBe('0,13 28,7 56,1');
  });
});

it('says how long ago', () => {
  expect([0, -30, -60, -90, -300].map(formatAgo)).toEqual(['now', '−30 s', '−1 min', '−1:30', '−5 min']);
});

describe('heat and power', () => {
  it('are mentioned only when they matter and are known', () => {
    expect(powerHint(unknownPower)).toBeNull();
    expect(powerHint({ thermal: 'nominal', speedLimit: 100, onBattery: false })).toBeNull();
    expect(powerHint({ thermal: 'fair', speedLimit: null, onBattery: false })).toBeNull();
    expect(powerHint({ thermal: 'fair', speedLimit: null, onBattery: true })).toMatchObject({
      text: 'Battery',
      slow: false,
    });
  });

  it('are amber when they slow answers down', () => {
    expect(powerHint({ thermal: 'nominal', speedLimit: 70, onBattery: true })).toMatchObject({
      text: 'Slowed to 70%',
      slow: true,
    });
    expect(powerHint({ thermal: 'critical', speedLimit: 50, onBattery: null })).toMatchObject({
      text: 'Hot',
      slow: true,
    });
    expect(powerHint({ thermal: 'serious', speedLimit: 50, onBattery: null })?.title).toContain('50%');
    expect(powerHint({ thermal: 'serious', speedLimit: null, onBattery: null })?.title).not.toContain('%');
  });
});

it('a status that comes again keeps its parts, so that only what changed renders', () => {
  const status = readyStatus(fakeSettings().context, embeddedModel);
  const again = keptParts(status, structuredClone({ ...status, contextUsed: 5 }));
  expect(again.contextUsed).toBe(5);
  expect(again.context).toBe(status.context);
  expect(again.capabilities).toBe(status.capabilities);
  const other = structuredClone(status);
  if (other.context) other.context.nCtx = 1024;
  expect(keptParts(status, other).context).toBe(other.context);
});
