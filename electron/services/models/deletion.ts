/**
 * Deleting models: which files go, and the seconds in which a person can have them back. Meanwhile nothing on the disk is
 * touched, so that an undo works on every disk and needs no room; a run that is killed in between has deleted nothing.
 */

import { realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError, messageOf } from '../../contract/errors';
import { undoDeleteMs } from '../../contract/models';
import { partsOf } from './modelFiles';
import type { Known } from './scan';

/** Of one file, for good or to the trash. */
export type Remove = (path: string) => Promise<void>;

/** Rejects when the signal ends it. */
type Pause = (signal: AbortSignal) => Promise<unknown>;

interface Pending {
  kept: boolean;
  stop: AbortController;
  /** what `run` gives */
  done: Promise<boolean>;
}

export class Deletions {
  /** by id of the model */
  private readonly pending = new Map<string, Pending>();

  constructor(
    private readonly pause: Pause = (signal) => setTimeout(undoDeleteMs, undefined, { signal, ref: false }),
  ) {}

  /** Of the list: it shows nothing that is being deleted. */
  has(modelId: string): boolean {
    return this.pending.has(modelId);
  }

  /** Waits, then does it. @returns false: it was kept meanwhile. Throws what `act` throws */
  run(modelId: string, act: () => Promise<void>): Promise<boolean> {
    const one: Pending = { kept: false, stop: new AbortController(), done: Promise.resolve(false) };
    this.pending.set(modelId, one);
    one.done = this.waitAndDo(one, act).finally(() => this.pending.delete(modelId));
    return one.done;
  }

  /** Throws `not-found` when its time is over. */
  keep(modelId: string): void {
    const one = this.pending.get(modelId);
    if (!one || one.stop.signal.aborted) {
      const hint = 'Restore it from the trash of the system, or download it again.';
      throw new ConcertinaError('not-found', msg`This model is deleted already.`, hint);
    }
    one.kept = true;
    one.stop.abort();
  }

  /** The app ends: what was deleted is deleted now. */
  async finish(): Promise<void> {
    const last = [...this.pending.values()];
    for (const { stop } of last) stop.abort();
    await Promise.allSettled(last.map(({ done }) => done));
  }

  private async waitAndDo(one: Pending, act: () => Promise<void>): Promise<boolean> {
    await this.pause(one.stop.signal).catch(() => undefined);
    if (one.kept) return false;
    // from here on it is too late to keep it
    one.stop.abort();
    await act();
    return true;
  }
}

// Which files go when a model is deleted: never one that another model on the list needs.

/** `all`: the models on the list. Throws `storage-failed` where it fails. */
export async function removeFiles(model: Known, all: Iterable<Known>, remove: Remove): Promise<void> {
  try {
    for (const path of await filesOf(model, all)) await remove(path);
  } catch (cause) {
    const message = `${basename(model.path)} could not be deleted: ${messageOf(cause)}.`;
    throw new ConcertinaError('storage-failed', message, msg`Delete it with the file manager.`, { cause });
  }
}

/** In this order: contents first, so that what is left after a failure shows as what it is. */
async function filesOf(model: Known, all: Iterable<Known>): Promise<string[]> {
  const others = [...all].filter(({ id, file }) => id !== model.id && file !== null);
  const needed = new Set(await Promise.all(others.flatMap(({ path }) => partsOf(path)).map(behindLinks)));
  const files: string[] = [];
  const links: string[] = [];
  for (const path of partsOf(model.path)) {
    const real = await behindLinks(path);
    if (!needed.has(real)) files.push(real);
    if (real !== path) links.push(path);
  }
  // what only names it: the manifest of Ollama
  if (model.key !== model.path) links.push(model.key);
  return [...files, ...links];
}

function behindLinks(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
