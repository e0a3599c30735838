/**
 * Chats of other apps. A worker thread reads the files and writes what it found to a folder for the time of the import; from there
 * chats are taken over, some at a time. Their ids say which ones are here already, in the trash, too (`workers/imports/chatTree.ts`).
 */

import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import type { ExportedChat, FoundChats, Lost, TakenChats } from '../../contract/chatOperations';
import type { Handlers } from '../../contract/contract';
import type { UploadPart } from '../../contract/documents';
import { ConcertinaError } from '../../contract/errors';
import { SerialQueue } from '../../contract/lib/serialQueue';
import { limits } from '../../contract/limits';
import type { ImportAnswer, ImportTask } from '../../contract/workerTasks';
import { recordsOf } from '../chats/chatMarkdown';
import { type ChatStore, isChatId } from '../chats/chatStore';
import { Uploads } from '../documents/uploads';
import { storageError } from '../lib/files';
import { TaskThread } from '../lib/taskThread';

const idleMs = 10_000;
/** A page that asks for nothing for so long is gone, and what it sent goes, too. */
const forgottenMs = 3_600_000;

interface Sent {
  folder: string;
  path: string;
  name: string;
  at: number;
}

interface Found {
  folder: string;
  at: number;
  outPath: string;
  chats: ImportAnswer['chats'];
}

export class ImportService {
  private readonly thread: TaskThread<ImportTask, ImportAnswer>;
  private readonly uploads: Uploads;
  /** whole files that were not read yet */
  private readonly sent = new Map<string, Sent>();
  private readonly found = new Map<string, Found>();
  private readonly queue = new SerialQueue();

  constructor(
    workerFile: string,
    /** is emptied when the app starts */
    private readonly scratch: string,
    private readonly chats: ChatStore,
    private readonly now: () => number = Date.now,
  ) {
    this.thread = new TaskThread({ workerFile, worker: 'imports', idleMs, lost });
    this.uploads = new Uploads({ temporary: () => this.temporary(), discard });
  }

  async upload(part: UploadPart): Promise<{ uploadId: string; whole: boolean }> {
    if (part.bytes > limits.maxImportBytes) throw tooLarge(part.name);
    if (part.uploadId === null) await this.forgetOld();
    const { uploadId, file } = await this.uploads.take(part);
    if (file) this.sent.set(uploadId, { ...file, name: part.name, at: this.now() });
    return { uploadId, whole: file !== null };
  }

  async read(uploadIds: readonly string[]): Promise<FoundChats> {
    const files = uploadIds.map((id) => this.sent.get(id)).filter((file) => file !== undefined);
    for (const id of uploadIds) this.sent.delete(id);
    const folder = await this.temporary();
    const outPath = join(folder, 'chats.jsonl');
    const importId = randomUUID();
    try {
      const task = { files: files.map(({ path, name }) => ({ path, name })), outPath };
      const { chats, ...answer } = await this.thread.ask(task, importId);
      this.found.set(importId, { folder, outPath, chats, at: this.now() });
      return { ...answer, importId, chats: chats.length };
    } catch (error) {
      await discard(folder);
      throw error;
    } finally {
      for (const file of files) await discard(file.folder);
    }
  }

  /** One slice after the other: what one has added is there for the next, whoever asks. */
  take(importId: string, first: number): Promise<TakenChats> {
    return this.queue.run(() => this.takeSlice(importId, first));
  }

  private async takeSlice(importId: string, first: number): Promise<TakenChats> {
    const found = this.found.get(importId);
    if (!found) throw new ConcertinaError('not-found', msg`This import has ended.`, msg`Choose the files again.`);
    found.at = this.now();
    const taken: TakenChats = { added: 0, messages: 0, here: 0, trashed: 0, grown: 0, lost: nothingLost() };
    const ids = new Set(await this.chats.allIds());
    const trashed = new Set(this.chats.trashed().map(({ id }) => id));
    try {
      for (const place of found.chats.slice(first, first + limits.maxImportSlice)) {
        const { chat, lost } = await lineOf(found.outPath, place);
        if (ids.has(chat.id)) {
          taken.here += 1;
          if (trashed.has(chat.id)) taken.trashed += 1;
          else if (await this.lacksMessagesOf(chat)) taken.grown += 1;
          continue;
        }
        await this.chats.add(chat.id, recordsOf(chat, chat.id), true);
        taken.added += 1;
        taken.messages += chat.messages.length;
        for (const kind of Object.keys(taken.lost) as (keyof Lost)[]) taken.lost[kind] += lost[kind];
      }
    } finally {
      // once for all of them: each would send the whole list
      if (taken.added > 0) this.chats.changed.emit(this.chats.list());
    }
    return taken;
  }

  async closeImport(importId: string): Promise<void> {
    const found = this.found.get(importId);
    this.found.delete(importId);
    if (found) await discard(found.folder);
  }

  async close(): Promise<void> {
    await Promise.all([this.thread.close(), this.uploads.close(), this.queue.idle()]);
    for (const { folder } of [...this.sent.values(), ...this.found.values()]) await discard(folder);
  }

  private async lacksMessagesOf({ id, messages }: ExportedChat): Promise<boolean> {
    const here = new Set((await this.chats.open(id)).messages.map((message) => message.id));
    return messages.some((message) => !here.has(message.id));
  }

  private async forgetOld(): Promise<void> {
    for (const known of [this.sent, this.found]) {
      for (const [id, { at, folder }] of known) {
        if (at > this.now() - forgottenMs) continue;
        known.delete(id);
        await discard(folder);
      }
    }
  }

  private async temporary(): Promise<string> {
    try {
      await mkdir(this.scratch, { recursive: true, mode: 0o700 });
      return await mkdtemp(join(this.scratch, 'import-'));
    } catch (error) {
      throw storageError('The chats could not be taken over', error);
    }
  }
}

async function discard(folder: string): Promise<void> {
  // what stays is removed when the app starts
  await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}

/** As the worker wrote it. */
async function lineOf(path: string, { offset, bytes, id }: ImportAnswer['chats'][number]) {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(bytes), 0, bytes, offset);
    const line = JSON.parse(buffer.toString()) as { chat: ExportedChat; lost: Lost };
    if (!isChatId(id) || line.chat.id !== id) throw new Error(`The chat ${id} is not where it was written.`);
    return line;
  } finally {
    await file.close();
  }
}

function nothingLost(): Lost {
  return { pictures: 0, files: 0, sounds: 0, tools: 0, others: 0 };
}

function tooLarge(name: string): ConcertinaError {
  return new ConcertinaError(
    'document-unsupported',
    msg`${{ name }} is larger than ${{ most: Math.floor(limits.maxImportBytes / 1e6) }} MB, the most that can be imported.`,
    msg`Where it is a .zip file, unpack it and choose the files named conversations.json in it.`,
  );
}

function lost(cause: Error): ConcertinaError {
  const message = `The reading of the files ended unexpectedly (${cause.message}).`;
  return new ConcertinaError('internal', message, msg`Import fewer files at a time.`, { cause });
}

export function createImportHandlers(imports: ImportService): Pick<Handlers, ImportNames> {
  return {
    'imports.upload': (part) => imports.upload(part),
    'imports.read': ({ uploadIds }) => imports.read(uploadIds),
    'imports.take': ({ importId, first }) => imports.take(importId, first),
    'imports.close': ({ importId }) => imports.closeImport(importId),
  };
}
type ImportNames = 'imports.upload' | 'imports.read' | 'imports.take' | 'imports.close';
