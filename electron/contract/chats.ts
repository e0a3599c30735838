/** Chats: a tree of messages kept as an append-only log. A branch is a second child of one parent. */
import { z } from 'zod';
import { attachmentSchema } from './attachments';
import { errorPayloadSchema } from './errors';
import { idSchema, limits } from './limits';
import { summarySchema } from './summaries';
export const roleSchema = z.enum(['user', 'assistant']);

/** Why an answer ended. `interrupted`: the engine or the app died; the text up to then is kept. */
export const stopReasonSchema = z.enum([
  'end-of-turn',
  'stop-string',
  'max-tokens',
  'context-full',
  'cancelled',
  'interrupted',
  'error',
]);
export type StopReason = z.infer<typeof stopReasonSchema>;

/** Ends after which an answer can go on. */
export function canGoOn(reason: StopReason | null): boolean {
  return reason !== null && reason !== 'end-of-turn' && reason !== 'stop-string';
}

/** Figures of one answer, as the engine timed them. Times in milliseconds, rates in tokens per second. */
export const answerStatsSchema = z.object({
  promptTokens: z.number().int(),
  /** prompt tokens that were still in the KV cache and were not evaluated again */
  cachedTokens: z.number().int(),
  /** those of them that came from a saved session, just before this answer */
  restoredTokens: z.number().int().default(0),
  /** were in the cache too, but this model cannot go back to them (sliding window, recurrent state): they were read again */
  rereadTokens: z.number().int().default(0),
  answerTokens: z.number().int(),
  ttftMs: z.number(),
  promptTokensPerSecond: z.number(),
  tokensPerSecond: z.number(),
  /** tokens in the KV cache after the answer */
  contextUsed: z.number().int(),
  contextSize: z.number().int(),
  typeK: z.string(),
  typeV: z.string(),
  seed: z.number().int(),
  /** times that the engine wrote at it: more than 1 where the answer was continued, and the figures are those of all */
  parts: z.number().int().default(1),
});
export type AnswerStats = z.infer<typeof answerStatsSchema>;

export const messageSchema = z.object({
  id: idSchema,
  /** null: a first message */
  parentId: idSchema.nullable(),
  role: roleSchema,
  text: z.string(),
  /** questions only: documents that the model reads before the text, in this order */
  attachments: z.array(attachmentSchema).default([]),
  /** text that the model's template marks as thinking; apart from `text` */
  thinking: z.string().default(''),
  createdAt: z.number(),
  /** answers only; null while one is being written */
  stopReason: stopReasonSchema.nullable().default(null),
  error: errorPayloadSchema.nullable().default(null),
  stats: answerStatsSchema.nullable().default(null),
  modelName: z.string().default(''),
  /** the oldest messages of the branch that the model did not see, because the context was too short for all; else not there */
  leftOut: z.number().int().positive().optional(),
  /**
   * Answers only: of so many questions of the branch, the oldest ones with passages, the passages stood in its prompt no more,
   * because the context was too short for all; else not there. For what follows they stay out, see `released.ts`.
   */
  released: z.number().int().positive().optional(),
  /**
   * Of a question that is answered part by part: its documents stand in no prompt of the chat. Of its answer: the parts, and
   * `text` is what was joined out of them. Else not there.
   */
  summary: summarySchema.optional(),
});
export type Message = z.infer<typeof messageSchema>;

export const folderNameSchema = z.string().trim().min(1).max(limits.maxFolderName);

export const chatSummarySchema = z.object({
  id: idSchema,
  title: z.string().max(limits.maxTitle),
  createdAt: z.number(),
  updatedAt: z.number(),
  /** stands above all others */
  pinned: z.boolean().default(false),
  /** the folder that it lies in, by name; a folder is there as long as a chat lies in it */
  folder: folderNameSchema.nullable().default(null),
});
export type ChatSummary = z.infer<typeof chatSummarySchema>;

export const trashedChatSchema = chatSummarySchema.extend({
  deletedAt: z.number(),
  /** when it is deleted for good by itself */
  goneAt: z.number(),
});
export type TrashedChat = z.infer<typeof trashedChatSchema>;

export const chatSchema = chatSummarySchema.extend({
  messages: z.array(messageSchema),
  /** the last message of the branch that was shown last; null: empty chat */
  leafId: idSchema.nullable(),
  /** the system prompt that it began with, which stays when the general one changes; null: the general one */
  systemPrompt: z.string().max(limits.maxSystemPrompt).nullable().default(null),
  /** lines of the log that could not be read and were set aside; 0 in a healthy chat */
  damagedLines: z.number().int().default(0),
});
export type Chat = z.infer<typeof chatSchema>;
