/** Pure work on what is being written. */

import { type AttachmentPart, holdsPassages, type Message, releasedOf } from '../../../electron/contract/chats';
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

export function lookedUp(question: Message | undefined): LookedUp[] {
  return (question?.attachments ?? [])
    .filter(({ part }) => part.kind === 'passages')
    .map(({ documentId, name }) => ({ documentId, name, part: { kind: 'passages', passages: [] } }));
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
    return earlier.filter(holdsPassages).length > releasedOf(branch);
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
