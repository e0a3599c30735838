import { holdsPassages, releasedOf } from '../../../electron/contract/released';
import type { AppState } from '../appState';
import { pathTo } from '../lib/messageTree';
import { type Draft, emptyDraft, newChatKey } from './state';

export const selectChat = (state: AppState) => state.conversation.chat;
export const selectChatId = (state: AppState) => state.conversation.chat?.id ?? null;
export const selectChatTitle = (state: AppState) => state.conversation.chat?.title ?? null;
/** null: it follows the general one, or no chat is open */
export const selectChatPrompt = (state: AppState) => state.conversation.chat?.systemPrompt ?? null;
export const selectLeafId = (state: AppState) => state.conversation.chat?.leafId ?? null;
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

export const selectDraftKey = (state: AppState) => state.conversation.chat?.id ?? newChatKey;

export function selectDraftOfOpenChat(state: AppState): Draft {
  return state.conversation.drafts[selectDraftKey(state)] ?? emptyDraft;
}
