/**
 * Briefs: what the model reads in place of the oldest messages of a chat. They belong to a path: a brief counts on each branch
 * that the last message it stands for is on. The messages stay in the chat; those with documents stay in the prompt, too.
 */
import { z } from 'zod';
import { idSchema, limits, nothing, operation } from '../limits';
import type { EventMap, OperationMap } from '../rpc';

const tokens = z.number().int().min(0);

/** With `overflow: 'brief'` the oldest messages are shortened when an answer has left the chat with more of the context than this. */
export const briefMark = 0.75;

/** A brief has no more tokens than this share of what it stands for. */
export const briefShare = 1 / 4;

/** Of the context, the most that stretches of such messages take, which come back before a question that they fit. */
export const recallShare = 1 / 8;

export const briefSchema = z.object({
  id: idSchema,
  /** the last message that it stands for; the first is that of the chat, whatever an earlier brief stood for */
  throughId: idSchema,
  /** how many messages it stands for */
  messages: z.number().int().positive(),
  text: z.string().min(1).max(limits.maxBrief),
  /** of the text, and of the messages, as they were counted when it was made */
  tokens,
  replaced: tokens,
  modelName: z.string(),
  createdAt: z.number(),
  /** a person has changed the text */
  edited: z.boolean().default(false),
});
export type Brief = z.infer<typeof briefSchema>;

const messagePrefix = 'brief ';

/** Stands for a message in the frames of one that is being written: it is no answer. */
export function briefMessageId(requestId: string): string {
  return messagePrefix + requestId;
}

export function isBriefMessage(messageId: string): boolean {
  return messageId.startsWith(messagePrefix);
}

interface PathMessage {
  id: string;
  role: 'user' | 'assistant';
  attachments: readonly unknown[];
}

/** The brief that counts on a path: the one that reaches furthest, and of several the latest. */
export function briefOn(path: readonly Pick<PathMessage, 'id'>[], briefs: readonly Brief[]): Brief | null {
  if (briefs.length === 0) return null;
  const places = new Map(path.map(({ id }, place) => [id, place]));
  let best: Brief | null = null;
  for (const brief of briefs) {
    const place = places.get(brief.throughId);
    if (place !== undefined && place >= (places.get(best?.throughId ?? '') ?? -1)) best = brief;
  }
  return best;
}

/** Ids of the messages that a brief through this one stands for: a turn with documents is none of them. */
export function coveredBy(path: readonly PathMessage[], throughId: string): Set<string> {
  const covered = new Set<string>();
  let holds = false;
  for (const { id, role, attachments } of path.slice(0, path.findIndex((message) => message.id === throughId) + 1)) {
    if (role === 'user') holds = attachments.length > 0;
    if (!holds) covered.add(id);
  }
  return covered;
}

/** What a brief of a chat would cost, before it is made. */
const briefPlanSchema = z.object({
  throughId: idSchema,
  /** how many messages it would stand for */
  messages: z.number().int().positive(),
  /** of these messages as they stand in the prompt now */
  replaced: tokens,
  /** that are read to write it: what the context holds of the chat is read already */
  read: tokens,
  /** that it has at most */
  most: tokens,
  /** that the next question reads again, because they stand behind it */
  readAgain: tokens,
  /** for reading and writing, by the rates of the chat's last answer; null: not measured */
  seconds: z.number().nullable(),
});
export type BriefPlan = z.infer<typeof briefPlanSchema>;

/** A brief that is being written. */
export const briefProgressSchema = z.object({
  chatId: idSchema,
  plan: briefPlanSchema,
  /** of the reading, 0 to 1 */
  read: z.number(),
  /** as far as it is written */
  text: z.string(),
  /** it has ended: with the brief, or with why there is none; null: it goes on */
  end: z.object({ brief: briefSchema.nullable(), problem: z.string().nullable() }).nullable(),
});
export type BriefProgress = z.infer<typeof briefProgressSchema>;

const place = z.object({ chatId: idSchema, leafId: idSchema.nullable() });
const one = z.object({ chatId: idSchema, briefId: idSchema });

export const briefOperations = {
  /** null: there is nothing to shorten but the last turns and those with documents */
  'briefs.plan': operation(place, briefPlanSchema.nullable()),
  /** resolves when it is being written; its end comes as an event */
  'briefs.make': operation(place, nothing),
  'briefs.cancel': operation(z.object({ chatId: idSchema }), nothing),
  'briefs.edit': operation(one.extend({ text: z.string().trim().min(1).max(limits.maxBrief) }), briefSchema),
  /** the messages stand in the prompt again, or an earlier brief of them */
  'briefs.remove': operation(one, nothing),
} as const satisfies OperationMap;

export const briefEvents = { onBrief: briefProgressSchema } as const satisfies EventMap;
