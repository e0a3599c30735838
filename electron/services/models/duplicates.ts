/**
 * Which files have the same content. Files of one size are compared by their first and last megabyte, and those that agree in
 * both by all of it; files whose keeper names them by their hash are not read at all. In the background, and kept on disk.
 */

import { basename } from 'node:path';
import { z } from 'zod';
import { ConcertinaError } from '../../contract/errors';
import type { HashTask } from '../../contract/workerTasks';
import { splitOf } from '../hub/api';
import { JsonFile } from '../lib/jsonFile';
import { TaskThread } from '../lib/taskThread';
import { type FoundFile, partsOf } from './modelFiles';

const knownSchema = z.object({
  /** of the beginnings and ends */
  sample: z.string(),
  /** of the whole content; null: it was not needed */
  whole: z.string().nullable(),
});
const fileSchema = z.object({ files: z.record(z.string(), knownSchema) });
type Known = z.infer<typeof knownSchema>;

/** SHA-256 of files one after the other; `sample`: of the first and last megabyte of each. */
export type Hash = (paths: string[], sample: boolean) => Promise<string>;

export class Duplicates {
  /** by place, size and time; only of this run's files */
  private known = new Map<string, Known>();
  private looking: Promise<boolean> | null = null;
  private readonly file: JsonFile<z.infer<typeof fileSchema>>;

  constructor(
    path: string,
    private readonly hash: Hash,
  ) {
    this.file = new JsonFile({ path, version: 1, schema: fileSchema, initial: { files: {} }, compact: true });
  }

  /** What was found before. */
  async load(): Promise<void> {
    await this.file.load();
    this.known = new Map(Object.entries(this.file.get().files));
  }

  /** SHA-256 of the content (of a split file: of all parts one after the other); null: not known. */
  digestOf(file: FoundFile): string | null {
    return named(file) ?? this.known.get(keyOf(file))?.whole ?? null;
  }

  /** Reads what has to be read. @returns whether something was found out; one look at a time */
  look(files: readonly FoundFile[]): Promise<boolean> {
    this.looking ??= this.compare(files).finally(() => {
      this.looking = null;
    });
    return this.looking;
  }

  private async compare(files: readonly FoundFile[]): Promise<boolean> {
    const before = JSON.stringify([...this.known]);
    const groups = groupedBy(unlinked(files), ({ bytes }) => String(bytes));
    for (const sameSize of groups) {
      const samples = new Map<FoundFile, string>();
      for (const file of sameSize) {
        const sample = await this.sampleOf(file);
        if (sample !== null) samples.set(file, sample);
      }
      for (const alike of groupedBy([...samples.keys()], (file) => samples.get(file) ?? '')) {
        for (const file of alike) await this.readWhole(file, samples.get(file) ?? '');
      }
    }
    this.forget(files);
    if (JSON.stringify([...this.known]) === before) return false;
    await this.save();
    return true;
  }

  /** Of the first and the last megabyte of each part; null: it cannot be read now. */
  async sampleOf(file: FoundFile): Promise<string | null> {
    const known = this.known.get(keyOf(file));
    if (known) return known.sample;
    const sample = await this.hash(partsOf(file.path), true).catch(() => null);
    if (sample !== null) this.known.set(keyOf(file), { sample, whole: null });
    return sample;
  }

  private async readWhole(file: FoundFile, sample: string): Promise<void> {
    if (this.digestOf(file) !== null) return;
    const whole = await this.hash(partsOf(file.path), false).catch(() => null);
    if (whole !== null) this.known.set(keyOf(file), { sample, whole });
    // hours of reading must not be done twice because the app was closed in the middle
    await this.save();
  }

  private forget(files: readonly FoundFile[]): void {
    const present = new Set(files.map(keyOf));
    for (const key of this.known.keys()) if (!present.has(key)) this.known.delete(key);
  }

  private async save(): Promise<void> {
    await this.file.remember(() => ({ files: Object.fromEntries(this.known) }));
  }
}

/** As Ollama (`sha256-HASH`) and the cache of the hub (`blobs/HASH`) name contents; null: it has another name. */
function named({ realPath, path }: FoundFile): string | null {
  if (splitOf(path)) return null;
  return /^(?:sha256-)?([0-9a-f]{64})$/.exec(basename(realPath))?.[1] ?? null;
}

/** Places that lead to one file are compared once. */
function unlinked(files: readonly FoundFile[]): FoundFile[] {
  return [...new Map(files.map((file) => [file.realPath, file])).values()];
}

/** Groups of two and more. */
function groupedBy(files: readonly FoundFile[], keyOfFile: (file: FoundFile) => string): FoundFile[][] {
  const groups = new Map<string, FoundFile[]>();
  for (const file of files) groups.set(keyOfFile(file), [...(groups.get(keyOfFile(file)) ?? []), file]);
  return [...groups.values()].filter(({ length }) => length > 1);
}

function keyOf({ realPath, bytes, modifiedMs }: FoundFile): string {
  return `${realPath}|${bytes}|${modifiedMs}`;
}

// Hashes of files, computed in a worker thread that is there while there is something to do.

/** Answers with the SHA-256 of the files one after the other. */
export class HashWorker extends TaskThread<HashTask, string> {
  constructor(workerFile: string) {
    super({ workerFile, worker: 'hashes', idleMs: 0, lost });
  }
}

function lost(cause: Error): ConcertinaError {
  const message = `The reading of model files ended unexpectedly (${cause.message}).`;
  return new ConcertinaError('internal', message, '', { cause });
}
