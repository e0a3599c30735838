import { describe, expect, it } from 'vitest';
import type { LiveStats, StreamFrame } from '@/electron/contract/engine';
import { initialStream } from '@/renderer/state/appState';
import { addFrame, beginAnswer, endAnswer, forgetTexts, resumeAnswer } from '@/renderer/state/slices/live';

const ids = { requestId: 'r', chatId: 'c', messageId: 'm' };
const stats: LiveStats = {
  phase: 'decode',
  promptTokens: 10,
  cachedTokens: 0,
  prefillDone: 10,
  promptTokensPerSecond: 100,
  promptTokensPerSecondNow: 100,
  prefillMsLeft: null,
  ttftMs: 50,
  answerTokens: 3,
  tokensPerSecondNow: 40,
  tokensPerSecondAverage: 41,
  contextUsed: 13,
  contextSize: 512,
};
const frame = (text: string, phase: LiveStats['phase'] = 'decode'): StreamFrame => ({
  ...ids,
  text,
  thinking: '',
  stats: { ...stats, phase },
});

describe('the stream of an answer', () => {
  it('grows by frames', () => {
    const state = addFrame(addFrame(beginAnswer(initialStream, ids), frame('Hel')), frame('lo'));
    expect(state.live.m).toMatchObject({ text: 'Hello', fromStart: true });
  });

  it('keeps frames that come before the answer of the call', () => {
    const state = beginAnswer(addFrame(initialStream, frame('Hel')), ids);
    expect(state.live.m).toMatchObject({ text: 'Hel', fromStart: true });
  });

  it('knows that it joined in the middle', () => {
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

  it('does not come back by a late frame or a late answer of the call', () => {
    const ended = endAnswer(beginAnswer(initialStream, ids), 'm', null);
    expect(addFrame(ended, frame('late'))).toBe(ended);
    expect(beginAnswer(ended, ids)).toBe(ended);
    expect(ended.live).toEqual({});
  });

  it('leaves other answers alone, as the objects that they are', () => {
    const two = addFrame(beginAnswer(initialStream, ids), { ...frame('x'), messageId: 'n' });
    expect(endAnswer(two, 'n', null).live.m).toBe(two.live.m);
  });

  it('starts over from the stored text after a lost connection', () => {
    const state = forgetTexts(addFrame(beginAnswer(initialStream, ids), frame('Hel')));
    expect(state.live.m).toMatchObject({ text: '', fromStart: false });
  });
});
