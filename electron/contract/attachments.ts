/** Documents that are attached to a question, and which of their text the model reads. */
import { z } from 'zod';
import { limits } from './limits';

/** A stretch of a document's text, in UTF-16 units. */
export const passageSchema = z.object({
  start: z.number().int().min(0),
  end: z.number().int().min(0),
  /** of the section where it begins: "Page 12" */
  label: z.string(),
});
export type Passage = z.infer<typeof passageSchema>;

export const scoredPassageSchema = passageSchema.extend({
  /** BM25; comparable within one answer only */
  score: z.number(),
});
export type ScoredPassage = z.infer<typeof scoredPassageSchema>;

export const attachmentPartSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('whole') }),
  z.object({
    kind: z.literal('sections'),
    /** indices into the sections of the document, ascending */
    sections: z.array(z.number().int().min(0)).min(1).refine(ascends, 'must ascend'),
  }),
  z.object({
    kind: z.literal('passages'),
    /** in the order of the text; empty in a draft: those that fit the question best are chosen when it is sent, and stay */
    passages: z.array(passageSchema),
  }),
]);
export type AttachmentPart = z.infer<typeof attachmentPartSchema>;

export const attachmentSchema = z.object({
  documentId: z.string().min(1).max(limits.maxIdLength),
  /** as the person knows the file: it stands in the prompt */
  name: z.string().min(1).max(255),
  part: attachmentPartSchema,
});
export type Attachment = z.infer<typeof attachmentSchema>;

function ascends(numbers: number[]): boolean {
  return numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0));
}

/** As it was before it was sent: its passages are looked up anew. */
export function asAsked(attachment: Attachment): Attachment {
  if (attachment.part.kind !== 'passages') return attachment;
  return { ...attachment, part: { kind: 'passages', passages: [] } };
}
