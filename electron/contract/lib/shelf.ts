/**
 * The shelf: documents that are kept apart from any chat, for chats to begin with. A folder of chats may have some of them: each
 * new chat in it begins with those.
 */
import { z } from 'zod';
import { folderNameSchema } from '../chats';
import { errorPayloadSchema } from '../errors';
import { idSchema, limits, nothing, operation } from '../limits';
import type { EventMap, OperationMap } from '../rpc';

const nameSchema = z.string().trim().min(1).max(255);

const shelfDocumentSchema = z.object({
  documentId: idSchema,
  /** as the person calls it: chats that begin with it get it under this name */
  name: nameSchema,
  addedAt: z.number(),
});
export type ShelfDocument = z.infer<typeof shelfDocumentSchema>;

const folderDocumentSchema = z.object({
  documentId: idSchema,
  /** `passages`: those that fit the question are looked up for each question */
  part: z.enum(['whole', 'passages']),
});
export type FolderDocument = z.infer<typeof folderDocumentSchema>;

const shelfFolderSchema = z.object({
  name: folderNameSchema,
  /** in the order in which the model reads them; each of them is on the shelf */
  documents: z.array(folderDocumentSchema).max(limits.maxAttachments),
});
export type ShelfFolder = z.infer<typeof shelfFolderSchema>;

export const shelfSchema = z.object({
  /** in the order in which they were added; each document once */
  documents: z.array(shelfDocumentSchema).default([]),
  /** those that have documents; their chats know them by their names */
  folders: z.array(shelfFolderSchema).default([]),
});
export type Shelf = z.infer<typeof shelfSchema>;

/** A document that is read before anybody asks about it. One that has been read is none any more. */
const shelfReadingSchema = z.object({
  documentId: idSchema,
  /** `paused`: a question goes before it */
  state: z.enum(['waiting', 'reading', 'paused', 'failed']),
  /** while it is read: stands for a message in the frames that tell how far it is */
  messageId: idSchema.nullable(),
  /** when it failed */
  error: errorPayloadSchema.nullable(),
});
export type ShelfReading = z.infer<typeof shelfReadingSchema>;

/** Stands for a chat in what is kept of the reading of a document, for as long as it is on the shelf. */
export function shelfChatId({ documentId }: Pick<ShelfDocument, 'documentId'>): string {
  return `${shelfPrefix}${documentId}`;
}

export function isOfShelf(chatId: string): boolean {
  return chatId.startsWith(shelfPrefix);
}

const shelfPrefix = 'shelf-';

export const shelfOperations = {
  'shelf.get': operation(nothing, shelfSchema),
  /** those that are on it already stay as they are. Refused when the text of one is not stored any more */
  'shelf.add': operation(
    z.object({ documents: z.array(shelfDocumentSchema.partial({ addedAt: true })).max(limits.maxShelf) }),
    shelfSchema,
  ),
  'shelf.rename': operation(z.object({ documentId: idSchema, name: nameSchema }), shelfSchema),
  /** off the folders too; chats that have them keep them */
  'shelf.remove': operation(z.object({ documentIds: z.array(idSchema) }), shelfSchema),
  /** the documents of a folder; none: it has no more than its chats. What is not on the shelf is left out */
  'shelf.setFolder': operation(shelfFolderSchema, shelfSchema),
  /** the documents of one folder go to another one, behind those that it has */
  'shelf.renameFolder': operation(z.object({ from: folderNameSchema, to: folderNameSchema }), shelfSchema),
  /** how many chats have a document, those in the trash too; by document, without those that no chat has */
  'shelf.chats': operation(nothing, z.record(idSchema, z.number().int())),
  /** with the model in use, behind those that wait already; refused when there is none */
  'shelf.read': operation(z.object({ documentId: idSchema }), nothing),
  /** ends one that waits or is read; one that failed is forgotten */
  'shelf.stopReading': operation(z.object({ documentId: idSchema }), nothing),
  'shelf.readings': operation(nothing, z.array(shelfReadingSchema)),
  /** documents that a new chat could begin with now without reading them; waits for an answer that is being written */
  'shelf.kept': operation(nothing, z.array(idSchema)),
} as const satisfies OperationMap;

export const shelfEvents = {
  onShelf: shelfSchema,
  /** all of them, at each change of state */
  onShelfReadings: z.array(shelfReadingSchema),
} as const satisfies EventMap;
