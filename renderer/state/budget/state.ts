import type { ErrorPayload } from '../../../electron/contract/errors';
import type { PromptBudget } from '../../../electron/contract/promptBudget';

export interface BudgetState {
  /** what the last budget was made of: another state of the chat, the draft or the model makes it stale */
  key: string;
  budget: PromptBudget | null;
  /** why there is none, for `key` */
  error: ErrorPayload | null;
}

export const initialBudget: BudgetState = { key: '', budget: null, error: null };
