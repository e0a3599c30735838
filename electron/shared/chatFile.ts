/**
 * Exported chats. One chat is Markdown, to be read, or JSON, which is complete; a file of JSON holds any number of chats:
 * {"format":"concertina-chats","version":1,"exportedAt":ISO time,"app":version,"chats":[...]}, each as `exportedChatSchema`
 * says. What is not in it: the texts of attached documents, and saved sessions.
 */
import { z } from 'zod';
import { chatSchema } from './chats';

export const exportedChatSchema = chatSchema.omit({ damagedLines: true });
export type ExportedChat = z.infer<typeof exportedChatSchema>;

export const exportOptionsSchema = z.object({
  format: z.enum(['markdown', 'json']),
  /** `shown`: only the branch that the chat shows */
  branches: z.enum(['shown', 'all']),
});
export type ExportOptions = z.infer<typeof exportOptionsSchema>;
