import type { AnswerStats } from '../../../electron/contract/chats';
import type { LiveStats } from '../../../electron/contract/engine';

/** An answer that is being written, as far as its frames have arrived. */
export interface LiveAnswer {
  /** null: the services have not answered yet that the answer goes on */
  requestId: string | null;
  chatId: string;
  messageId: string;
  text: string;
  thinking: string;
  /** null until the first frame */
  stats: LiveStats | null;
  /** false: the window joined in the middle, and `text` continues what the services had stored by then */
  fromStart: boolean;
}

export interface StreamState {
  /** by message id */
  live: Readonly<Record<string, LiveAnswer>>;
  /** message ids that have ended: frames and final states take two roads, and a late frame must not revive an answer */
  ended: readonly string[];
  /** figures of the last answer that ended in this window */
  last: AnswerStats | null;
}

export const initialStream: StreamState = { live: {}, ended: [], last: null };
