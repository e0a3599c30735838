/** The parts of a budget in the order in which the model reads them, with their colours and words. */
import type { PromptBudget } from '../../../electron/shared/budget';
import type { EngineState } from '../../../electron/shared/engine';
import { formatCount } from '../../ui/format';

export interface BudgetPart {
  id: 'system' | 'template' | 'documents' | 'history' | 'message' | 'reserve' | 'free';
  label: string;
  tokens: number;
}

/** `free` last: what is left of the context; 0 where it does not fit. All parts sum to the context, or to what is needed. */
export function budgetParts(budget: PromptBudget): BudgetPart[] {
  const { system, template, documents, history, message, total, reserve, contextSize } = budget;
  return [
    { id: 'system', label: 'System prompt', tokens: system },
    { id: 'template', label: 'Chat template', tokens: template },
    { id: 'documents', label: 'Documents', tokens: documents },
    { id: 'history', label: 'Chat so far', tokens: history },
    { id: 'message', label: 'This message', tokens: message },
    { id: 'reserve', label: 'Kept for the answer', tokens: reserve },
    { id: 'free', label: 'Free', tokens: Math.max(0, contextSize - total - reserve) },
  ];
}

/** For screen readers: what is not there is not named. */
export function budgetText(budget: PromptBudget): string {
  const parts = budgetParts(budget).filter(({ tokens, id }) => tokens > 0 || id === 'free');
  const list = parts.map(({ label, tokens }) => `${label} ${formatCount(tokens)}`).join(', ');
  const over = budget.over > 0 ? ` ${formatCount(budget.over)} too many.` : '';
  return `Context of ${formatCount(budget.contextSize)} tokens: ${list}.${over}`;
}

/** What becomes of figures that belong to an older draft: without a model nobody counts. */
export function staleText(engine: EngineState | null): string {
  switch (engine) {
    case 'ready':
    case 'generating':
      return 'Being counted again.';
    case 'starting':
    case 'loading':
    case 'restarting':
    case null:
      return 'Counted again when the model is loaded.';
    default:
      return 'Load a model to count again.';
  }
}
