/** Chats: a tree of messages kept as an append-only log. A branch is a second child of one parent. */

import { z } from 'zod';
import { errorPayloadSchema } from './errors';
import { attachmentSchema } from './lib/attachments';
import { briefSchema } from './lib/brief';
import { idSchema, limits, momentSchema } from './limits';
import { chatToolsSchema, givenIn, noTools, toolRoundSchema } from './tools/tools';

// What a message would take of the context, part by part, in tokens of the loaded model.

const tokens = z.number().int().min(0);

export const budgetSchema = z.object({
  system: tokens,
  /** blocks of documents, of the branch and of the draft */
  documents: tokens,
  /** questions and answers of the branch, without documents */
  history: tokens,
  /** the draft, without documents */
  message: tokens,
  /** what the chat template puts around them */
  template: tokens,
  /** what the prompt grew by for the tools of the chat */
  tools: tokens,
  /** the sum of those above: exactly the prompt that the engine would be given */
  total: tokens,
  /** kept free for the answer */
  reserve: tokens,
  contextSize: tokens,
  /** those of the branch first, then those of the draft, in their order */
  byDocument: z.array(
    z.object({
      documentId: z.string(),
      tokens,
      /** attached to an earlier question; false: to the draft */
      inBranch: z.boolean(),
      /** of one that is searched: what for, as in its part */
      words: z.string().optional(),
    }),
  ),
  fits: z.boolean(),
  /** the policy `roll`: so many of the oldest messages will be left out to make it fit; they are in no figure */
  leftOut: tokens.optional(),
  /**
   * To make it fit, the passages of so many questions will leave the prompt; they are in no figure, and those that left before
   * are not among them
   */
  released: tokens.optional(),
  /** a brief stands for so many of the oldest messages; it is in `history` */
  briefed: tokens.optional(),
  /** tokens of earlier messages that are read again, because something before them will leave */
  readAgain: tokens.optional(),
  /** there is room for fewer passages than are set: so many tokens of them are looked up */
  fewer: tokens.optional(),
  /** `total` and `reserve` beyond the context; 0: it fits, unless there is an `unfilled` */
  over: tokens,
  /** name of a document of the draft of which not even one passage has room: the question would be refused */
  unfilled: z.string().optional(),
  /** of a draft that does not fit: what would make it fit. A longer context is not among them */
  remedies: z
    .object({
      /** the policy `roll` */
      leaveOut: z.boolean(),
      /** a brief in place of the oldest messages */
      brief: z.boolean().default(false),
      /** the same question and documents in a new chat */
      newChat: z.boolean(),
    })
    .optional(),
});
export type PromptBudget = z.infer<typeof budgetSchema>;

/** Tokens kept free for the answer: what was set, but never over a quarter of the context. */
export function reserveOf(asked: number, contextSize: number): number {
  return Math.min(asked, Math.floor(contextSize / 4));
}

// Summaries and outlines of documents that are longer than the context: read part by part, then joined.

export const summaryKindSchema = z.enum(['summary', 'outline']);
export type SummaryKind = z.infer<typeof summaryKindSchema>;

const summaryPartSchema = z.object({
  /** "Pages 1-24"; of results that were joined: "Parts 1-8" */
  label: z.string(),
  /** a stretch of one document, or the results of other parts: from index `first` to index `last` */
  source: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('document'), attachment: attachmentSchema }),
    z.object({ kind: z.literal('parts'), first: z.number().int().min(0), last: z.number().int().min(0) }),
  ]),
  /** of what is read, as it was planned */
  tokens: z.number().int().min(0),
  /** the result, as far as it is written */
  text: z.string().default(''),
  /** milliseconds that it took; null: it is not done */
  ms: z.number().nullable().default(null),
});
export type SummaryPart = z.infer<typeof summaryPartSchema>;

export const summarySchema = z.object({
  kind: summaryKindSchema,
  /** in the order in which they are read; on a question, and before the plan is made: none */
  parts: z.array(summaryPartSchema),
});
export type Summary = z.infer<typeof summarySchema>;

/** Stands for the message in the frames of one part: its words are not those of the answer. */
export function partMessageId(messageId: string, index: number): string {
  return `${messageId}#${index}`;
}

/** Index of the part that is written now or next; -1: all are done. */
export function openPart({ parts }: Summary): number {
  return parts.findIndex(({ ms }) => ms === null);
}

export const roleSchema = z.enum(['user', 'assistant']);

/** Why an answer ended. `interrupted`: the engine or the app died; the text up to then is kept. */
export const stopReasonSchema = z.enum([
  'end-of-turn',
  /** tools were called as many times in a row as the settings allow */
  'tool-rounds',
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
/**
 * Speculative decoding: tokens that were drafted for an answer, and how many of them stand in it. `slower`: nothing more is
 * drafted in the chat, because it was faster without.
 */
export const draftsSchema = z.object({
  drafted: z.number().int(),
  accepted: z.number().int(),
  slower: z.boolean(),
});
export type Drafts = z.infer<typeof draftsSchema>;

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
  /** not there where nothing was drafted */
  drafts: draftsSchema.optional(),
});
export type AnswerStats = z.infer<typeof answerStatsSchema>;

/** A stretch of an earlier message, in UTF-16 units. */
const recalledSchema = z.object({
  messageId: idSchema,
  start: z.number().int().min(0),
  end: z.number().int().min(0),
});
export type Recalled = z.infer<typeof recalledSchema>;

export const messageSchema = z.object({
  id: idSchema,
  /** null: a first message */
  parentId: idSchema.nullable(),
  role: roleSchema,
  text: z.string(),
  /** questions only: documents that the model reads before the text, in this order */
  attachments: z.array(attachmentSchema).default([]),
  /** questions only: of messages that a brief stands for, what stands before the text, in their order; else not there */
  recalled: z.array(recalledSchema).optional(),
  /** text that the model's template marks as thinking; apart from `text` */
  thinking: z.string().default(''),
  createdAt: momentSchema,
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
  /** Answers only: what was written and called before `text`, which stands behind the results of the last one; else not there. */
  rounds: z.array(toolRoundSchema).optional(),
});
export type Message = z.infer<typeof messageSchema>;

export const folderNameSchema = z.string().trim().min(1).max(limits.maxFolderName);

export const chatSummarySchema = z.object({
  id: idSchema,
  title: z.string().max(limits.maxTitle),
  createdAt: momentSchema,
  updatedAt: momentSchema,
  /** stands above all others */
  pinned: z.boolean().default(false),
  /** the folder that it lies in, by name; a folder is there as long as a chat lies in it, or it has documents (lib/shelf.ts) */
  folder: folderNameSchema.nullable().default(null),
});
export type ChatSummary = z.infer<typeof chatSummarySchema>;

export const trashedChatSchema = chatSummarySchema.extend({
  deletedAt: momentSchema,
  /** when it is deleted for good by itself */
  goneAt: momentSchema,
});
export type TrashedChat = z.infer<typeof trashedChatSchema>;

export const chatSchema = chatSummarySchema.extend({
  messages: z.array(messageSchema),
  /** the last message of the branch that was shown last; null: empty chat */
  leafId: idSchema.nullable(),
  /** the system prompt that it began with, which stays when the general one changes; null: the general one */
  systemPrompt: z.string().max(limits.maxSystemPrompt).nullable().default(null),
  /** what the model reads in place of the oldest messages, by the branches that it belongs to */
  briefs: z.array(briefSchema).default([]),
  /** none until a person has chosen some */
  tools: chatToolsSchema.default(noTools),
  /** lines of the log that could not be read and were set aside; 0 in a healthy chat */
  damagedLines: z.number().int().default(0),
});
export type Chat = z.infer<typeof chatSchema>;

// Passages that left the prompt. They were looked up for one question. When a later one needs the room they go, the oldest
// questions first, and do not come back: so the prompt of each answer begins as that of the answer before it, and the KV cache
// is used again. The words of the questions and of their answers stay.

type Held = Pick<Message, 'role' | 'attachments' | 'summary' | 'rounds'>;

/**
 * A question, or an answer with results of tools, whose passages stand in the prompt until they are released. What was read part
 * by part never stood there.
 */
export function holdsPassages({ role, attachments, summary, rounds }: Held): boolean {
  const given = [...(role === 'user' ? attachments : []), ...givenIn(rounds)];
  return !summary && given.some(({ part }) => part.kind === 'passages');
}

/**
 * Message by message: which of the questions with passages it is, or belongs to, counted from 0. -1: it has no passages. Those of
 * the tools of an answer go with its question.
 */
export function turnsWithPassages(branch: readonly Held[]): number[] {
  let turns = 0;
  let counted = false;
  return branch.map((message) => {
    if (message.role === 'user') counted = false;
    if (!holdsPassages(message)) return -1;
    if (!counted) turns += 1;
    counted = true;
    return turns - 1;
  });
}

/** Of how many questions of a branch the passages are released: the oldest ones that had some. */
export function releasedOf(branch: readonly Pick<Message, 'released'>[]): number {
  return branch.reduce((most, { released = 0 }) => Math.max(most, released), 0);
}

/** The branch as it stands in the prompt when `count` questions have released their passages; other documents stay. */
export function withoutReleased<M extends Held>(branch: readonly M[], count: number): M[] {
  const turns = turnsWithPassages(branch);
  return branch.map((message, index) => {
    const turn = turns[index] ?? -1;
    return turn === -1 || turn >= count ? message : withoutPassages(message);
  });
}

function withoutPassages<M extends Held>(message: M): M {
  const rounds = message.rounds?.map((round) => ({
    ...round,
    calls: round.calls.map((call) => ({
      ...call,
      ...(call.kept && {
        kept: call.kept.map((one) => (one.part?.kind === 'passages' ? { ...one, part: null } : one)),
      }),
    })),
  }));
  const attachments = message.attachments.filter(({ part }) => part.kind !== 'passages');
  return { ...message, attachments, ...(rounds && { rounds }) };
}

/** What a branch shows of it, message by message. */
interface ReleasedHere {
  /** its passages are released */
  gone: boolean;
  /** of an answer: of how many questions they were released for it */
  fresh: number;
}

export function releasedAlong(branch: readonly (Held & Pick<Message, 'released'>)[]): ReleasedHere[] {
  const all = releasedOf(branch);
  const turns = turnsWithPassages(branch);
  let before = 0;
  return branch.map(({ released = 0 }, index) => {
    const fresh = Math.max(0, released - before);
    before += fresh;
    const turn = turns[index] ?? -1;
    return { gone: turn !== -1 && turn < all, fresh };
  });
}
