import type { AppState } from '../appState';
import { budgetKey } from './key';

export const selectBudget = (state: AppState) => state.budget.budget;
export const selectBudgetError = (state: AppState) => state.budget.error;
/** The figures belong to an older state of the chat or the draft. */
export const selectBudgetStale = (state: AppState) => state.budget.key !== budgetKey(state);
/** Tokens of the open chat with its draft; null: not counted. */
export const selectChatTokens = (state: AppState) => state.budget.budget?.total ?? null;

/**
 * The composer offers to leave out the oldest messages: those with documents stay, so what they take is not won. Where the last
 * answer ended for want of room, its own notice offers it, and goes on with the answer.
 */
export function selectOffersLetGo({
  budget: { budget },
  settings: { saved },
  conversation: { chat },
}: AppState): boolean {
  const last = chat?.messages.find(({ id }) => id === chat.leafId);
  if (!budget || budget.fits || saved?.overflow === 'roll' || last?.stopReason === 'context-full') return false;
  return budget.history >= budget.over;
}
