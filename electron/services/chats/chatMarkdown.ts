/** A chat as Markdown, to be read by people: title, dates, models, what was used of documents, and the figures of answers. */

import type { ExportedChat, ExportOptions } from '../../contract/chatOperations';
import type { AnswerStats, Chat, Message, StopReason } from '../../contract/chats';
import type { Attachment } from '../../contract/lib/attachments';
import { isOpenCall, resultOf, type ToolCall } from '../../contract/tools/tools';
import { branchTo, type ChatRecord } from './chatLog';

/** Names of a document's sections; null: the document is not there any more. */
type LabelsOf = (documentId: string) => Promise<string[] | null>;

const ends: Record<StopReason, string> = {
  'end-of-turn': '',
  'stop-string': 'ended at a stop string',
  'tool-rounds': 'stopped at the limit of calls in a row',
  'max-tokens': 'stopped at the token limit',
  'context-full': 'stopped because the context was full',
  cancelled: 'stopped by the person',
  interrupted: 'interrupted',
  error: 'ended with an error',
};

async function chatMarkdown(chat: ExportedChat, labelsOf: LabelsOf): Promise<string> {
  const models = [...new Set(chat.messages.map(({ modelName }) => modelName).filter(Boolean))];
  const head = [`# ${chat.title}`, '', `- Begun: ${time(chat.createdAt)}`, `- Last change: ${time(chat.updatedAt)}`];
  if (models.length > 0) head.push(`- ${models.length === 1 ? 'Model' : 'Models'}: ${models.join(', ')}`);
  if (chat.folder !== null) head.push(`- Folder: ${chat.folder}`);
  const parts = [head.join('\n')];
  if (chat.systemPrompt) parts.push(`System prompt:\n\n${quoted(chat.systemPrompt)}`);
  const order = depthFirst(chat.messages);
  for (const [index, message] of order.entries()) {
    const parent = order.findIndex(({ id }) => id === message.parentId);
    parts.push(await messageMarkdown(message, index, parent, labelsOf));
  }
  return `${parts.join('\n\n')}\n`;
}

/** `index`, `parent`: places in the file; messages are numbered, so that a branch can say where it goes on from. */
async function messageMarkdown(message: Message, index: number, parent: number, labelsOf: LabelsOf): Promise<string> {
  const who = message.role === 'user' ? 'You' : message.modelName || 'Answer';
  const parts = [`## ${index + 1}. ${who}, ${time(message.createdAt)}`];
  if (index > 0 && parent !== index - 1) {
    parts.push(parent === -1 ? '*A new beginning of the chat.*' : `*Another version: goes on from ${parent + 1}.*`);
  }
  if (message.attachments.length > 0) {
    parts.push((await Promise.all(message.attachments.map((one) => attachmentLine(one, labelsOf)))).join('\n'));
  }
  if (message.thinking !== '') {
    parts.push(`<details><summary>Thinking</summary>\n\n${message.thinking.trim()}\n\n</details>`);
  }
  for (const { text, calls } of message.rounds ?? []) {
    parts.push(text.trim());
    for (const call of calls) parts.push(await callMarkdown(call, labelsOf));
  }
  parts.push(message.text.trim());
  const figures = [message.stats && statsText(message.stats), message.stopReason && ends[message.stopReason]];
  if (figures.some(Boolean)) parts.push(`*${figures.filter(Boolean).join('; ')}*`);
  if (message.error) parts.push(`*Error: ${message.error.message}*`);
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Indented, so that no fence of a result ends it. */
async function callMarkdown(call: ToolCall, labelsOf: LabelsOf): Promise<string> {
  const { name, server, state } = call;
  const indented = (text: string) => text.replace(/^/gm, '    ');
  const parts = [`*Called ${name}${server && ` of ${server}`}: ${state}*`, indented(call.arguments)];
  if (!isOpenCall(call)) parts.push(indented(resultOf(call)));
  const kept = (call.kept ?? []).map(({ part, ...document }) =>
    part ? attachmentLine({ ...document, part }, labelsOf) : `- File: ${document.name}`,
  );
  return [...parts, ...(kept.length > 0 ? [(await Promise.all(kept)).join('\n')] : [])].join('\n\n');
}

async function attachmentLine({ documentId, name, part }: Attachment, labelsOf: LabelsOf): Promise<string> {
  if (part.kind === 'whole') return `- Document: ${name} (whole)`;
  if (part.kind === 'sound') return `- Sound: ${name}`;
  if (part.kind === 'image')
    return part.pages ? `- Document: ${name} (sheets ${part.pages.join(', ')} as images)` : `- Image: ${name}`;
  if (part.kind === 'passages') {
    const labels = [...new Set(part.passages.map(({ label }) => label))];
    return `- Document: ${name} (passages of ${labels.join(', ')})`;
  }
  const labels = await labelsOf(documentId);
  const used = part.sections.map((index) => labels?.[index] || `section ${index + 1}`);
  return `- Document: ${name} (${used.join(', ')})`;
}

function statsText(stats: AnswerStats): string {
  const types = stats.typeK === stats.typeV ? stats.typeK : `${stats.typeK}/${stats.typeV}`;
  return [
    `${stats.answerTokens} tokens at ${stats.tokensPerSecond.toFixed(1)} tok/s`,
    `first token after ${Math.round(stats.ttftMs)} ms`,
    `${stats.promptTokens} prompt tokens, ${stats.cachedTokens} of them cached`,
    `context ${stats.contextUsed} of ${stats.contextSize}`,
    `cache ${types}`,
    `seed ${stats.seed}`,
  ].join(', ');
}

/** Each branch in one piece. */
function depthFirst(messages: readonly Message[]): Message[] {
  const children = new Map<string | null, Message[]>();
  for (const message of messages) {
    children.set(message.parentId, [...(children.get(message.parentId) ?? []), message]);
  }
  const order: Message[] = [];
  const waiting = [...(children.get(null) ?? [])].reverse();
  for (let message = waiting.pop(); message; message = waiting.pop()) {
    order.push(message);
    waiting.push(...[...(children.get(message.id) ?? [])].reverse());
  }
  return order;
}

function quoted(text: string): string {
  return text.trim().replace(/^/gm, '> ');
}

function time(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

// Chats out of the app and into it again.

/** One chat: Markdown, or an object of JSON. */
export async function exportedText(chat: Chat, options: ExportOptions, labelsOf: LabelsOf): Promise<string> {
  const exported = exportedChat(chat, options.branches);
  return options.format === 'json' ? JSON.stringify(exported) : chatMarkdown(exported, labelsOf);
}

function exportedChat(chat: Chat, branches: ExportOptions['branches']): ExportedChat {
  const { id, title, createdAt, updatedAt, pinned, folder, systemPrompt, messages, leafId } = chat;
  const shown = branches === 'all' ? messages : branchTo(chat, leafId ?? messages.at(-1)?.id ?? null);
  const briefs = chat.briefs.filter(({ throughId }) => shown.some((message) => message.id === throughId));
  return { id, title, createdAt, updatedAt, pinned, folder, systemPrompt, leafId, messages: shown, briefs };
}

/** The log that an imported chat begins with. Its times are those of the chat, so that it stands in its old place. */
export function recordsOf(chat: ExportedChat, id: string): ChatRecord[] {
  const at = chat.updatedAt;
  return [
    { type: 'chat', at: chat.createdAt, id, title: chat.title },
    ...(chat.systemPrompt === null ? [] : [{ type: 'prompt', at, systemPrompt: chat.systemPrompt } as const]),
    ...chat.messages.map((message): ChatRecord => ({ type: 'message', at, message })),
    ...chat.briefs.map((brief): ChatRecord => ({ type: 'brief', version: 1, at, brief })),
    { type: 'leaf', at, leafId: chat.leafId },
    ...(chat.pinned ? [{ type: 'pin', at, pinned: true } as const] : []),
    ...(chat.folder === null ? [] : [{ type: 'folder', at, folder: chat.folder } as const]),
  ];
}

/** The chat as it names documents that have other ids here. @param ids by the old ones; those that are not in it stay */
export function withDocuments(chat: ExportedChat, ids: Readonly<Record<string, string>>): ExportedChat {
  const known = new Map(Object.entries(ids));
  const named = <D extends { documentId: string }>(one: D): D => ({
    ...one,
    documentId: known.get(one.documentId) ?? one.documentId,
  });
  const withKept = (call: ToolCall) => (call.kept ? { ...call, kept: call.kept.map(named) } : call);
  const messages = chat.messages.map((message) => ({
    ...message,
    attachments: message.attachments.map(named),
    ...(message.rounds && {
      rounds: message.rounds.map((round) => ({ ...round, calls: round.calls.map(withKept) })),
    }),
  }));
  return { ...chat, messages };
}
