/** A context of a model: answers, evaluation, sessions. */

import type { LoadedContext } from '../../electron/shared/engine';
import { ConcertinaError } from '../../electron/shared/errors';
import { coded, codedAsync } from './errors';
import { cancellationOf, DisposeGuard } from './guards';
import type { RawAddon, RawContext } from './raw';
import { ChunkStream } from './stream';
import type {
  ChatMessage,
  Context,
  EvaluateResult,
  GenerateChunk,
  GenerateOptions,
  GenerateResult,
  PartMemory,
} from './types';

export class NativeContext implements Context {
  readonly effective: LoadedContext;
  readonly #addon: RawAddon;
  readonly #raw: RawContext;
  readonly #guard = new DisposeGuard('context');
  readonly #forget: () => void;

  constructor(addon: RawAddon, raw: RawContext, adopt: (dispose: () => Promise<void>) => () => void) {
    this.#addon = addon;
    this.#raw = raw;
    this.effective = raw.effective;
    this.#forget = adopt(() => this.dispose());
  }

  get contextUsed(): number {
    this.#guard.check();
    return this.#raw.contextUsed;
  }

  async *generate(
    prompt: ChatMessage[] | Int32Array,
    options: GenerateOptions,
  ): AsyncGenerator<GenerateChunk, GenerateResult, void> {
    const { signal, onPrefill, ...plain } = options;
    const { cancellation, release } = cancellationOf(this.#addon, signal);
    const chunks = new ChunkStream<GenerateChunk>();
    let failure: unknown;
    const answer = codedAsync(() =>
      this.#guard.track(cancellation, () =>
        this.#raw.generate(
          prompt,
          plain,
          (added) => chunks.push(added),
          (progress) => {
            try {
              for (const step of progress) onPrefill?.(step);
            } catch (error) {
              failure ??= error;
              cancellation.cancel();
            }
          },
          cancellation,
        ),
      ),
    ).finally(() => chunks.end());
    answer.catch(() => {}); // seen below, unless the reader leaves before
    try {
      yield* chunks.read();
      const result = await answer;
      if (failure !== undefined) throw failure;
      return result;
    } finally {
      // a reader that leaves stops the answer; the context is free again when this generator has returned
      cancellation.cancel();
      release();
      await answer.catch(() => {});
    }
  }

  async evaluate(tokens: Int32Array, reference?: Context, signal?: AbortSignal): Promise<EvaluateResult> {
    if (reference && !(reference instanceof NativeContext)) {
      throw new ConcertinaError('bad-request', 'The reference is not a context of this engine');
    }
    const other = reference instanceof NativeContext ? reference : null;
    const { cancellation, release } = cancellationOf(this.#addon, signal);
    const run = () =>
      this.#guard.track(cancellation, () => this.#raw.evaluate(tokens, other ? other.#raw : null, cancellation));
    try {
      return await codedAsync(() => (other ? other.#guard.track(cancellation, run) : run()));
    } finally {
      release();
    }
  }

  saveSession(path: string): Promise<number> {
    return this.#quick(() => this.#raw.saveSession(path));
  }

  loadSession(path: string): Promise<number> {
    return this.#quick(() => this.#raw.loadSession(path));
  }

  clear(): void {
    this.#guard.check();
    coded(() => this.#raw.clear());
  }

  memory(): PartMemory {
    this.#guard.check();
    return coded(() => this.#raw.memory());
  }

  dispose(): Promise<void> {
    return this.#guard.dispose(async () => {
      this.#forget();
      await this.#raw.dispose();
    });
  }

  /** work that cannot be cancelled but ends by itself */
  #quick<T>(start: () => Promise<T>): Promise<T> {
    return codedAsync(() => this.#guard.track(new this.#addon.Cancellation(), start));
  }
}
