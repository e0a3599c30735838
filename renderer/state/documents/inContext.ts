/** Which sections of a document a chat has in its context. Pure. */
import type { Attachment, AttachmentPart } from '../../../electron/contract/attachments';
import type { Message } from '../../../electron/contract/chats';
import type { Section } from '../../../electron/contract/documents';
import { releasedOf, withoutReleased } from '../../../electron/contract/released';

/** Indices of sections that hold something of these parts. Passages mark each section that they touch. */
export function sectionsIn(parts: readonly AttachmentPart[], sections: readonly Section[]): Set<number> {
  const marked = new Set<number>();
  for (const part of parts) {
    if (part.kind === 'whole') for (const index of sections.keys()) marked.add(index);
    else if (part.kind === 'sections') for (const index of part.sections) marked.add(index);
    else {
      for (const { start, end } of part.passages) {
        for (const [index, section] of sections.entries()) {
          if (section.start < end && section.end > start) marked.add(index);
        }
      }
    }
  }
  return marked;
}

/** What of a document stands in the prompt of this branch. */
export function partsSent(branch: readonly Message[], documentId: string): AttachmentPart[] {
  // a document that was read part by part is in no prompt of the chat
  return withoutReleased(branch, releasedOf(branch)).flatMap(({ attachments, summary }) =>
    (summary ? [] : attachments).filter((one: Attachment) => one.documentId === documentId).map(({ part }) => part),
  );
}
