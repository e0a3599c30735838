/**
 * Files of chats of other apps: what they are is told by what is in them. One chat after the other is taken out of the bytes and
 * converted, so that a file of hundreds of megabytes is never whole as objects, and a damaged chat costs no other.
 */

import { closeSync, openSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError, type ErrorPayload, toErrorPayload } from '../../contract/errors';
import type { ImportAnswer, ImportTask } from '../../contract/workerTasks';
import { openPackage } from '../documents/zipPackage';
import { readChatGpt } from './chatGpt';
import { convert, type ForeignChat } from './chatTree';
import { readClaude } from './claude';
import { JanThreads } from './jan';
import { readLmStudio } from './lmStudio';
import { readOpenWebUi } from './openWebUi';

/** Writes the chats to `outPath`, a line of JSON each (`Converted`). null: it was ended. */
export async function readFiles(
  { files, outPath }: ImportTask,
  signal: AbortSignal,
  report: (fraction: number) => void = () => undefined,
): Promise<ImportAnswer | null> {
  const out = new ChatWriter(outPath, Date.now());
  try {
    const refused: ErrorPayload[] = [];
    for (const [index, file] of files.entries()) {
      if (signal.aborted) return null;
      await readFileOf(file, out).catch((error: unknown) => refused.push(toErrorPayload(error)));
      report((index + 1) / files.length);
    }
    return { ...out.finish(), refused };
  } finally {
    out.close();
  }
}

async function readFileOf({ path, name }: ImportTask['files'][number], out: ChatWriter): Promise<void> {
  const { known } = out;
  for await (const text of textsOf(path, name)) readText(text, out);
  if (out.known === known) throw notKnown(name);
}

/** The file itself, or what is in it. */
async function* textsOf(path: string, name: string): AsyncGenerator<Buffer> {
  const bytes = await readFile(path);
  if (!bytes.subarray(0, 4).equals(Buffer.from('PK\x03\x04'))) return yield bytes;
  try {
    const zip = await openPackage(bytes, name);
    for (const part of zip.paths()) {
      if (/\.jsonl?$/i.test(part) && !part.startsWith('__MACOSX/')) yield Buffer.from(await zip.read(part));
    }
  } catch (error) {
    if (error instanceof ConcertinaError && error.code === 'document-unsupported') throw tooMuch(name);
    const hint = msg`Fetch the file again, or unpack it and choose what is in it.`;
    throw new ConcertinaError('document-invalid', msg`${{ name }} is damaged and cannot be unpacked.`, hint, {
      cause: error,
    });
  }
}

function tooMuch(name: string): ConcertinaError {
  return new ConcertinaError(
    'document-unsupported',
    msg`${{ name }} holds more than can be unpacked for an import.`,
    msg`Unpack it, and choose the files named conversations.json in it.`,
  );
}

function notKnown(name: string): ConcertinaError {
  return new ConcertinaError(
    'document-unsupported',
    msg`No chats were found in ${{ name }}.`,
    msg`Choose an export of Concertina, ChatGPT, Claude or Open WebUI, a .conversation.json of LM Studio, or a messages.jsonl of Jan.`,
  );
}

/** Objects of one file. What is no chat beside chats is something else of the export, such as the account. */
function readText(bytes: Buffer, out: ChatWriter): void {
  const before = out.known;
  let broken = 0;
  for (const value of valuesOf(bytes)) {
    if (value === undefined) broken += 1;
    else readValue(value, out);
  }
  if (out.known > before) out.damaged += broken;
}

function readValue(value: unknown, out: ChatWriter): void {
  const read = readerOf(value, out.jan);
  if (!read) return;
  out.known += 1;
  try {
    const chat = read(value);
    if (chat) out.add(chat);
  } catch {
    out.damaged += 1;
  }
}

type Read = (value: unknown) => ForeignChat | undefined;

/** null: no chat that we know. */
function readerOf(value: unknown, jan: JanThreads): Read | null {
  if (typeof value !== 'object' || value === null) return null;
  const has = (name: string) => Object.hasOwn(value, name);
  const { object, messages } = value as { object?: unknown; messages?: unknown };
  if (has('mapping')) return readChatGpt;
  if (has('chat_messages')) return readClaude;
  if (has('chat') && (has('user_id') || has('title'))) return readOpenWebUi;
  if (has('history') && has('messages')) return readOpenWebUi;
  if (object === 'thread.message' || (has('thread_id') && has('role') && has('content'))) {
    return (one) => void jan.addMessage(one);
  }
  if (object === 'thread' || (has('assistants') && has('created'))) return (one) => void jan.addThread(one);
  if (has('messages') && (hasVersions(messages) || has('tokenCount') || has('userLastMessagedAt'))) return readLmStudio;
  return null;
}

function hasVersions(messages: unknown): boolean {
  const first: unknown = Array.isArray(messages) ? messages[0] : null;
  return typeof first === 'object' && first !== null && Object.hasOwn(first, 'versions');
}

const [quote, backslash, newline] = [0x22, 0x5c, 0x0a];
const [openBrace, openBracket, closeBrace, closeBracket] = [0x7b, 0x5b, 0x7d, 0x5d];
/** what is no text begins otherwise */
const headBytes = 4096;

/** Members of a list, an object, or objects by lines; undefined: one that is damaged. */
function* valuesOf(bytes: Buffer): Generator<unknown> {
  const start = bytes.subarray(0, headBytes).findIndex((byte) => byte === openBrace || byte === openBracket);
  if (start < 0) return;
  if (bytes[start] === openBracket) return yield* membersOf(bytes, start + 1);
  const whole = parsed(bytes, start, bytes.length);
  if (whole !== undefined) return yield whole;
  for (let from = start; from < bytes.length; ) {
    const next = bytes.indexOf(newline, from);
    const end = next < 0 ? bytes.length : next;
    if (end - from > 1) yield parsed(bytes, from, end);
    from = end + 1;
  }
}

/** Objects of a list, one after the other, without reading it as a whole. One that has no end is damaged. */
function* membersOf(bytes: Buffer, from: number): Generator<unknown> {
  let depth = 0;
  let start = 0;
  let inString = false;
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (inString) {
      if (byte === backslash) at += 1;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (byte === openBrace || byte === openBracket) {
      if (depth === 0) start = at;
      depth += 1;
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
      if (depth < 0) return;
      if (depth === 0) yield parsed(bytes, start, at + 1);
    }
  }
  if (depth > 0) yield undefined;
}

function parsed(bytes: Buffer, start: number, end: number): unknown {
  try {
    return JSON.parse(bytes.toString('utf8', start, end)) ?? undefined;
  } catch {
    return undefined;
  }
}

class ChatWriter {
  /** objects that were chats, or parts of them */
  known = 0;
  damaged = 0;
  readonly jan = new JanThreads();
  private empty = 0;
  private offset = 0;
  private readonly chats = new Map<string, ImportAnswer['chats'][number] & { messages: number }>();
  private readonly apps = new Set<ForeignChat['app']>();
  private readonly file: number;

  constructor(
    path: string,
    private readonly now: number,
  ) {
    this.file = openSync(path, 'wx', 0o600);
  }

  /** Of a chat that comes twice the longer one counts. */
  add(foreign: ForeignChat): void {
    this.apps.add(foreign.app);
    const converted = convert(foreign, this.now);
    if (!converted) {
      this.empty += 1;
      return;
    }
    const { id, messages } = converted.chat;
    if ((this.chats.get(id)?.messages ?? 0) >= messages.length) return;
    const line = Buffer.from(`${JSON.stringify(converted)}\n`);
    for (let written = 0; written < line.length; ) written += writeSync(this.file, line, written);
    this.chats.set(id, { id, offset: this.offset, bytes: line.length, messages: messages.length });
    this.offset += line.length;
  }

  finish(): Omit<ImportAnswer, 'refused'> {
    for (const chat of this.jan.read()) this.add(chat);
    const chats = [...this.chats.values()].map(({ id, offset, bytes }) => ({ id, offset, bytes }));
    return { apps: [...this.apps], chats, damaged: this.damaged, empty: this.empty };
  }

  close(): void {
    closeSync(this.file);
  }
}
