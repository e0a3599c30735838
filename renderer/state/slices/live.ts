/**
 * Figures for the strip and the plots, thinned out: frames come up to 40 times a second, the strip changes at most 4 times
 * a second, and a reading of the history is taken once a second.
 */

import { type AnswerStats, type Message, openPart, partMessageId } from '../../../electron/contract/chats';
import type { LiveStats, StreamFrame } from '../../../electron/contract/engine';
import { isBriefMessage } from '../../../electron/contract/lib/brief';
import type { Power } from '../../../electron/contract/machine';
import { roundMessageId } from '../../../electron/contract/tools/tools';
import type { AppState, HistoryPoint, LiveAnswer, StreamState } from '../appState';
import { addSample, emptySparkline, type Sparkline } from '../lib/sparkline';
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

// Pure steps of the history: a ring of readings, one a second.

export const historyMs = 15 * 60_000;
/** Readings come once a second; state changes in between bring the same figures again. */
const minApartMs = 900;

export function isDue(history: readonly HistoryPoint[], at: number): boolean {
  const last = history.at(-1);
  // a clock that was set back starts over
  return !last || at - last.at >= minApartMs || at < last.at;
}

export function addPoint(history: readonly HistoryPoint[], point: HistoryPoint): HistoryPoint[] {
  const kept = history.filter(({ at }) => at > point.at - historyMs && at <= point.at);
  kept.push(point);
  return kept;
}

/** Null as soon as no answer is at work, whatever the last figures were. */
export const selectLiveFigures = (state: AppState): LiveStats | null => (selectActive(state) ? state.meter.live : null);
export const selectMeterOff = (state: AppState) => state.meter.off;
export const selectSparkline = (state: AppState): Sparkline =>
  selectLiveFigures(state) || selectShownStats(state) ? state.meter.sparkline : emptySparkline;
export const selectHistory = (state: AppState) => state.meter.history;
export const selectPower = (state: AppState) => state.meter.power;

/** Tokens in the cache: of the answer at work, else as last read. */
export const selectContextUsed = (state: AppState): number =>
  selectLiveFigures(state)?.contextUsed ?? state.engine.status?.contextUsed ?? 0;
/** Of the open chat, tokens in the cache; null: the cache is of another chat, or was never filled with this one. */
export const selectChatTokensRead = (state: AppState): number | null => {
  const { chat } = state.conversation;
  if (!chat || chat.messages.length === 0) return 0;
  const live = selectLiveFigures(state);
  if (live && live.phase !== 'saving') return selectActive(state)?.chatId === chat.id ? live.contextUsed : null;
  const { contextChat, contextUsed } = state.engine.status ?? { contextChat: null, contextUsed: 0 };
  return contextChat === chat.id && contextUsed > 0 ? contextUsed : null;
};
/** The cells in the cache are of a chat that is not open. */
export const selectHoldsOtherChat = (state: AppState): boolean => {
  const live = selectLiveFigures(state);
  const held = live && live.phase !== 'saving' ? selectActive(state)?.chatId : state.engine.status?.contextChat;
  return selectContextUsed(state) > 0 && held !== state.conversation.chat?.id;
};
/** Tokens that the cache holds. */
export const selectContextSize = (state: AppState): number =>
  selectLiveFigures(state)?.contextSize || (state.engine.status?.context?.nCtx ?? 0);

/** Tokens per second of the answer that had the most to read: a short prompt says little. */
export function readingRate(messages: readonly Pick<Message, 'stats'>[]): number {
  let most = 0;
  let rate = 0;
  for (const { stats } of messages) {
    const read = stats ? stats.promptTokens - stats.cachedTokens : 0;
    if (stats && read > most) [most, rate] = [read, stats.promptTokensPerSecond];
  }
  return rate;
}

export function selectLive(messageId: string) {
  return (state: AppState): LiveAnswer | null => state.stream.live[messageId] ?? null;
}

/** The answer that the engine works on now; others wait in its queue. */
function selectActive(state: AppState): LiveAnswer | null {
  for (const id in state.stream.live) {
    const answer = state.stream.live[id];
    if (answer?.stats && answer.stats.phase !== 'queued') return answer;
  }
  return null;
}

export const selectActiveStats = (state: AppState) => selectActive(state)?.stats ?? null;
export const selectActivePhase = (state: AppState) => selectActive(state)?.stats?.phase ?? null;
export const selectLastStats = (state: AppState): AnswerStats | null => state.stream.last?.stats ?? null;
/** Null where the last answer is of a chat that is not open. */
export const selectShownStats = (state: AppState): AnswerStats | null =>
  state.stream.last?.chatId === state.conversation.chat?.id ? selectLastStats(state) : null;

/** What the answer of a chat is at; null: nothing is being written in it, or no frame has come. */
export function selectPhase(chatId: string | null) {
  return (state: AppState): LiveStats['phase'] | null => {
    for (const id in state.stream.live) {
      const answer = state.stream.live[id];
      if (answer?.chatId === chatId) return answer?.stats?.phase ?? null;
    }
    return null;
  };
}

export function selectIsAnswering(chatId: string | null) {
  return (state: AppState): boolean => {
    for (const id in state.stream.live) if (state.stream.live[id]?.chatId === chatId) return true;
    return false;
  };
}

// Pure steps of the stream: an answer begins, grows by frames, ends.

const rememberedEnds = 64;

type Ids = Pick<LiveAnswer, 'requestId' | 'chatId' | 'messageId'>;

/** The services took the question. Frames may have come before this answer of the call; they are kept. */
export function beginAnswer(state: StreamState, ids: Ids): StreamState {
  if (state.ended.includes(ids.messageId)) return state;
  const known = state.live[ids.messageId];
  const answer: LiveAnswer = known
    ? { ...known, requestId: ids.requestId, fromStart: true }
    : { ...ids, text: '', thinking: '', stats: null, fromStart: true };
  return { ...state, live: { ...state.live, [ids.messageId]: answer } };
}

/** An answer that had ended goes on: its frames count again, and add to what it has. */
export function resumeAnswer(
  state: StreamState,
  { chatId, messageId, text, thinking }: Pick<LiveAnswer, 'chatId' | 'messageId' | 'text' | 'thinking'>,
): StreamState {
  const answer: LiveAnswer = { requestId: null, chatId, messageId, text, thinking, stats: null, fromStart: true };
  return {
    ...state,
    live: { ...state.live, [messageId]: answer },
    ended: state.ended.filter((id) => id !== messageId),
  };
}

export function addFrame(state: StreamState, frame: StreamFrame): StreamState {
  if (state.ended.includes(frame.messageId)) return state;
  const known = state.live[frame.messageId];
  const answer: LiveAnswer = {
    requestId: frame.requestId,
    chatId: frame.chatId,
    messageId: frame.messageId,
    text: (known?.text ?? '') + frame.text,
    thinking: (known?.thinking ?? '') + frame.thinking,
    stats: frame.stats,
    fromStart: known?.fromStart ?? frame.stats.phase !== 'decode',
  };
  return { ...state, live: { ...state.live, [frame.messageId]: answer } };
}

export function endAnswer(state: StreamState, messageId: string, stats: AnswerStats | null): StreamState {
  const { [messageId]: answer, ...live } = state.live;
  const ended = state.ended.includes(messageId) ? state.ended : [...state.ended, messageId].slice(-rememberedEnds);
  return { live, ended, last: stats && answer ? { chatId: answer.chatId, stats } : state.last };
}

/** After a lost connection: what was missed is unknown, so the stored text is the base again. */
export function forgetTexts(state: StreamState): StreamState {
  const live = Object.fromEntries(
    Object.entries(state.live).map(([id, answer]) => [id, { ...answer, text: '', thinking: '', fromStart: false }]),
  );
  return { ...state, live };
}

// A summary streams part by part, each under an id of its own: which of them are over. Pure.

/**
 * What is written now or next under an id of its own, and what there is of it: a part of a summary, or the words behind calls of
 * tools; null: there is no such.
 */
export function openPartOf({
  id,
  summary,
  rounds,
  text,
}: Pick<Message, 'id' | 'summary' | 'rounds' | 'text'>): { id: string; text: string } | null {
  if (rounds) return { id: roundMessageId(id, rounds.length), text };
  const index = summary ? openPart(summary) : -1;
  const part = summary?.parts[index];
  return part ? { id: partMessageId(id, index), text: part.text } : null;
}

/** Ids whose late frames must not count any more, in the state that the services have just told. */
export function endedParts(message: Message, live: Readonly<Record<string, LiveAnswer>>): string[] {
  if (message.rounds) return endedRounds(message, message.rounds.length, live);
  if (!message.summary) return [];
  const open = openPartOf(message)?.id ?? null;
  const over = Object.keys(live).filter((id) => id.startsWith(partMessageId(message.id, 0).slice(0, -1)));
  const done = message.summary.parts.findLastIndex(({ ms }) => ms !== null);
  if (done >= 0) over.push(partMessageId(message.id, done));
  if (message.stopReason !== null && open) over.push(open);
  return [...new Set(over)].filter((id) => message.stopReason !== null || id !== open);
}

function endedRounds({ id, stopReason }: Message, count: number, live: Readonly<Record<string, LiveAnswer>>): string[] {
  const open = roundMessageId(id, count);
  const begun = Object.keys(live).filter((one) => one.startsWith(`${id}#round-`));
  // the last one ends with the answer, also where no frame of it has come yet
  return stopReason === null ? begun.filter((one) => one !== open) : [...new Set([...begun, open])];
}

export function createStreamActions({ get, patch }: Tools, meter: ReturnType<typeof createMeterActions>) {
  return {
    begin(ids: Pick<LiveAnswer, 'requestId' | 'chatId' | 'messageId'>): void {
      patch('stream', beginAnswer(get().stream, ids));
    },
    resume(answer: Parameters<typeof resumeAnswer>[1]): void {
      patch('stream', resumeAnswer(get().stream, answer));
    },
    frame(frame: StreamFrame): void {
      if (isBriefMessage(frame.messageId)) return;
      const before = get().stream;
      const after = addFrame(before, frame);
      if (after === before) return;
      patch('stream', after);
      meter.frame(frame.messageId, frame.stats);
    },
    end(messageId: string, stats: AnswerStats | null): void {
      patch('stream', endAnswer(get().stream, messageId, stats));
      meter.end(messageId, stats);
    },
    forgetTexts(): void {
      patch('stream', forgetTexts(get().stream));
    },
  };
}
