/** Life of a native object: no use after dispose, dispose once, running work and children end first. */
import { ConcertinaError } from '../../contract/errors';
import type { RawAddon, RawCancellation } from './raw';

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
      throw new ConcertinaError('bad-request', `The ${this.#what} was closed`, 'Load the model again.');
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
