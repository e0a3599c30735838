/** What a window does with chats and the answers in them, and the form in which chats are exported. */

import { msg } from '@lingui/core/runtime-macro';
import { z } from 'zod';
import {
  budgetSchema,
  chatSchema,
  chatSummarySchema,
  folderNameSchema,
  messageSchema,
  summaryKindSchema,
  trashedChatSchema,
} from './chats';
import { uploadPartSchema } from './documents';
import { errorPayloadSchema } from './errors';
import { attachmentSchema } from './lib/attachments';
import type { Translatable } from './lib/language';
import { chatSearchAnswerSchema, chatSearchSchema } from './lib/textSearch';
import { idSchema, limits, nothing, operation, textSchema } from './limits';
import type { EventMap, OperationMap } from './rpc';

// The title of a chat that nobody named.

/** characters of a title; what is longer is cut at a word */
const titleLength = 60;

/** From the first line of a first message that says something, without Markdown; null: none does. */
export function titleFrom(text: string): string | null {
  // enough for a title, however long the text that was pasted
  const lines = text.trimStart().slice(0, 4000).split('\n').map(withoutMarkdown);
  const line = lines.find((one) => /[^\s#*_`~>|=+-]/.test(one));
  return line === undefined ? null : shortened(line);
}

function withoutMarkdown(line: string): string {
  return (
    line
      .slice(0, 500)
      .replace(/^\s*(?:```|~~~).*$/, '')
      .replace(/^\s*(?:(?:#{1,6}|>|[-*+]|\d{1,3}[.)])\s+)+/, '')
      .replace(/!?\[([^\]]+)\]\([^)]*\)/g, '$1')
      // not underscores: they are part of names more often than they are emphasis
      .replace(/(?<![\w*])(\*{1,3}|~~|`{1,2})(?=\S)([^*`~]+)(?<=\S)\1(?![\w*])/g, '$2')
      .replace(/\s+/g, ' ')
      .trim()
  );
}

function shortened(line: string): string {
  const characters = [...line];
  if (characters.length <= titleLength) return line;
  const cut = characters.slice(0, titleLength).join('');
  const space = cut.lastIndexOf(' ');
  return `${cut.slice(0, space > titleLength / 2 ? space : undefined).trimEnd()}…`;
}

// Exported chats. Tools that a chat may call are not in them: servers are of one computer. One chat is Markdown, to be read, or JSON, which is complete; a file of JSON holds any number of chats:
// {"format":"concertina-chats","version":1,"exportedAt":ISO time,"app":version,"chats":[...]}, each as `exportedChatSchema`
// says; and if requested "documents":[...], each as `exportedDocumentSchema` says. Saved sessions are not in it. The window
// puts such files together and takes them apart.

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
export function chatsOfFile(text: string): { chats: unknown[]; documents: unknown[] } | { problem: Translatable } {
  const file = parsed(text);
  if (file?.format !== format || !Array.isArray(file.chats)) {
    return { problem: msg`This file holds no chats of Concertina. Choose a JSON file that was exported here.` };
  }
  if (file.version !== version) {
    return { problem: msg`This file is of a newer version of Concertina. Update the app and import it again.` };
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

const exportedChatSchema = chatSchema.omit({ damagedLines: true, tools: true });
export type ExportedChat = z.infer<typeof exportedChatSchema>;

const exportOptionsSchema = z.object({
  format: z.enum(['markdown', 'json']),
  /** `shown`: only the branch that the chat shows */
  branches: z.enum(['shown', 'all']),
});
export type ExportOptions = z.infer<typeof exportOptionsSchema>;

// Chats of other apps: their files are sent in parts and read by a worker thread, then their chats are taken over some at a time. The
// ids of a chat and its messages come from those of the other app: that is how one is known that is here already.

const foreignAppSchema = z.enum(['chatgpt', 'claude', 'openwebui', 'lmstudio', 'jan']);
export type ForeignApp = z.infer<typeof foreignAppSchema>;

/** As they call themselves, in every language. */
export const foreignAppNames: Record<ForeignApp, string> = {
  chatgpt: 'ChatGPT',
  claude: 'Claude',
  openwebui: 'Open WebUI',
  lmstudio: 'LM Studio',
  jan: 'Jan',
};

const count = z.number().int().min(0);

/** What chats have that did not come along, by kind. Pictures, files and sounds are named in the messages. */
const lostSchema = z.object({
  pictures: count,
  files: count,
  sounds: count,
  /** calls of tools, with their results */
  tools: count,
  /** parts of a kind that is not known here */
  others: count,
});
export type Lost = z.infer<typeof lostSchema>;

const foundChatsSchema = z.object({
  importId: idSchema,
  apps: z.array(foreignAppSchema),
  chats: count,
  /** chats that could not be read; of Jan, messages */
  damaged: count,
  /** chats without messages */
  empty: count,
  /** why files stayed out; the others are read */
  refused: z.array(errorPayloadSchema),
});
export type FoundChats = z.infer<typeof foundChatsSchema>;

const takenChatsSchema = z.object({
  added: count,
  /** of those that were added */
  messages: count,
  /** were here already: they stay as they are, also where the other app has more of them by now */
  here: count,
  /** of those: they lie in the trash */
  trashed: count,
  /** of those: the other app has messages that are not here */
  grown: count,
  /** of those that were added */
  lost: lostSchema,
});
export type TakenChats = z.infer<typeof takenChatsSchema>;

// Operations and events.

const title = z.string().trim().min(1).max(limits.maxTitle);
const attachments = z.array(attachmentSchema).max(limits.maxAttachments);

/** Answer of an operation that starts an answer: the ids of what was appended to the chat. */
const turnSchema = z.object({
  requestId: idSchema,
  /** null when the question was there already (regenerate, continue) */
  userMessage: messageSchema.nullable(),
  assistantMessage: messageSchema,
});
export type Turn = z.infer<typeof turnSchema>;

/** A question that is sent when the answer before it has ended. */
const waitingSchema = z.object({
  id: idSchema,
  chatId: idSchema,
  text: textSchema.min(1),
  attachments,
  /** why it is not sent by itself any more, as a sentence; null: it goes when its turn has come */
  held: z.string().nullable(),
});
export type WaitingMessage = z.infer<typeof waitingSchema>;

/** Of all chats, those of one chat in the order in which they are sent. */
export const waitingListSchema = z.object({ messages: z.array(waitingSchema).default([]) });
export type WaitingList = z.infer<typeof waitingListSchema>;

export const chatOperations = {
  'chats.list': operation(nothing, z.array(chatSummarySchema)),
  'chats.create': operation(
    z.object({ title: title.optional(), folder: folderNameSchema.optional() }),
    chatSummarySchema,
  ),
  'chats.open': operation(z.object({ chatId: idSchema }), chatSchema),
  'chats.rename': operation(z.object({ chatId: idSchema, title }), chatSummarySchema),
  /** into the trash: `chats.restore` brings it back */
  'chats.remove': operation(z.object({ chatId: idSchema }), nothing),
  'chats.restore': operation(z.object({ chatId: idSchema }), chatSummarySchema),
  /** choose the branch that is shown: the path from the root to this message */
  'chats.selectBranch': operation(z.object({ chatId: idSchema, leafId: idSchema }), chatSchema),
  'chats.setPinned': operation(z.object({ chatId: idSchema, pinned: z.boolean() }), chatSummarySchema),
  /** moves chats into a folder, which is there from then on; null: out of theirs */
  'chats.setFolder': operation(z.object({ chatIds: z.array(idSchema), folder: folderNameSchema.nullable() }), nothing),
  /** titles and texts of all chats but those in the trash */
  'chats.search': operation(chatSearchSchema, chatSearchAnswerSchema),
  /** ends the search of this view, which nobody waits for */
  'chats.cancelSearch': operation(z.object({ asker: idSchema }), nothing),
  /** of this chat alone; it is read again from its start with the next question */
  'chats.setSystemPrompt': operation(
    z.object({ chatId: idSchema, systemPrompt: z.string().max(limits.maxSystemPrompt) }),
    nothing,
  ),
  /** one chat as Markdown, or as the JSON object that `chats.import` takes */
  'chats.exportText': operation(exportOptionsSchema.extend({ chatId: idSchema }), z.object({ text: z.string() })),
  /** one chat of an exported file; it keeps its id unless that is taken. `documents`: ids that became others, by the old ones */
  'chats.import': operation(
    z.object({ chat: exportedChatSchema, documents: z.record(idSchema, idSchema).optional() }),
    chatSummarySchema,
  ),
  /** a part of a file of another app; `whole`: it was the last one */
  'imports.upload': operation(uploadPartSchema, z.object({ uploadId: idSchema, whole: z.boolean() })),
  /** what is in these files; none is kept */
  'imports.read': operation(
    z.object({ uploadIds: z.array(idSchema).min(1).max(limits.maxImportFiles) }),
    foundChatsSchema,
  ),
  /** the chats from index `first` on, at most `limits.maxImportSlice` */
  'imports.take': operation(z.object({ importId: idSchema, first: count }), takenChatsSchema),
  /** an import that is done, or that a person ended */
  'imports.close': operation(z.object({ importId: idSchema }), nothing),
  'chats.trash': operation(nothing, z.array(trashedChatSchema)),
  /** for good: chats of the trash, with their saved sessions */
  'chats.destroy': operation(z.object({ chatIds: z.array(idSchema) }), nothing),

  /** a document that is not stored any more is refused before anything is written */
  'turns.send': operation(
    z.object({
      chatId: idSchema,
      parentId: idSchema.nullable(),
      text: textSchema.min(1),
      attachments: attachments.optional(),
    }),
    turnSchema,
  ),
  /** documents of any length, read part by part; chosen pages or headings are, passages are not looked up */
  'turns.summarize': operation(
    z.object({
      chatId: idSchema,
      parentId: idSchema.nullable(),
      attachments: attachments.min(1),
      kind: summaryKindSchema,
    }),
    turnSchema,
  ),
  /** a second answer to the same question: a new branch beside the old one */
  'turns.regenerate': operation(z.object({ chatId: idSchema, messageId: idSchema }), turnSchema),
  /** the question in other words: a new branch beside the old one, and its answer. `attachments` left out: those it had */
  'turns.edit': operation(
    z.object({ chatId: idSchema, messageId: idSchema, text: textSchema.min(1), attachments: attachments.optional() }),
    turnSchema,
  ),
  /** an answer that was stopped goes on in the same message; refused where other messages build on it */
  'turns.continue': operation(z.object({ chatId: idSchema, messageId: idSchema }), turnSchema),
  'turns.stop': operation(z.object({ requestId: idSchema }), nothing),
  /** what would be sent, to the token; the model must be loaded, a running answer is not held up */
  'turns.budget': operation(
    z.object({ chatId: idSchema.nullable(), leafId: idSchema.nullable(), draft: textSchema, attachments }),
    budgetSchema,
  ),

  'waiting.list': operation(nothing, waitingListSchema),
  /** behind those of the chat that wait already; where no answer is being written it is sent at once */
  'waiting.add': operation(waitingSchema.pick({ chatId: true, text: true, attachments: true }), nothing),
  /** refused when it was sent or removed in the meantime */
  'waiting.remove': operation(z.object({ id: idSchema }), nothing),
  /** one that is held: now, or when the answer that is being written has ended */
  'waiting.send': operation(z.object({ id: idSchema }), nothing),
} as const satisfies OperationMap;

export const chatEvents = {
  onChats: z.array(chatSummarySchema),
  /** how much a search of chats or of a document has read, 0 to 1, when it takes longer */
  onSearch: z.object({ asker: idSchema, fraction: z.number() }),
  /**
   * A question that was asked, an answer that is written from now on (`stopReason` null; one that goes on too), and the
   * final state of an answer: it ended, was stopped, failed or was interrupted.
   * Without a stop reason also when passages of earlier questions left the prompt for it, before its first word; and of a summary
   * each time a part begins: frames of part `i` have `partMessageId(message.id, i)`.
   */
  onMessage: z.object({
    chatId: idSchema,
    message: messageSchema,
    /** of an answer that begins: what it is stopped by */
    requestId: idSchema.optional(),
  }),
  onWaiting: waitingListSchema,
} as const satisfies EventMap;
