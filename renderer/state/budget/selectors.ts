import type { AppState } from '../appState';
import { budgetKey } from './key';

export const selectBudget = (state: AppState) => state.budget.budget;
export const selectBudgetError = (state: AppState) => state.budget.error;
/** The figures belong to an older state of the chat or the draft. */
export const selectBudgetStale = (state: AppState) => state.budget.key !== budgetKey(state);
/** Tokens of the open chat with its draft; null: not counted. */
export const selectChatTokens = (state: AppState) => state.budget.budget?.total ?? null;

/**
 * The composer offers to leave out the oldest messages, where that would do. Where the last answer ended for want of room, its own
 * notice offers it, and goes on with the answer.
 */
export function selectOffersLetGo({ budget: { budget }, conversation: { chat } }: AppState): boolean {
  const last = chat?.messages.find(({ id }) => id === chat.leafId);
  return budget?.remedies?.leaveOut === true && last?.stopReason !== 'context-full';
}
