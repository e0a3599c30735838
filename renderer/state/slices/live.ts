/**
 * Figures for the strip and the plots, thinned out: frames come up to 40 times a second, the strip changes at most 4 times
 * a second, and a reading of the history is taken once a second.
 */
import type { AnswerStats } from '../../../electron/contract/chats';
import type { LiveStats } from '../../../electron/contract/engine';
import type { Power } from '../../../electron/contract/power';
import { addSample, emptySparkline, type Sparkline } from '../lib/sparkline';
import { addPoint, isDue } from '../meter/history';
import type { Tools } from '../slice';

export const showEveryMs = 250;

type Rates = { answer: number; prompt: number };
const atRest: Rates = { answer: 0, prompt: 0 };

export function createMeterActions({ get, patch }: Tools) {
  let answering: string | null = null;
  /** its prompt has been read, and the speed of that is in `rates` until the next reading */
  let read = false;
  let waiting: LiveStats | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  /** since the last reading: an answer may be shorter than a second */
  let rates = atRest;

  function show(stats: LiveStats): void {
    waiting = null;
    timer = setTimeout(showWaiting, showEveryMs);
    const { sparkline } = get().meter;
    const speed = stats.tokensPerSecondNow;
    patch('meter', { live: stats, sparkline: withSpeed(sparkline, speed) });
  }

  function showWaiting(): void {
    timer = null;
    if (waiting) show(waiting);
  }

  function stopTimer(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    waiting = null;
  }

  function takeRates(): Rates {
    const taken = rates;
    // an answer that goes on without a frame has not stopped
    const { live } = get().meter;
    rates = live ? ratesOf(live, read ? 0 : live.promptTokensPerSecondNow) : atRest;
    return taken;
  }

  return {
    turnOff: () => patch('meter', { off: true }),
    receivePower: (power: Power) => patch('meter', { power }),

    /** Figures of the answer that is at work. */
    frame(messageId: string, stats: LiveStats): void {
      if (stats.phase === 'queued' || get().meter.off) return;
      if (answering !== messageId) {
        stopTimer();
        answering = messageId;
        read = false;
        patch('meter', { sparkline: emptySparkline });
      }
      rates = ratesOf(stats, read ? rates.prompt : stats.promptTokensPerSecondNow);
      read = stats.phase === 'decode';
      // reading that became writing is news, however soon it comes
      if (!timer || get().meter.live?.phase !== stats.phase) {
        stopTimer();
        show(stats);
      } else waiting = stats;
    },

    end(messageId: string, stats: AnswerStats | null): void {
      if (answering !== messageId) return;
      const unshown = waiting?.tokensPerSecondNow ?? 0;
      stopTimer();
      answering = null;
      if (stats) rates = { answer: stats.tokensPerSecond, prompt: rates.prompt };
      const line = withSpeed(get().meter.sparkline, unshown);
      // an answer of a few tokens may end before its speed was ever told
      const sparkline = line.values.length === 0 ? withSpeed(line, stats?.tokensPerSecond ?? 0) : line;
      patch('meter', { live: null, sparkline });
    },

    /** Takes a reading of the history from what the engine told last. */
    read(at = Date.now()): void {
      const { meter, engine } = get();
      const { status } = engine;
      if (meter.off || !status?.memory || !isDue(meter.history, at)) return;
      const { answer, prompt } = takeRates();
      const point = {
        at,
        answerRate: answer,
        promptRate: prompt,
        contextUsed: meter.live?.contextUsed ?? status.contextUsed,
        contextSize: status.context?.nCtx ?? 0,
        memory: status.memory,
      };
      patch('meter', { history: addPoint(meter.history, point) });
    },
  };
}

function withSpeed(sparkline: Sparkline, speed: number): Sparkline {
  return speed > 0 ? addSample(sparkline, speed) : sparkline;
}

function ratesOf(stats: LiveStats, prompt: number): Rates {
  return { answer: stats.phase === 'decode' ? stats.tokensPerSecondNow : 0, prompt };
}
