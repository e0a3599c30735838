/** Life of a native object: no use after dispose, dispose once, running work and children end first. */

import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError, errorCodeSchema, shownMessage } from '../../contract/errors';
import type { RawAddon, RawCancellation } from './raw';
import type { Progress } from './types';

interface Job {
  cancellation: RawCancellation;
  done: Promise<unknown>;
}

export class DisposeGuard {
  readonly #what: string;
  readonly #jobs = new Set<Job>();
  readonly #children = new Set<() => Promise<void>>();
  #disposal: Promise<void> | null = null;

  constructor(what: string) {
    this.#what = what;
  }

  /** throws after dispose */
  check(): void {
    if (this.#disposal)
      throw new ConcertinaError('bad-request', `The ${this.#what} was closed`, msg`Load the model again.`);
  }

  /** dispose cancels the job and waits for it */
  async track<T>(cancellation: RawCancellation, start: () => Promise<T>): Promise<T> {
    this.check();
    const done = start();
    const job: Job = { cancellation, done };
    this.#jobs.add(job);
    try {
      return await done;
    } finally {
      this.#jobs.delete(job);
    }
  }

  /** dispose disposes the child first; the result forgets it */
  adopt(dispose: () => Promise<void>): () => void {
    this.#children.add(dispose);
    return () => this.#children.delete(dispose);
  }

  /** `free` runs once, whatever the number of calls */
  dispose(free: () => Promise<void>): Promise<void> {
    this.#disposal ??= this.#close(free);
    return this.#disposal;
  }

  async #close(free: () => Promise<void>): Promise<void> {
    const jobs = [...this.#jobs];
    for (const { cancellation } of jobs) cancellation.cancel();
    await Promise.allSettled(jobs.map(({ done }) => done)); // one of them may be about to add a child
    await Promise.allSettled([...this.#children].map((dispose) => dispose()));
    await free();
  }
}

/** A cancellation that follows a signal until `release`. */
export function cancellationOf(
  addon: RawAddon,
  signal?: AbortSignal,
): { cancellation: RawCancellation; release: () => void } {
  const cancellation = new addon.Cancellation();
  const cancel = (): void => cancellation.cancel();
  if (signal?.aborted) cancel();
  signal?.addEventListener('abort', cancel);
  return { cancellation, release: () => signal?.removeEventListener('abort', cancel) };
}

// Calls of the addon that report fractions and can be canceled.

/** An error of the listener cancels the call and is what the caller gets. */
export async function withProgress<T>(
  addon: RawAddon,
  options: Progress,
  call: (onProgress: (fractions: number[]) => void, cancellation: RawCancellation) => Promise<T>,
): Promise<T> {
  const { cancellation, release } = cancellationOf(addon, options.signal);
  let failure: unknown;
  const onProgress = (fractions: number[]): void => {
    try {
      for (const fraction of fractions) options.onProgress?.(fraction);
    } catch (error) {
      failure ??= error;
      cancellation.cancel();
    }
  };
  try {
    return await call(onProgress, cancellation);
  } catch (error) {
    throw failure ?? error;
  } finally {
    release();
  }
}

// Errors of the addon carry `code` and `hint` as plain properties, and may quote foreign files as they are; here they become the
// one error class of the app, with a message that can be shown.

export function toCodedError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ConcertinaError) return error;
  const { code, hint } = error as Error & { code?: unknown; hint?: unknown };
  const known = errorCodeSchema.safeParse(code);
  if (!known.success) return error;
  return new ConcertinaError(known.data, shownMessage(error.message), typeof hint === 'string' ? hint : '', {
    cause: error,
  });
}

export function coded<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw toCodedError(error);
  }
}

export async function codedAsync<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw toCodedError(error);
  }
}
