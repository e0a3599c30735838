/**
 * Exported chats. One chat is Markdown, to be read, or JSON, which is complete; a file of JSON holds any number of chats:
 * {"format":"concertina-chats","version":1,"exportedAt":ISO time,"app":version,"chats":[...]}, each as `exportedChatSchema`
 * says; and if that was asked for "documents":[...], each as `exportedDocumentSchema` says. Saved sessions are not in it.
 */

import { z } from 'zod';
import { chatSchema } from './chats';
import { documentSchema, sectionSchema } from './documents';
import { limits } from './limits';

// The frame of a file of exported chats, apart from the schemas: the window puts such files together and takes them apart.

const format = 'concertina-chats';
const version = 1;

export function chatFileStart(app: string, exportedAt: Date): string {
  const head = JSON.stringify({ format, version, exportedAt: exportedAt.toISOString(), app });
  return `${head.slice(0, -1)},"chats":[\n`;
}

export const chatFileSeparator = ',\n';
/** between the chats and the documents, where there are any */
export const chatFileDocuments = '\n],"documents":[\n';
export const chatFileEnd = '\n]}\n';

/** The chats of such a file and the documents that came with them, unchecked; or why it is none. */
export function chatsOfFile(text: string): { chats: unknown[]; documents: unknown[] } | { problem: string } {
  const file = parsed(text);
  if (file?.format !== format || !Array.isArray(file.chats)) {
    return { problem: 'This file holds no chats of Concertina. Choose a JSON file that was exported here.' };
  }
  if (file.version !== version) {
    return { problem: 'This file is of a newer version of Concertina. Update the app and import it again.' };
  }
  return { chats: file.chats, documents: Array.isArray(file.documents) ? file.documents : [] };
}

function parsed(text: string): { format?: unknown; version?: unknown; chats?: unknown; documents?: unknown } | null {
  try {
    return JSON.parse(text) as ReturnType<typeof parsed>;
  } catch {
    return null;
  }
}

export const exportedChatSchema = chatSchema.omit({ damagedLines: true });
export type ExportedChat = z.infer<typeof exportedChatSchema>;

export const exportOptionsSchema = z.object({
  format: z.enum(['markdown', 'json']),
  /** `shown`: only the branch that the chat shows */
  branches: z.enum(['shown', 'all']),
});
export type ExportOptions = z.infer<typeof exportOptionsSchema>;

/** What the app knows of a document, and all of its text; one that is longer stays out. */
export const exportedDocumentSchema = z.object({
  document: documentSchema,
  sections: z.array(sectionSchema).max(limits.maxDocumentSections),
  text: z.string().max(limits.maxMessage),
});
export type ExportedDocument = z.infer<typeof exportedDocumentSchema>;
