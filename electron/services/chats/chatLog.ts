/**
 * The log of one chat: a line of JSON for each thing that happened. Replaying the lines gives the chat.
 * A line that cannot be read is reported, never fatal; a message whose parent is lost hangs on the message before it.
 */

import { z } from 'zod';
import { titleFrom } from '../../contract/chatOperations';
import {
  type Chat,
  type ChatSummary,
  folderNameSchema,
  type Message,
  messageSchema,
  summarySchema,
} from '../../contract/chats';
import { briefSchema } from '../../contract/lib/brief';
import { idSchema, limits, momentSchema } from '../../contract/limits';
import { chatToolsSchema, noTools, type ToolRound, toolCallSchema, toolRoundSchema } from '../../contract/tools/tools';

const at = momentSchema;

const chatRecordSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('chat'), at, id: idSchema, title: z.string().max(limits.maxTitle).nullable() }),
  z.object({ type: z.literal('message'), at, message: messageSchema }),
  /** text that came since the last partial record of the same answer */
  z.object({ type: z.literal('partial'), at, id: idSchema, text: z.string(), thinking: z.string() }),
  /** the parts of a summary, as they are planned; those that are there already keep their text */
  z.object({ type: z.literal('summary'), at, id: idSchema, summary: summarySchema }),
  /** text of one part since the last such record of it; `ms`: see `summaryPartSchema` */
  z.object({
    type: z.literal('part'),
    at,
    id: idSchema,
    index: z.number().int(),
    text: z.string(),
    ms: z.number().nullable(),
  }),
  /** an answer is about to be written, for which passages of earlier questions left the prompt: see `messageSchema` */
  z.object({ type: z.literal('release'), at, id: idSchema, released: z.number().int().positive() }),
  /** an answer that had ended goes on: more partial records and another final one follow */
  z.object({ type: z.literal('continue'), at, id: idSchema }),
  z.object({
    type: z.literal('final'),
    at,
    id: idSchema,
    message: messageSchema.pick({
      text: true,
      thinking: true,
      stopReason: true,
      error: true,
      stats: true,
      modelName: true,
      leftOut: true,
      released: true,
      summary: true,
    }),
  }),
  /** `auto`: not typed by a person: made from the first message, or `by` the model */
  z.object({
    type: z.literal('rename'),
    at,
    title: z.string().max(limits.maxTitle),
    auto: z.boolean(),
    by: z.literal('model').optional(),
  }),
  z.object({ type: z.literal('leaf'), at, leafId: idSchema.nullable() }),
  z.object({ type: z.literal('prompt'), at, systemPrompt: z.string().max(limits.maxSystemPrompt) }),
  /** what may be called from here on */
  z.object({ type: z.literal('tools'), at, tools: chatToolsSchema }),
  /** an answer asks for tools: what it wrote is of this round now, and it goes on behind the results */
  z.object({ type: z.literal('round'), at, id: idSchema, round: toolRoundSchema }),
  /** one call as it is now; `round`, `index`: its place */
  z.object({
    ...{ type: z.literal('call'), at, id: idSchema, round: z.number().int(), index: z.number().int() },
    call: toolCallSchema,
  }),
  z.object({ type: z.literal('pin'), at, pinned: z.boolean() }),
  /** one that was made, or that a person has changed: by its id */
  z.object({ type: z.literal('brief'), version: z.literal(1), at, brief: briefSchema }),
  z.object({ type: z.literal('unbrief'), version: z.literal(1), at, briefId: idSchema }),
  z.object({ type: z.literal('folder'), at, folder: folderNameSchema.nullable() }),
]);
export type ChatRecord = z.infer<typeof chatRecordSchema>;

type WithoutMoment<R> = R extends unknown ? Omit<R, 'at'> : never;
/** Of a chat or of an answer that is being written. */
export type KeptRecord = WithoutMoment<Extract<ChatRecord, { type: 'release' | 'round' | 'call' | 'tools' }>>;

export interface ChatState extends Chat {
  /** whose words the title is; null: it is only a placeholder */
  namedBy: 'question' | 'model' | 'person' | null;
}

const placeholderTitle = 'New chat';

export function emptyChat(id: string, createdAt: number): ChatState {
  return {
    id,
    title: placeholderTitle,
    namedBy: null,
    createdAt,
    updatedAt: createdAt,
    pinned: false,
    folder: null,
    systemPrompt: null,
    messages: [],
    briefs: [],
    tools: noTools,
    leafId: null,
    damagedLines: 0,
  };
}

interface ParsedLog {
  records: ChatRecord[];
  damaged: string[];
}

export function parseLog(text: string): ParsedLog {
  const records: ChatRecord[] = [];
  const damaged: string[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const record = parseLine(line);
    if (record) records.push(record);
    else damaged.push(line);
  }
  return { records, damaged };
}

const knownTypes: readonly string[] = chatRecordSchema.options.map(({ shape }) => shape.type.value);

/** What a newer version of the app has written: it stays in the file, and changes nothing here. */
const newerSchema = z.union([
  z.looseObject({ type: z.string().refine((type) => !knownTypes.includes(type)), at }),
  z.looseObject({ type: z.enum(['brief', 'unbrief']), version: z.number().min(2), at }),
]);

function parseLine(line: string): ChatRecord | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  const known = chatRecordSchema.safeParse(value);
  return known.success ? known.data : ((newerSchema.safeParse(value).data as ChatRecord | undefined) ?? null);
}

export function replay(id: string, createdAt: number, records: ChatRecord[]): ChatState {
  const chat = emptyChat(id, records[0]?.at ?? createdAt);
  for (const record of records) applyRecord(chat, record);
  return chat;
}

/** Applies one record in place. Records about messages that are not there are skipped. */
export function applyRecord(chat: ChatState, record: ChatRecord): void {
  if ('version' in record && record.version !== 1) return;
  chat.updatedAt = Math.max(chat.updatedAt, record.at);
  switch (record.type) {
    case 'chat':
      chat.createdAt = record.at;
      if (record.title !== null) setTitle(chat, record.title, 'person');
      return;
    case 'rename':
      setTitle(chat, record.title, record.auto ? (record.by ?? 'question') : 'person');
      return;
    case 'message':
      addMessage(chat, record.message);
      return;
    case 'leaf':
      if (record.leafId === null || placeOf(chat, record.leafId) !== undefined) chat.leafId = record.leafId;
      return;
    case 'prompt':
      chat.systemPrompt = record.systemPrompt;
      return;
    case 'tools':
      chat.tools = record.tools;
      return;
    case 'round':
      updateMessage(chat, record.id, (message) => withRound(message, record.round));
      return;
    case 'call':
      updateMessage(chat, record.id, (message) => withCall(message, record));
      return;
    case 'pin':
      chat.pinned = record.pinned;
      return;
    case 'folder':
      chat.folder = record.folder;
      return;
    case 'brief':
      chat.briefs = [...chat.briefs.filter(({ id }) => id !== record.brief.id), record.brief];
      return;
    case 'unbrief':
      chat.briefs = chat.briefs.filter(({ id }) => id !== record.briefId);
      return;
    case 'partial':
      updateMessage(chat, record.id, (message) => ({
        ...message,
        text: message.text + record.text,
        thinking: message.thinking + record.thinking,
      }));
      return;
    case 'summary':
      updateMessage(chat, record.id, (message) => ({ ...message, summary: record.summary }));
      return;
    case 'part':
      updateMessage(chat, record.id, (message) => withPart(message, record));
      return;
    case 'release':
      updateMessage(chat, record.id, (message) => ({ ...message, released: record.released }));
      return;
    case 'continue':
      updateMessage(chat, record.id, (message) => ({ ...message, stopReason: null, error: null }));
      return;
    case 'final':
      updateMessage(chat, record.id, (message) => ({ ...message, ...record.message }));
      return;
  }
}

export function findMessage(chat: Chat, id: string): Message | undefined {
  return chat.messages.find((message) => message.id === id);
}

/** The messages from the first one down to `leafId`. */
export function branchTo(chat: Chat, leafId: string | null): Message[] {
  const byId = new Map(chat.messages.map((message) => [message.id, message]));
  const branch: Message[] = [];
  for (let message = byId.get(leafId ?? ''); message; message = byId.get(message.parentId ?? '')) {
    branch.unshift(message);
    byId.delete(message.id);
  }
  return branch;
}

export function summaryOf(chat: ChatState): ChatSummary {
  const { id, createdAt, updatedAt, pinned, folder } = chat;
  return { id, title: chat.title || placeholderTitle, createdAt, updatedAt, pinned, folder };
}

function setTitle(chat: ChatState, title: string, namedBy: ChatState['namedBy']): void {
  chat.title = title;
  chat.namedBy = namedBy;
}

function addMessage(chat: ChatState, message: Message): void {
  if (placeOf(chat, message.id) !== undefined) return;
  // the window makes a chat with the words of its question
  if (chat.messages.length === 0 && titleFrom(message.text) === chat.title) chat.namedBy = 'question';
  const parentKnown = message.parentId === null || placeOf(chat, message.parentId) !== undefined;
  const parentId = parentKnown ? message.parentId : (chat.messages.at(-1)?.id ?? null);
  const length = chat.messages.push({ ...message, parentId });
  places.get(chat.messages)?.set(message.id, length - 1);
  chat.leafId = message.id;
}

function updateMessage(chat: ChatState, id: string, change: (message: Message) => Message): void {
  const place = placeOf(chat, id);
  const message = place === undefined ? undefined : chat.messages[place];
  if (place !== undefined && message) chat.messages[place] = change(message);
}

function withPart(message: Message, { index, text, ms }: Extract<ChatRecord, { type: 'part' }>): Message {
  if (!message.summary) return message;
  const parts = message.summary.parts.map((part, i) => (i === index ? { ...part, text: part.text + text, ms } : part));
  return { ...message, summary: { ...message.summary, parts } };
}

function withRound(message: Message, round: ToolRound): Message {
  return { ...message, text: '', thinking: '', rounds: [...(message.rounds ?? []), round] };
}

function withCall(message: Message, { round: at, index, call }: Extract<ChatRecord, { type: 'call' }>): Message {
  const rounds = message.rounds?.map((round, i) =>
    i === at ? { ...round, calls: round.calls.map((one, j) => (j === index ? call : one)) } : round,
  );
  return rounds ? { ...message, rounds } : message;
}

/** Where each message stands, by its id: a list of thousands would otherwise be searched for every line of the log. */
const places = new WeakMap<Message[], Map<string, number>>();

function placeOf({ messages }: Chat, id: string): number | undefined {
  const known = places.get(messages);
  if (known?.size === messages.length) return known.get(id);
  const fresh = new Map(messages.map((message, place) => [message.id, place]));
  places.set(messages, fresh);
  return fresh.get(id);
}

export function isOpen(message: Message): boolean {
  return message.role === 'assistant' && message.stopReason === null;
}

/** Answers that a former run of the app did not finish. `isWritten`: by this run */
export function endingsOf(chat: ChatState, isWritten: (messageId: string) => boolean): ChatRecord[] {
  return chat.messages
    .filter((message) => isOpen(message) && !isWritten(message.id))
    .map((message) => ({
      type: 'final',
      at: chat.updatedAt,
      id: message.id,
      message: {
        text: message.text,
        thinking: message.thinking,
        stopReason: 'interrupted',
        // of the parts before the one that was cut off
        stats: message.stats,
        modelName: message.modelName,
        leftOut: message.leftOut,
        summary: message.summary,
        error: {
          code: 'engine-crashed',
          message: 'The app ended while this answer was being written.',
          hint: 'The text up to there was kept. Continue it, or let the question be answered again.',
        },
      },
    }));
}
