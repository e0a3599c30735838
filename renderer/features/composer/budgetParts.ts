/** The parts of a budget in the order in which the model reads them, with their colours and words. */

import type { Message } from '../../../electron/contract/chats';
import type { EngineState } from '../../../electron/contract/engine';
import type { PromptBudget } from '../../../electron/contract/promptBudget';
import type { DraftDocument } from '../../state/documents/state';
import { formatCount, formatTimeLeft } from '../../ui/format';
import { leftOutText, releasedText } from '../../ui/leftOutText';

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

/** What the question makes leave the prompt, and the price; null: nothing. `perSecond`: tokens read; 0: not known. */
export function leavingText(
  { leftOut = 0, released = 0, readAgain = 0 }: PromptBudget,
  perSecond: number,
): string | null {
  const parts = [
    ...(released > 0 ? [releasedText(released, 'will leave')] : []),
    ...(leftOut > 0 ? [leftOutText(leftOut, 'will be left out')] : []),
  ];
  if (parts.length === 0) return null;
  const time = perSecond > 0 ? `, ${formatTimeLeft((readAgain / perSecond) * 1000)}` : '';
  if (readAgain > 0) parts.push(`About ${formatCount(readAgain)} tokens are read again${time}.`);
  return parts.join(' ');
}

/** Tokens per second of the answer that had the most to read: a short prompt says little. */
export function readingRate(messages: readonly Pick<Message, 'stats'>[]): number {
  let most = 0;
  let rate = 0;
  for (const { stats } of messages) {
    const read = stats ? stats.promptTokens - stats.cachedTokens : 0;
    if (stats && read > most) [most, rate] = [read, stats.promptTokensPerSecond];
  }
  return rate;
}

/** Why the draft does not fit, and by how much. `documents`: of the draft. */
export function noFitText(budget: PromptBudget, documents: readonly Pick<DraftDocument, 'name' | 'info'>[]): string {
  const { total, reserve, contextSize, over, byDocument, unfilled, remedies } = budget;
  const size = formatCount(contextSize);
  const kept = `${formatCount(reserve)} are kept for the answer`;
  if (unfilled !== undefined) {
    const full = remedies?.newChat ? 'This chat is full' : 'This question is too long';
    return `${full}: no room is left for passages of ${unfilled}. ${formatCount(total)} of ${size} tokens are taken, and ${kept}.`;
  }
  const own = byDocument.filter(({ inBranch }) => !inBranch);
  const longest = own.reduce((most, one) => (one.tokens > most.tokens ? one : most), { documentId: '', tokens: 0 });
  const name = documents.find(({ info }) => info?.id === longest.documentId)?.name;
  if (name !== undefined && longest.tokens > contextSize) {
    return `${name} is about ${times(longest.tokens / contextSize)} times as long as the context of ${size} tokens. Nothing is cut: pick one.`;
  }
  return `${formatCount(total)} tokens are ${formatCount(over)} too many for the context of ${size}, of which ${kept}. Nothing is cut: pick one.`;
}

function times(ratio: number): string {
  return ratio < 3 ? ratio.toFixed(1) : formatCount(Math.round(ratio));
}
