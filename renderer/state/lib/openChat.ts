/** Pure work on what is being written. */

import { type Chat, type Message, releasedOf, turnsWithPassages } from '../../../electron/contract/chats';
import type { AttachmentPart } from '../../../electron/contract/lib/attachments';
import { givenIn } from '../../../electron/contract/tools/tools';
import { type AppState, type Draft, emptyDraft, newChatKey } from '../appState';
import { pathTo } from './messageTree';

/** Pastes longer than this become a document beside the text field, which would crawl with a book in it. */
export const longPaste = 2000;

export function isEmptyDraft(draft: Draft): boolean {
  return draft.text.trim() === '' && draft.documents.length === 0;
}

/** `emptyDraft` itself takes the entry away; a draft that a person has emptied stays as it is. */
export function withDraft(drafts: Readonly<Record<string, Draft>>, key: string, draft: Draft): Record<string, Draft> {
  if (draft !== emptyDraft) return { ...drafts, [key]: draft };
  const { [key]: _gone, ...rest } = drafts;
  return rest;
}

/** A document of which the best passages are looked up for each question: the next question asks it again. */
interface LookedUp {
  documentId: string;
  name: string;
  part: AttachmentPart;
}

/** `turn`: a question, and its answer with the results of tools. */
export function lookedUp(turn: readonly Pick<Message, 'attachments' | 'rounds'>[]): LookedUp[] {
  const found = turn
    .flatMap(({ attachments, rounds }) => [...attachments, ...givenIn(rounds)])
    .filter(({ part }) => part.kind === 'passages');
  const names = new Map(found.map(({ documentId, name }) => [documentId, name]));
  return [...names].map(([documentId, name]) => ({ documentId, name, part: { kind: 'passages', passages: [] } }));
}

/** The last question of the branch that is shown, and what follows it. */
export function lastTurn({ messages, leafId }: Pick<Chat, 'messages' | 'leafId'>): Message[] {
  const path = pathTo(messages, leafId);
  return path.slice(
    Math.max(
      0,
      path.findLastIndex(({ role }) => role === 'user'),
    ),
  );
}

export const selectChat = (state: AppState) => state.conversation.chat;
export const selectChatId = (state: AppState) => state.conversation.chat?.id ?? null;
export const selectChatTitle = (state: AppState) => state.conversation.chat?.title ?? null;
/** null: it follows the general one, or no chat is open */
export const selectChatPrompt = (state: AppState) => state.conversation.chat?.systemPrompt ?? null;
/** Of the open chat; null: it has none of this id. */
export const selectMessage = (messageId: string | null) => (state: AppState) =>
  state.conversation.chat?.messages.find(({ id }) => id === messageId) ?? null;
/** Nothing follows it in the branch that is shown. */
export const selectIsLast = (messageId: string) => (state: AppState) => state.conversation.chat?.leafId === messageId;
/** Passages of questions before that of this answer still stand in its prompt. */
export const selectCanRelease =
  (messageId: string) =>
  ({ conversation: { chat } }: AppState): boolean => {
    const branch = chat ? pathTo(chat.messages, messageId) : [];
    const earlier = branch.slice(
      0,
      branch.findLastIndex(({ role }) => role === 'user'),
    );
    return Math.max(-1, ...turnsWithPassages(earlier)) + 1 > releasedOf(branch);
  };
export const selectOpeningId = (state: AppState) => state.conversation.openingId;
export const selectTarget = (state: AppState) => state.conversation.target;
export const selectSending = (state: AppState) => state.conversation.sending;

export const selectNewIn = (state: AppState) => (state.conversation.chat ? null : state.conversation.newIn);

/** The draft of a new chat; null: of one in no folder. */
export function draftKeyOfNew(folder: string | null): string {
  return folder === null ? newChatKey : `${newChatKey} ${folder}`;
}

export const selectDraftKey = ({ conversation: { chat, newIn } }: AppState) => chat?.id ?? draftKeyOfNew(newIn);

export function selectDraftOfOpenChat(state: AppState): Draft {
  return state.conversation.drafts[selectDraftKey(state)] ?? emptyDraft;
}
