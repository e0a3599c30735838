/** Search over the text of all chats: what a window asks and gets, and what the worker thread that reads them is told. */
import { z } from 'zod';
import { roleSchema } from './chats';
import { idSchema, limits } from './limits';

const markSchema = z.tuple([z.number().int(), z.number().int()]);

export const chatHitSchema = z.object({
  chatId: idSchema,
  /** places of the words in the title: from, to */
  titleMarks: z.array(markSchema),
  /** the newest messages with the words, at most `limits.snippetsPerChat` */
  snippets: z.array(z.object({ messageId: idSchema, role: roleSchema, text: z.string(), marks: z.array(markSchema) })),
  /** messages with the words, those without a snippet among them */
  messages: z.number().int(),
});
export type ChatHit = z.infer<typeof chatHitSchema>;

export const chatSearchSchema = z.object({
  query: z.string().trim().min(1).max(limits.maxTitle),
  /** chats at the most */
  limit: z.number().int().min(1).max(500).default(100),
  /** any id of the asking view: its newer question ends the older one with the code `cancelled` */
  asker: idSchema.optional(),
});
export type ChatSearchQuestion = z.infer<typeof chatSearchSchema>;

export const chatSearchAnswerSchema = z.object({
  /** in the order of the chats: latest first */
  hits: z.array(chatHitSchema),
  /** there are more chats with these words than `limit` */
  more: z.boolean(),
});
export type ChatSearchAnswer = z.infer<typeof chatSearchAnswerSchema>;

export interface SearchTask {
  words: string[];
  limit: number;
  /** of the logs */
  folder: string;
  chats: { id: string; title: string }[];
}
