/** Pure work on what is being written. */
import { type Draft, emptyDraft } from './state';

/** Pastes longer than this become a card beside the text field. */
export const longPaste = 4000;

/** The pasted texts stand before the question: the model reads them first, and a second question finds them in the cache. */
export function joinDraft(draft: Draft): string {
  return [...draft.pasted.map((part) => part.text.trim()), draft.text.trim()].filter(Boolean).join('\n\n');
}

export function isEmptyDraft(draft: Draft): boolean {
  return draft.pasted.length === 0 && draft.text.trim() === '';
}

export function addPasted(draft: Draft, text: string): Draft {
  const id = 1 + Math.max(0, ...draft.pasted.map((part) => part.id));
  return { ...draft, pasted: [...draft.pasted, { id, text }] };
}

export function removePasted(draft: Draft, id: number): Draft {
  return { ...draft, pasted: draft.pasted.filter((part) => part.id !== id) };
}

export function withDraft(drafts: Readonly<Record<string, Draft>>, key: string, draft: Draft): Record<string, Draft> {
  if (draft !== emptyDraft && !isEmptyDraft(draft)) return { ...drafts, [key]: draft };
  const { [key]: _gone, ...rest } = drafts;
  return rest;
}
