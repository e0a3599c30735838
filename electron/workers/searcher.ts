/** Searches the logs of chats one after the other. What was read stays in memory, up to a limit, until its file changes. */

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ChatHit,
  type ChatSearchAnswer,
  fold,
  marksIn,
  type SearchTask,
  snippetOf,
} from '../contract/lib/textSearch';
import { limits } from '../contract/limits';

/** Of all texts that are kept; about twice as many bytes, for mostly Latin texts. */
const keptCharacters = 24_000_000;

interface Kept {
  version: string;
  characters: number;
  messages: FoundMessage[];
}

export class Searcher {
  private readonly kept = new Map<string, Kept>();
  private characters = 0;

  /** Null: `signal` fired. A chat whose file is gone is left out. */
  async search(
    { words, limit, folder, chats }: SearchTask,
    signal: AbortSignal,
    report: (fraction: number) => void,
  ): Promise<ChatSearchAnswer | null> {
    const hits: ChatHit[] = [];
    this.forgetAllBut(chats);
    for (const [index, { id, title }] of chats.entries()) {
      report(index / chats.length);
      const messages = await this.messages(id, join(folder, `${id}.jsonl`));
      if (signal.aborted) return null;
      const hit = hitOf(id, title, messages, words);
      if (!hit) continue;
      if (hits.length === limit) return { hits, more: true };
      hits.push(hit);
    }
    return { hits, more: false };
  }

  private async messages(id: string, path: string): Promise<FoundMessage[]> {
    try {
      const { mtimeMs, size } = await stat(path);
      const version = `${mtimeMs} ${size}`;
      const known = this.kept.get(id);
      if (known?.version === version) return known.messages;
      const messages = messagesOf(await readFile(path, 'utf8'));
      this.keep(id, version, messages);
      return messages;
    } catch {
      return [];
    }
  }

  /** The first that come stay, and they are the latest: with more than fits, dropping the oldest would drop all in turn. */
  private keep(id: string, version: string, messages: FoundMessage[]): void {
    this.forget(id);
    const characters = messages.reduce((sum, { text }) => sum + text.length, 0);
    if (this.characters + characters > keptCharacters) return;
    this.characters += characters;
    this.kept.set(id, { version, characters, messages });
  }

  private forget(id: string): void {
    this.characters -= this.kept.get(id)?.characters ?? 0;
    this.kept.delete(id);
  }

  private forgetAllBut(chats: SearchTask['chats']): void {
    const ids = new Set(chats.map(({ id }) => id));
    for (const id of this.kept.keys()) if (!ids.has(id)) this.forget(id);
  }
}

/** Every word is in the title, or every one in the title or one message, with at least one in the message. */
export function hitOf(
  chatId: string,
  title: string,
  messages: readonly FoundMessage[],
  words: readonly string[],
): ChatHit | null {
  const foldedTitle = fold(title);
  const left = words.filter((word) => !foldedTitle.includes(word));
  const found = messages.filter(
    ({ folded }) => left.every((word) => folded.includes(word)) && words.some((word) => folded.includes(word)),
  );
  if (found.length === 0 && left.length > 0) return null;
  const snippets = found
    .slice(-limits.snippetsPerChat)
    .reverse()
    .map(({ id, role, text, folded }) => {
      const here = words.filter((word) => folded.includes(word));
      const snippet = snippetOf(text, folded, here);
      return { messageId: id, role, text: snippet.text, marks: snippet.marks };
    });
  return { chatId, titleMarks: marksIn(title, words), snippets, messages: found.length };
}

// What can be found in a chat, out of its log. A line that cannot be read costs nothing but itself; the chat store mends it.

interface FoundMessage {
  id: string;
  role: 'user' | 'assistant';
  text: string;
  folded: string;
}

interface LogLine {
  type?: unknown;
  id?: unknown;
  text?: unknown;
  message?: { id?: unknown; role?: unknown; text?: unknown; attachments?: { name?: unknown }[] };
}

/** Texts of all branches in the order of their writing, names of attached documents before the words of their message. */
export function messagesOf(log: string): FoundMessage[] {
  const texts = new Map<string, { role: 'user' | 'assistant'; names: string; text: string }>();
  for (const line of linesOf(log)) {
    const { type, message } = line;
    const id = String(type === 'message' ? message?.id : line.id);
    const known = texts.get(id);
    if (type === 'message' && message && !known) {
      const role = message.role === 'user' ? 'user' : 'assistant';
      texts.set(id, { role, names: namesOf(message.attachments), text: String(message.text ?? '') });
    } else if (type === 'partial' && known) known.text += String(line.text ?? '');
    else if (type === 'final' && known) known.text = String(message?.text ?? known.text);
  }
  return [...texts].map(([id, { role, names, text }]) => {
    const whole = names === '' ? text : `${names}\n${text}`;
    return { id, role, text: whole, folded: fold(whole) };
  });
}

function* linesOf(log: string): Generator<LogLine> {
  for (let start = 0; start < log.length; ) {
    const end = log.indexOf('\n', start);
    const line = log.slice(start, end === -1 ? undefined : end);
    start = end === -1 ? log.length : end + 1;
    try {
      const value: unknown = JSON.parse(line);
      if (value !== null && typeof value === 'object') yield value;
    } catch {
      // half a line at the end: it is being written
    }
  }
}

function namesOf(attachments: unknown): string {
  if (!Array.isArray(attachments)) return '';
  return attachments.map((one: { name?: unknown }) => String(one?.name ?? '')).join(', ');
}
