/**
 * Takes what a KV cache holds over into the context that follows it, through a file: the old cache is gone before the new
 * one is made, so the two are never in memory together. Nothing here makes a load fail: the text is read again instead.
 */
import { mkdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../contract/errors';
import type { Context } from './native/types';

/** left on the disk for everybody else */
const reserveBytes = 256 * 1024 * 1024;

export class CarryOver {
  private file: string | null = null;
  private problem: string | null = null;

  private readonly folder: string;

  /** @param scratch where others keep their files, too */
  constructor(scratch: string) {
    this.folder = join(scratch, 'cache');
  }

  get saved(): boolean {
    return this.file !== null;
  }

  /** Writes the cache down; never throws. */
  async save(context: Context): Promise<void> {
    try {
      await this.forget();
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      await this.checkSpace(expectedBytes(context));
      const file = join(this.folder, 'cells');
      await context.saveSession(file);
      this.file = file;
    } catch (error) {
      this.problem = messageOf(error);
    }
  }

  /** Restores what was saved. A sentence for the person when it failed, else null. */
  async into(context: Context): Promise<string | null> {
    try {
      if (this.file) await context.loadSession(this.file);
    } catch (error) {
      this.problem = messageOf(error);
    }
    return this.problem && `The chat is read again, because its cache could not be kept: ${this.problem}`;
  }

  /** Also what an earlier run left behind. */
  async forget(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true }).catch(() => undefined);
  }

  private async checkSpace(bytes: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.folder);
    if (bavail * bsize >= bytes + reserveBytes) return;
    throw new Error(`it takes ${mebibytes(bytes)} MiB of disk, ${mebibytes(bavail * bsize)} MiB are free`);
  }
}

/** of a file with what the cache holds */
export function expectedBytes(context: Context): number {
  const { kvK, kvV, draft } = context.memory().parts;
  return (kvK + kvV + draft.kv) * Math.min(1, context.contextUsed / context.effective.nCtx);
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}

/** How much of two sequences is the same from their beginning on. */
export function commonPrefix<T>(a: ArrayLike<T>, b: ArrayLike<T>): number {
  const end = Math.min(a.length, b.length);
  let at = 0;
  while (at < end && a[at] === b[at]) at++;
  return at;
}
