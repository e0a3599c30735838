/**
 * A value in one JSON file: checked when it is read, written atomically, one change at a time. A file that cannot be read is
 * set aside, not lost.
 */

import { copyFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import { z } from 'zod';
import { ConcertinaError, toErrorPayload } from '../../contract/errors';
import { SerialQueue } from '../../contract/lib/serialQueue';
import { Emitter } from './emitter';
import { readTextIfThere, setAside, writeFileAtomic } from './files';
import type { Unsaved } from './unsaved';

/** `migrations[n]` turns the content of version n into that of n + 1. */
export type Migrations = Record<number, (old: Record<string, unknown>) => Record<string, unknown>>;

interface JsonFileOptions<T> {
  path: string;
  /** of the content as it is written now; a file without a version counts as one of it */
  version: number;
  schema: z.ZodType<T>;
  /** the value while there is no file */
  initial: T;
  /** for files of older versions, which are kept beside the new one */
  migrations?: Migrations;
  /** for the person: the file could not be read and was kept as `name`. Without: what it holds can be found out again */
  asideNotice?: (name: string) => string;
  /** written on one line */
  compact?: boolean;
  now?: (() => Date) | undefined;
}

export class JsonFile<T extends object> {
  /** the value is another one, which is on disk */
  readonly changed = new Emitter<T>();
  /** what a person should know about how the file was read */
  readonly notices: string[] = [];
  private value: T;
  private readonly writes = new SerialQueue();
  private keeper: { unsaved: Unsaved; what: string } | null = null;

  constructor(private readonly options: JsonFileOptions<T>) {
    this.value = options.initial;
  }

  /**
   * From now on a change counts also when the disk does not take it: it is kept there and written later.
   * @param what for a sentence: "the settings"
   */
  keepIn(unsaved: Unsaved, what: string): this {
    this.keeper = { unsaved, what };
    return this;
  }

  async load(): Promise<void> {
    const { path, asideNotice, now } = this.options;
    const parse = (json: unknown) => this.parse(json);
    const read = asideNotice
      ? await readOrSetAside(path, parse, now?.() ?? new Date(), (name) => this.notices.push(asideNotice(name)))
      : await readJson(path, parse).catch(() => null);
    if (read) this.value = read;
  }

  get(): T {
    return this.value;
  }

  /**
   * The value becomes what `step` makes of it, once that is on disk. Steps run one after the other; one that throws, or
   * returns the value that it was given, changes nothing. Rejects with `storage-failed`, unless the change is kept (`keepIn`).
   */
  change(step: (value: T) => T): Promise<T> {
    return this.apply(step, (next) => this.write(next).catch((error: unknown) => this.hold(error)));
  }

  /** As `change`, for what can be found out again: it counts even when it cannot be written. */
  remember(step: (value: T) => T): Promise<T> {
    return this.apply(step, (next) => this.write(next).catch(() => undefined));
  }

  private hold(error: unknown): void {
    if (!this.keeper) throw error;
    const { unsaved, what } = this.keeper;
    unsaved.hold(this.options.path, what, error, () => this.writes.run(() => this.write(this.value)));
  }

  private apply(step: (value: T) => T, write: (value: T) => Promise<void>): Promise<T> {
    return this.writes.run(async () => {
      const next = step(this.value);
      if (next === this.value) return next;
      await write(next);
      this.value = next;
      this.changed.emit(next);
      return next;
    });
  }

  private async write(value: T): Promise<void> {
    const { path, version, compact } = this.options;
    await writeFileAtomic(path, `${JSON.stringify({ version, ...value }, null, compact ? 0 : 2)}\n`);
  }

  private async parse(json: unknown): Promise<T> {
    const { path, version, schema, migrations = {} } = this.options;
    let content = z.record(z.string(), z.unknown()).parse(json);
    const found = typeof content.version === 'number' ? content.version : version;
    if (found > version) throw new ConcertinaError('data-corrupt', msg`${{ path }} is of a newer version.`);
    for (let at = found; at < version; at++) {
      const migrate = migrations[at];
      if (!migrate) throw new ConcertinaError('data-corrupt', msg`There is no migration from version ${{ at }}.`);
      content = { ...migrate(content), version: at + 1 };
    }
    const value = schema.parse(content);
    if (found < version) {
      await copyFile(path, `${path}.v${found}.bak`);
      await this.write(value);
    }
    return value;
  }
}

/** The content of a JSON file; null: it is not there, or `parse` throws: then it is set aside and `onAside` gets its new name. */
export async function readOrSetAside<T>(
  path: string,
  parse: (json: unknown) => T | Promise<T>,
  now: Date,
  onAside: (name: string) => void,
): Promise<T | null> {
  const text = await readTextIfThere(path).catch((error: unknown) => {
    // a folder or a pipe of this name; what the disk does not give now may be there tomorrow
    if (toErrorPayload(error).code === 'data-corrupt') return '';
    throw error;
  });
  try {
    return text === null ? null : await parse(JSON.parse(text));
  } catch {
    onAside(basename(await setAside(path, now)));
    return null;
  }
}

async function readJson<T>(path: string, parse: (json: unknown) => Promise<T>): Promise<T | null> {
  const text = await readTextIfThere(path);
  return text === null ? null : parse(JSON.parse(text));
}
