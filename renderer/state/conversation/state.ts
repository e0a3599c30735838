import type { Chat } from '../../../electron/contract/chats';
import type { DraftDocument } from '../documents/state';

export interface Draft {
  text: string;
  /** in the order in which the model reads them, before the text */
  documents: readonly DraftDocument[];
}

/** A message to bring into view, and the words to mark in it. A new object each time, so that a place can be asked for twice. */
export interface Target {
  messageId: string;
  words: readonly string[];
}

export interface ConversationState {
  /** the open chat; null: a new one that is made when its first message is sent */
  chat: Chat | null;
  openingId: string | null;
  /** in the open chat */
  target: Target | null;
  /** a question is on its way to the services */
  sending: boolean;
  /** what was written but not sent, by chat id */
  drafts: Readonly<Record<string, Draft>>;
}

export const newChatKey = 'new';
export const emptyDraft: Draft = { text: '', documents: [] };
export const initialConversation: ConversationState = {
  chat: null,
  openingId: null,
  target: null,
  sending: false,
  drafts: {},
};
