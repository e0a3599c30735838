/**
 * Exported chats. One chat is Markdown, to be read, or JSON, which is complete; a file of JSON holds any number of chats:
 * {"format":"concertina-chats","version":1,"exportedAt":ISO time,"app":version,"chats":[...]}, each as `exportedChatSchema`
 * says; and if that was asked for "documents":[...], each as `exportedDocumentSchema` says. Saved sessions are not in it.
 */
import { z } from 'zod';
import { chatSchema } from './chats';
import { documentSchema, sectionSchema } from './documents';
import { limits } from './limits';

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
