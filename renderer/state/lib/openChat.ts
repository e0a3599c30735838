/** Pure work on what is being written. */

import type { AttachmentPart } from '../../../electron/contract/attachments';
import type { Message } from '../../../electron/contract/chats';
import { type Draft, emptyDraft } from '../conversation/state';

/** Pastes longer than this become a document beside the text field, which would crawl with a book in it. */
export const longPaste = 2000;

export function isEmptyDraft(draft: Draft): boolean {
  return draft.text.trim() === '' && draft.documents.length === 0;
}

/** `emptyDraft` itself takes the entry away; a draft that a person has emptied stays as it is. */
export function withDraft(drafts: Readonly<Record<string, Draft>>, key: string, draft: Draft): Record<string, Draft> {
  if (draft !== emptyDraft) return { ...drafts, [key]: draft };
  const { [key]: _gone, ...rest } = drafts;
  return rest;
}

/** A document of which the best passages are looked up for each question: the next question asks it again. */
export interface LookedUp {
  documentId: string;
  name: string;
  part: AttachmentPart;
}

export function lookedUp(question: Message | undefined): LookedUp[] {
  return (question?.attachments ?? [])
    .filter(({ part }) => part.kind === 'passages')
    .map(({ documentId, name }) => ({ documentId, name, part: { kind: 'passages', passages: [] } }));
}
