/** Pure steps of the stream: an answer begins, grows by frames, ends. */
import type { AnswerStats } from '../../../electron/contract/chats';
import type { StreamFrame } from '../../../electron/contract/engine';
import type { LiveAnswer, StreamState } from './state';

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
  const { [messageId]: _ended, ...live } = state.live;
  const ended = state.ended.includes(messageId) ? state.ended : [...state.ended, messageId].slice(-rememberedEnds);
  return { live, ended, last: stats ?? state.last };
}

/** After a lost connection: what was missed is unknown, so the stored text is the base again. */
export function forgetTexts(state: StreamState): StreamState {
  const live = Object.fromEntries(
    Object.entries(state.live).map(([id, answer]) => [id, { ...answer, text: '', thinking: '', fromStart: false }]),
  );
  return { ...state, live };
}
