/** Images and sound that a model reads as they are: which attachments are such, and which of them a model cannot read. */
import type { Attachment, AttachmentPart } from '../chats';
import type { DocumentInfo } from '../documents';
import type { EffectiveContext } from '../engine';

export interface Senses {
  sees: boolean;
  hears: boolean;
}

export const noSenses: Senses = { sees: false, hears: false };

export function sensesOf({ projector }: Pick<EffectiveContext, 'projector'>): Senses {
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

/** What of a document goes with a question unless a person chooses otherwise. */
export function usualPart({ kind }: Pick<DocumentInfo, 'kind'>): AttachmentPart {
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
