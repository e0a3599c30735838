import type { AppState } from '../appState';
import { selectDraftOfOpenChat } from '../conversation/selectors';
import { attachmentsOf } from '../documents/drafts';

/** All that a budget depends on, in one text that is compared. A draft's long text is in it: a comparison costs nothing. */
export function budgetKey(state: AppState): string {
  const { status } = state.engine;
  const { saved } = state.settings;
  const { text, documents } = selectDraftOfOpenChat(state);
  const attached = attachmentsOf(documents).map(({ documentId, part }) => [documentId, part]);
  const { chat } = state.conversation;
  const shown = [status?.modelId, status?.context?.nCtx, chat?.id, chat?.leafId, chat?.systemPrompt];
  return `${JSON.stringify([...shown, attached, saved?.systemPrompt, saved?.documents])}\n${text}`;
}
