import type { AppState } from '../appState';
import { budgetKey } from './key';

export const selectBudget = (state: AppState) => state.budget.budget;
export const selectBudgetError = (state: AppState) => state.budget.error;
/** The figures belong to an older state of the chat or the draft. */
export const selectBudgetStale = (state: AppState) => state.budget.key !== budgetKey(state);
/** Tokens of the open chat with its draft; null: not counted. */
export const selectChatTokens = (state: AppState) => state.budget.budget?.total ?? null;
