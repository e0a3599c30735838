/** Saved sessions: the KV cache of a chat on disk, so that a document is read once. */
import { z } from 'zod';
import { idSchema } from './limits';

export const savedSessionSchema = z.object({
  id: idSchema,
  /** chats that it was made in or restored for; several may begin with the same document */
  chatIds: z.array(idSchema),
  modelName: z.string(),
  tokens: z.number().int(),
  /** on disk */
  bytes: z.number(),
  typeK: z.string(),
  typeV: z.string(),
  createdAt: z.number(),
  lastUsed: z.number(),
  /** why it cannot be restored into what is loaded now, as a sentence; null: it can */
  problem: z.string().nullable(),
});
export type SavedSession = z.infer<typeof savedSessionSchema>;
