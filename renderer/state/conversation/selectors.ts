import type { AppState } from '../appState';
import { type Draft, emptyDraft, newChatKey } from './state';

export const selectChat = (state: AppState) => state.conversation.chat;
export const selectChatId = (state: AppState) => state.conversation.chat?.id ?? null;
export const selectChatTitle = (state: AppState) => state.conversation.chat?.title ?? null;
/** null: it follows the general one, or no chat is open */
export const selectChatPrompt = (state: AppState) => state.conversation.chat?.systemPrompt ?? null;
export const selectLeafId = (state: AppState) => state.conversation.chat?.leafId ?? null;
/** Nothing follows it in the branch that is shown. */
export const selectIsLast = (messageId: string) => (state: AppState) => state.conversation.chat?.leafId === messageId;
export const selectOpeningId = (state: AppState) => state.conversation.openingId;
export const selectTarget = (state: AppState) => state.conversation.target;
export const selectSending = (state: AppState) => state.conversation.sending;

export function selectDraftOfOpenChat(state: AppState): Draft {
  return state.conversation.drafts[state.conversation.chat?.id ?? newChatKey] ?? emptyDraft;
}
