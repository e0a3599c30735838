/** An answer while it is written: its text, the strip's figures thinned out, and the history behind the plots. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Message, Summary, SummaryPart } from '@/electron/contract/chats';
import type { LiveStats, StreamFrame } from '@/electron/contract/engine';
import {
  type HistoryPoint,
  initialMeter,
  initialStream,
  type LiveAnswer,
  type MeterState,
} from '@/renderer/state/appState';
import { emptySparkline } from '@/renderer/state/lib/sparkline';
import type { Tools } from '@/renderer/state/slice';
import {
  addFrame,
  addPoint,
  beginAnswer,
  createMeterActions,
  endAnswer,
  endedParts,
  forgetTexts,
  historyMs,
  isDue,
  openPartOf,
  resumeAnswer,
  showEveryMs,
} from '@/renderer/state/slices/live';
import { answerStats, memory, message, readyStatus, liveStats as writing } from '@/test/fixtures/samples';

const ids = { requestId: 'r', chatId: 'c', messageId: 'm' };
const reading: LiveStats = { ...writing, phase: 'prefill', prefillMsLeft: 500, tokensPerSecondNow: 0 };
const ended = { ...answerStats, tokensPerSecond: 33 };
const frame = (text: string, phase: LiveStats['phase'] = 'decode'): StreamFrame => ({
  ...ids,
  text,
  thinking: '',
  stats: { ...writing, phase },
});

describe('the stream of an answer', () => {
  it('keeps frames that come before the answer of the call', () => {
    const state = beginAnswer(addFrame(initialStream, frame('Hel')), ids);
    expect(state.live.m).toMatchObject({ text: 'Hel', fromStart: true });
    // joined in the middle, and at the start
    expect(addFrame(initialStream, frame('lo')).live.m?.fromStart).toBe(false);
    expect(addFrame(initialStream, frame('', 'prefill')).live.m?.fromStart).toBe(true);
  });

  it('goes on behind what it has when it is continued, though it had ended', () => {
    const ended = endAnswer(beginAnswer(initialStream, ids), 'm', null);
    const resumed = resumeAnswer(ended, { chatId: 'c', messageId: 'm', text: 'Hel', thinking: 'Hm' });
    expect(resumed.live.m).toMatchObject({ requestId: null, text: 'Hel' });
    const state = beginAnswer(addFrame(resumed, frame('lo', 'prefill')), ids);
    expect(state.live.m).toMatchObject({ requestId: 'r', text: 'Hello', thinking: 'Hm', fromStart: true });
  });

  it('does not come back by a late frame or a late answer of the call, and leaves other answers alone', () => {
    const ended = endAnswer(beginAnswer(initialStream, ids), 'm', null);
    expect(addFrame(ended, frame('late'))).toBe(ended);
    expect(beginAnswer(ended, ids)).toBe(ended);
    expect(ended.live).toEqual({});
    const two = addFrame(beginAnswer(initialStream, ids), { ...frame('x'), messageId: 'n' });
    expect(endAnswer(two, 'n', null).live.m).toBe(two.live.m);
  });

  it('starts over from the stored text after a lost connection', () => {
    const state = forgetTexts(addFrame(beginAnswer(initialStream, ids), frame('Hel')));
    expect(state.live.m).toMatchObject({ text: '', fromStart: false });
  });
});

it('of a summary: late frames of a part that has ended do not count, those of other answers do', () => {
  const part = (label: string, ms: number | null, text = ''): SummaryPart => ({
    ...{ label, text, ms, tokens: 1000 },
    source: { kind: 'document', attachment: { documentId: 'd', name: 'a.pdf', part: { kind: 'whole' } } },
  });
  const summary = (parts: Summary['parts'], stopReason: Message['stopReason'] = null) =>
    message({ role: 'assistant', stopReason, summary: { kind: 'summary', parts } });
  const live: LiveAnswer = { ...ids, text: '', thinking: '', stats: null, fromStart: true };
  const parts = [part('Page 1', 5000, 'One.'), part('Page 2', null, 'Tw'), part('Page 3', null)];
  const running = summary(parts);
  expect(openPartOf(running)).toEqual({ id: 'm#1', text: 'Tw' });
  expect(endedParts(running, { m: live, 'm#0': live, 'm#1': live, 'n#0': live })).toEqual(['m#0']);
  // also when no frame of it has come yet
  expect(endedParts(running, {})).toEqual(['m#0']);
  expect(endedParts(summary(parts, 'cancelled'), { 'm#1': live }).sort()).toEqual(['m#0', 'm#1']);
  expect(openPartOf(summary([part('Page 1', 1)]))).toBeNull();
});

function setUp() {
  let meter: MeterState = initialMeter;
  const shown: (LiveStats | null)[] = [];
  const tools = {
    get: () => ({ meter, engine: { status: readyStatus } }),
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

  it('draw the speed of an answer that was over before it was reported', () => {
    const { actions, state } = setUp();
    actions.frame('m', { ...writing, tokensPerSecondNow: 0 });
    actions.end('m', ended);
    expect(state().sparkline.values).toEqual([ended.tokensPerSecond]);
    actions.frame('n', { ...writing, tokensPerSecondNow: 0 });
    actions.frame('n', { ...writing, tokensPerSecondNow: 33 });
    actions.end('n', ended);
    expect(state().sparkline.values).toEqual([33]);
  });

  it('are not those of an answer that waits, and leave nothing that runs on when one ends between two of them', () => {
    const { actions, shown } = setUp();
    actions.frame('m', { ...reading, phase: 'queued' });
    expect(shown).toEqual([]);
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
});
