/** What the model is told for a summary. The first message is the same for every part, so its cache is used again. */
import type { PromptMessage } from '../../contract/engineContract';
import type { SummaryKind } from '../../contract/summaries';

const system =
  'You read a document and write down what it says, briefly and faithfully. You add nothing that is not in the text. ' +
  'You write in the language of the document.';

/** @param block the document block of what is read */
export function wholePrompt(kind: SummaryKind, block: string): PromptMessage[] {
  const task = {
    summary: 'Summarize the document above in a few paragraphs.',
    outline: 'Give an outline of the document above: what comes in which order, with the page or heading of each part.',
  }[kind];
  return messages(block + task);
}

/** @param block the document block of one part */
export function partPrompt(kind: SummaryKind, block: string, label: string): PromptMessage[] {
  const task = {
    summary: 'Summarize what it says in at most 150 words. Keep names, numbers and dates.',
    outline: 'List its topics in their order, one line each, with the page or heading where each begins.',
  }[kind];
  return messages(`${block}This is one part of the document: ${label}. ${task}`);
}

export interface Result {
  label: string;
  text: string;
}

/** @param last they are all that there is: the answer is made of them */
export function joinPrompt(kind: SummaryKind, results: readonly Result[], last: boolean): PromptMessage[] {
  const task = {
    summary: last
      ? 'These are summaries of the parts of a document, in their order. Write one summary of the whole document from them, in a few paragraphs.'
      : 'These are summaries of some parts of a document, in their order. Make one of them, in at most 200 words. Keep names, numbers and dates.',
    outline: last
      ? 'These are outlines of the parts of a document, in their order. Write one outline of the whole document from them, with pages or headings.'
      : 'These are outlines of some parts of a document, in their order. Make one shorter outline of them, with pages or headings.',
  }[kind];
  return messages(`${resultsText(results)}${task}`);
}

/** Results as they stand in a prompt. */
export function resultsText(results: readonly Result[]): string {
  return results.map(({ label, text }) => `[${label}]\n${text.trim()}\n\n`).join('');
}

/** The words of the question that a summary answers. */
export function questionText(kind: SummaryKind, names: readonly string[]): string {
  const what = names.length === 1 ? names[0] : `${names.length} documents`;
  return kind === 'summary' ? `Summarize ${what}, part by part.` : `Give an outline of ${what}, part by part.`;
}

function messages(content: string): PromptMessage[] {
  return [
    { role: 'system', content: system },
    { role: 'user', content },
  ];
}
