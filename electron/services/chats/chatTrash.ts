/** Deleted chats: logs that were moved to trash/, and an index of them. After 30 days they are deleted for good. */

import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import { z } from 'zod';
import { type ChatSummary, chatSummarySchema, type TrashedChat } from '../../contract/chats';
import { ConcertinaError } from '../../contract/errors';
import { isMissing, readTextIfThere, storageError } from '../lib/files';
import { JsonFile } from '../lib/jsonFile';
import { parseLog, replay, summaryOf } from './chatLog';

const keptMs = 30 * 86_400_000;

export class ChatTrash {
  private readonly index: ChatIndex;
  /** when each was moved here */
  private readonly deletedAt = new Map<string, number>();

  constructor(
    readonly folder: string,
    indexPath: string,
    private readonly now: () => number,
  ) {
    this.index = new ChatIndex(indexPath);
  }

  /** Deletes what is too old, and brings the index up to date with the files. */
  async load(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await this.index.load();
    const bytes = new Map<string, number>();
    for (const name of await readdir(this.folder)) {
      const path = join(this.folder, name);
      // ctime is when it was moved here
      const { ctimeMs, size } = await stat(path);
      if (ctimeMs < this.now() - keptMs) await rm(path, { force: true, recursive: true });
      else if (name.endsWith('.jsonl')) {
        bytes.set(name.slice(0, -6), size);
        this.deletedAt.set(name.slice(0, -6), ctimeMs);
      }
    }
    this.index.keepOnly([...bytes.keys()]);
    for (const [id, size] of bytes) if (!this.index.isCurrent(id, size)) await this.read(id, size);
  }

  save(): Promise<void> {
    return this.index.save();
  }

  /** Deleted last first. */
  list(): TrashedChat[] {
    return this.index
      .summaries()
      .map((summary) => {
        const deletedAt = this.deletedAt.get(summary.id) ?? this.now();
        return { ...summary, deletedAt, goneAt: deletedAt + keptMs };
      })
      .sort((a, b) => b.deletedAt - a.deletedAt);
  }

  /** Moves a log here. */
  async take(path: string, summary: ChatSummary): Promise<void> {
    const { size } = await stat(path).catch(() => ({ size: 0 }));
    await move(path, this.pathOf(summary.id));
    this.index.replace(summary, size);
    this.deletedAt.set(summary.id, this.now());
  }

  /** Moves a log back to `path`. */
  async giveBack(id: string, path: string): Promise<void> {
    await move(this.pathOf(id), path);
    this.index.remove(id);
  }

  /** For good. */
  async destroy(id: string): Promise<void> {
    if (!this.index.get(id)) throw new ConcertinaError('not-found', msg`This chat is not in the trash any more.`);
    try {
      await rm(this.pathOf(id), { force: true });
    } catch (error) {
      throw storageError('The chat could not be deleted', error);
    }
    this.index.remove(id);
  }

  private pathOf(id: string): string {
    return join(this.folder, `${id}.jsonl`);
  }

  /** A log that cannot be read is listed all the same: it can still be deleted. */
  private async read(id: string, size: number): Promise<void> {
    const { mtimeMs } = await stat(this.pathOf(id));
    const text = await readTextIfThere(this.pathOf(id)).catch(() => null);
    this.index.replace(summaryOf(replay(id, mtimeMs, parseLog(text ?? '').records)), size);
  }
}

async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (isMissing(error)) throw new ConcertinaError('not-found', msg`This chat is not there any more.`);
    throw storageError('The chat could not be moved', error);
  }
}

// Titles and times of all chats, so that the list opens without reading every log. Rebuilt from the logs when it is off.

const entrySchema = z.object({ summary: chatSummarySchema, bytes: z.number() });
const indexSchema = z.object({ chats: z.array(entrySchema) });

export class ChatIndex {
  private readonly entries = new Map<string, z.infer<typeof entrySchema>>();
  private readonly file: JsonFile<z.infer<typeof indexSchema>>;

  constructor(path: string) {
    this.file = new JsonFile({ path, version: 1, schema: indexSchema, initial: { chats: [] }, compact: true });
  }

  /** An index that cannot be read counts as empty. */
  async load(): Promise<void> {
    await this.file.load();
    for (const entry of this.file.get().chats) this.entries.set(entry.summary.id, entry);
  }

  async save(): Promise<void> {
    await this.file.change(() => ({ chats: [...this.entries.values()] }));
  }

  get(id: string): ChatSummary | null {
    return this.entries.get(id)?.summary ?? null;
  }

  /** True when the log has the length that it had when its entry was made. */
  isCurrent(id: string, bytes: number): boolean {
    return this.entries.get(id)?.bytes === bytes;
  }

  /** After `addedBytes` were appended to the log. */
  set(summary: ChatSummary, addedBytes: number): void {
    this.replace(summary, (this.entries.get(summary.id)?.bytes ?? 0) + addedBytes);
  }

  replace(summary: ChatSummary, bytes: number): void {
    this.entries.set(summary.id, { summary, bytes });
  }

  remove(id: string): void {
    this.entries.delete(id);
  }

  keepOnly(ids: string[]): void {
    const known = new Set(ids);
    for (const id of this.entries.keys()) if (!known.has(id)) this.entries.delete(id);
  }

  /** Latest first. */
  summaries(): ChatSummary[] {
    return [...this.entries.values()].map((entry) => entry.summary).sort((a, b) => b.updatedAt - a.updatedAt);
  }
}
