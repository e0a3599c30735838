/**
 * What every format of another app becomes: one of our chats. Its messages alternate, question and answer, so what another app
 * keeps in several pieces (thinking, a tool, the rest of the answer) is joined, and pieces without words are passed over.
 * Ids come from the other app's ids, so that the same chat has the same ids whenever it is imported.
 */

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type ExportedChat, type ForeignApp, type Lost, titleFrom } from '../../contract/chatOperations';
import type { Message } from '../../contract/chats';
import { limits } from '../../contract/limits';

/** A piece of a chat, as far as it is for us. */
export interface ForeignNode {
  /** of no other node of the chat */
  key: string;
  /** null, or of no node: the beginning */
  parent: string | null;
  /** null: nothing of it is shown; what comes after it belongs to what was before it */
  role: 'user' | 'assistant' | null;
  text: string;
  thinking?: string;
  /** milliseconds; null: it does not say */
  at?: number | null;
  model?: string;
}

export interface ForeignChat {
  app: ForeignApp;
  /** what the other app tells it from its other chats by */
  id: string;
  title: string;
  createdAt: number | null;
  updatedAt?: number | null;
  pinned?: boolean;
  systemPrompt?: string;
  /** siblings in the order in which they are shown */
  nodes: ForeignNode[];
  /** of the node that the shown branch ends in; null: the last one */
  current?: string | null;
  lost: Lost;
}

export interface Converted {
  chat: ExportedChat;
  lost: Lost;
}

/** A turn that more may be joined to. */
interface Turn {
  node: ForeignNode;
  role: 'user' | 'assistant';
  parentId: string | null;
  /** the piece before it */
  before: Turn | null;
  /** once it is written */
  id?: string;
}

/** null: it has no messages. */
export function convert(foreign: ForeignChat, now: number): Converted | null {
  const { app, title, nodes, lost } = foreign;
  const id = `${app}-${shortHash(app, foreign.id)}`;
  const createdAt = foreign.createdAt ?? nodes.find(({ at }) => at)?.at ?? now;
  const { messages, leafId, unreached } = messagesOf(nodes, { id, createdAt, current: foreign.current ?? null });
  if (messages.length === 0) return null;
  const newest = messages.reduce((most, message) => Math.max(most, message.createdAt), createdAt);
  const chat: ExportedChat = {
    id,
    title: oneLine(title, limits.maxTitle) || titleFrom(messages[0]?.text ?? '') || 'Chat',
    createdAt,
    updatedAt: Math.max(createdAt, foreign.updatedAt ?? newest),
    pinned: foreign.pinned ?? false,
    folder: null,
    systemPrompt: foreign.systemPrompt?.trim() ? cut(foreign.systemPrompt.trim(), limits.maxSystemPrompt) : null,
    messages,
    leafId,
    briefs: [],
  };
  return { chat, lost: { ...lost, others: lost.others + unreached } };
}

interface Around {
  /** of our chat */
  id: string;
  createdAt: number;
  current: string | null;
}

function messagesOf(nodes: readonly ForeignNode[], { id: chatId, createdAt, current }: Around) {
  const messages: Message[] = [];
  const children = childrenOf(nodes);
  const turns = new Map<string, Turn | null>();
  const waiting = [...(children.get(null) ?? [])].reverse().map((node) => ({ node, open: null as Turn | null }));

  /** @returns the id of its message, which is there from then on */
  function write(turn: Turn): string {
    if (turn.id !== undefined) return turn.id;
    const pieces: ForeignNode[] = [];
    for (let piece: Turn | null = turn; piece; piece = piece.before) pieces.push(piece.node);
    pieces.reverse();
    const parentId = turn.parentId ?? (turn.role === 'assistant' ? writeBeginning(turn) : null);
    turn.id = shortHash(chatId, turn.node.key);
    messages.push({
      ...blank,
      id: turn.id,
      parentId,
      role: turn.role,
      text: joined(pieces.map(({ text }) => text)),
      thinking: joined(pieces.map(({ thinking = '' }) => thinking)),
      createdAt: pieces[0]?.at ?? createdAt,
      stopReason: turn.role === 'assistant' ? 'end-of-turn' : null,
      modelName: pieces.findLast(({ model }) => model)?.model ?? '',
    });
    return turn.id;
  }

  /** Templates of models want a question first. */
  function writeBeginning({ node }: Turn): string {
    const id = shortHash(chatId, `before ${node.key}`);
    messages.push({ ...blank, id, text: '[The chat began with an answer.]', createdAt: node.at ?? createdAt });
    return id;
  }

  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { node } = next;
    const open = following(node, next.open, write);
    turns.set(node.key, open);
    const below = (children.get(node.key) ?? []).filter(({ key }) => !turns.has(key));
    if (below.length === 0 && open) write(open);
    for (const child of [...below].reverse()) waiting.push({ node: child, open });
  }
  const leafId = (current !== null && turns.get(current)?.id) || messages.at(-1)?.id || null;
  return { messages, leafId, unreached: new Set(nodes.map(({ key }) => key)).size - turns.size };
}

const blank: Message = {
  ...{ id: '', parentId: null, role: 'user', text: '', attachments: [], thinking: '', createdAt: 0 },
  ...{ stopReason: null, error: null, stats: null, modelName: '' },
};

/** The turn that is open behind this node. */
function following(node: ForeignNode, open: Turn | null, write: (turn: Turn) => string): Turn | null {
  if (node.role === null || (node.text.trim() === '' && !node.thinking?.trim())) return open;
  if (open?.role === node.role) return { node, role: node.role, parentId: open.parentId, before: open };
  return { node, role: node.role, parentId: open && write(open), before: null };
}

/** By the key of the parent; null: beginnings. A key that comes twice counts once. */
function childrenOf(nodes: readonly ForeignNode[]): Map<string | null, ForeignNode[]> {
  const known = new Map(nodes.map((node) => [node.key, node]));
  const children = new Map<string | null, ForeignNode[]>();
  for (const node of known.values()) {
    const parent = node.parent !== null && known.has(node.parent) ? node.parent : null;
    const siblings = children.get(parent);
    if (siblings) siblings.push(node);
    else children.set(parent, [node]);
  }
  return children;
}

function joined(texts: readonly string[]): string {
  const kept = texts.map((text) => text.replace(/^\s*\n/, '').trimEnd()).filter((text) => text.trim() !== '');
  return cut(kept.join('\n\n'), limits.maxMessage);
}

function cut(text: string, most: number): string {
  return text.slice(0, most).toWellFormed();
}

function shortHash(...words: string[]): string {
  return createHash('sha256').update(words.join('\0')).digest('hex').slice(0, 32);
}

// What readers of formats share.

export function nothingLost(): Lost {
  return { pictures: 0, files: 0, sounds: 0, tools: 0, others: 0 };
}

/** Milliseconds since 1970 of whatever says a time: ISO text, seconds, milliseconds, micro- or nanoseconds. null: it says none. */
export function momentOf(value: unknown): number | null {
  if (typeof value === 'string' && !/^\d+(?:\.\d+)?$/.test(value)) return checkedMoment(Date.parse(value));
  const number = Number(value ?? Number.NaN);
  if (!(number > 0)) return null;
  const unit = [1e11, 1e14, 1e17].findIndex((most) => number < most);
  return checkedMoment(Math.round(number * ([1000, 1, 1e-3][unit] ?? 1e-6)));
}

function checkedMoment(at: number): number | null {
  return Number.isFinite(at) && Math.abs(at) <= 8.64e15 ? at : null;
}

/** What stands in a message for what is not with it; the model reads it, too. */
export function missing(what: 'Picture' | 'File' | 'Sound', name: string): string {
  const shown = oneLine(name, 200);
  return `[${what}, not brought over${shown && `: ${shown}`}]`;
}

/** Text of a file that stands in the export. */
export function attachedText(name: string, text: string): string {
  const shown = oneLine(name, 200);
  return `[${shown ? `File: ${shown}` : 'Attached text'}]\n${fenced(text)}`;
}

/** As a block of code, whatever is in it. */
export function fenced(text: string, language = ''): string {
  const longest = [...text.matchAll(/`{3,}/g)].reduce((most, [run]) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${/^[\w+#.-]{1,40}$/.test(language) ? language : ''}\n${text.trimEnd()}\n${fence}`;
}

/** Thinking that a model wrote between tags at the beginning of its answer. */
export function withoutThinkTags(text: string): { text: string; thinking: string } {
  const start = text.trimStart();
  if (!start.startsWith('<think>')) return { text, thinking: '' };
  const end = start.indexOf('</think>');
  if (end < 0) return { text: '', thinking: start.slice(7).trim() };
  return { text: start.slice(end + 8), thinking: start.slice(7, end).trim() };
}

function oneLine(text: string, most: number): string {
  return cut(
    text
      .slice(0, most * 4)
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim(),
    most,
  );
}

/** Fields of objects that may be missing, or be of another kind than they should. */
export const text = z.string().catch('');
export const whatever = z.unknown().optional();
export const list = z.array(z.unknown()).catch([]);
export const anything = z.record(z.string(), z.unknown()).catch({});
/** Members that are no objects are left out. */
export function objects<S extends z.ZodType>(schema: S) {
  return list.transform((items) => items.flatMap((item) => schema.safeParse(item).data ?? []) as z.output<S>[]);
}
