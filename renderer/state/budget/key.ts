import type { AppState } from '../appState';
import { selectDraftOfOpenChat } from '../conversation/selectors';
import { attachmentsOf } from '../lib/documentDrafts';

let lastParts: readonly unknown[] = [];
let lastKey = '';

/**
 * All that a budget depends on, in one text that is compared. Asked at every change of the state, so the last one is kept
 * for as long as its parts are the same objects.
 */
export function budgetKey(state: AppState): string {
  const { status } = state.engine;
  const { saved } = state.settings;
  const { chat } = state.conversation;
  const draft = selectDraftOfOpenChat(state);
  const shown = [status?.modelId, status?.context?.nCtx, chat?.id, chat?.leafId, chat?.systemPrompt];
  const parts = [...shown, saved?.systemPrompt, saved?.documents, saved?.overflow, draft];
  if (parts.length === lastParts.length && parts.every((part, index) => part === lastParts[index])) return lastKey;
  const attached = attachmentsOf(draft.documents).map(({ documentId, part }) => [documentId, part]);
  lastParts = parts;
  lastKey = `${JSON.stringify([...shown, attached, saved?.systemPrompt, saved?.documents, saved?.overflow])}\n${draft.text}`;
  return lastKey;
}
