/** Documents that are attached to a question: which of their text the model reads, and which of them it sees or hears as they are. */
import { z } from 'zod';

export const attachmentLimits = {
  /** characters of the words that a document is searched for */
  searchWords: 2000,
  /** pages of one document that go to the model as images */
  imagePages: 20,
} as const;

/** A stretch of a document's text, in UTF-16 units. */
const passageSchema = z.object({
  start: z.number().int().min(0),
  end: z.number().int().min(0),
  /** of the section where it begins: "Page 12" */
  label: z.string(),
  /** where a search model ranked too: which of the words that were searched for stand in it */
  words: z.array(z.string()).optional(),
  /** its rank by meaning, from 1; absent: it was found by words alone */
  meaning: z.number().int().min(1).optional(),
});
export type Passage = z.infer<typeof passageSchema>;

/**
 * Why words alone ranked passages though there is a search model: it is being loaded, it reads the document, a person canceled
 * that, it cannot be used, the document has too many passages.
 */
export const wordsAloneSchema = z.enum(['loading', 'reading', 'canceled', 'failed', 'too-long']);
export type WordsAlone = z.infer<typeof wordsAloneSchema>;

export const scoredPassageSchema = passageSchema.extend({
  /** comparable within one answer only */
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
    /**
     * What was searched for, with blanks between and phrases in quotes; '': no word of the question is in the document, and
     * this is its beginning. In a draft: what a person wants searched for in place of the words of the question.
     */
    words: z.string().max(attachmentLimits.searchWords).optional(),
    /** absent: there was no search model, or it ranked too */
    wordsAlone: wordsAloneSchema.optional(),
  }),
  z.object({
    /** the model sees it: an image, or of a document with `original` these pages, counted from 1, drawn */
    kind: z.literal('image'),
    pages: z
      .array(z.number().int().min(1))
      .min(1)
      .max(attachmentLimits.imagePages)
      .refine(ascends, 'must ascend')
      .optional(),
  }),
  /** the model hears it */
  z.object({ kind: z.literal('sound') }),
]);
export type AttachmentPart = z.infer<typeof attachmentPartSchema>;

export const attachmentSchema = z.object({
  documentId: z.string().min(1).max(200),
  /** as the person knows the file: it stands in the prompt */
  name: z.string().min(1).max(255),
  part: attachmentPartSchema,
});
export type Attachment = z.infer<typeof attachmentSchema>;

function ascends(numbers: number[]): boolean {
  return numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0));
}

/** As it was before it was sent: its passages are looked up again. */
export function asAsked(attachment: Attachment): Attachment {
  if (attachment.part.kind !== 'passages') return attachment;
  return { ...attachment, part: { kind: 'passages', passages: [] } };
}

// Images and sound that a model reads as they are: which attachments are such, and which of them a model cannot read.

export interface Senses {
  sees: boolean;
  hears: boolean;
}

export const noSenses: Senses = { sees: false, hears: false };

export function sensesOf({ projector }: { projector: { vision: boolean; audio: boolean } }): Senses {
  return { sees: projector.vision, hears: projector.audio };
}

type MediaPart = Extract<AttachmentPart, { kind: 'image' | 'sound' }>;

export function isMedia(part: AttachmentPart): part is MediaPart {
  return part.kind === 'image' || part.kind === 'sound';
}

/** The beginning of a chat is shared with other chats where it is text: that comes first. */
export function mediaLast(attachments: readonly Attachment[]): Attachment[] {
  return [...attachments].sort((a, b) => Number(isMedia(a.part)) - Number(isMedia(b.part)));
}

/** Its file is kept, and it has no text. */
export function hasNoText(kind: string): kind is 'image' | 'sound' | 'file' {
  return kind === 'image' || kind === 'sound' || kind === 'file';
}

/** What of a document goes with a question unless a person chooses otherwise. */
export function usualPart({ kind }: { kind: string }): AttachmentPart {
  return kind === 'image' || kind === 'sound' ? { kind } : { kind: 'whole' };
}

/** The first of these that such a model cannot read. */
export function beyondSenses(attachments: readonly Attachment[], { sees, hears }: Senses): Attachment | undefined {
  return attachments.find(({ part }) => (part.kind === 'image' && !sees) || (part.kind === 'sound' && !hears));
}

/** "cannot see photo.png": what a model without the sense does not do. */
export function beyondText({ name, part }: Attachment): string {
  return part.kind === 'sound' ? `does not hear ${name}` : `does not see ${name}`;
}
