import type { Chat } from '../../../electron/shared/chats';

/** A long text that was pasted: kept beside the text field, which would crawl with a book in it. */
export interface Pasted {
  id: number;
  text: string;
}

export interface Draft {
  text: string;
  pasted: readonly Pasted[];
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
export const emptyDraft: Draft = { text: '', pasted: [] };
export const initialConversation: ConversationState = {
  chat: null,
  openingId: null,
  target: null,
  sending: false,
  drafts: {},
};
