/** What a person may want of a document before there is a question. Pure. */
import type { SummaryKind } from '../../../electron/contract/summaries';

/** A question that can be sent as it is, about one document or several. */
export function taskQuestion(kind: SummaryKind, documents: number): string {
  const one = documents === 1;
  if (kind === 'summary') return `Summarize ${one ? 'this document' : 'these documents'} in a few paragraphs.`;
  return `Give an outline of ${one ? 'this document' : 'these documents'}: what comes in which order, with the page or heading of each part.`;
}

/** Beginnings of questions that the person completes. */
export const beginnings = [
  { id: 'find', label: 'Find …', text: 'Find ' },
  { id: 'about', label: 'What does it say about …', text: 'What does it say about ' },
] as const;
