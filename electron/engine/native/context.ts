/** A context of a model: answers, evaluation, sessions. */

import { stat } from 'node:fs/promises';
import { msg } from '@lingui/core/runtime-macro';
import type { Quality } from '../../contract/compare/figures';
import type { EffectiveContext } from '../../contract/engine';
import type { ApiPart, ApiRequest } from '../../contract/engineContract';
import { ConcertinaError } from '../../contract/errors';
import { Answers, type Native } from './answer';
import { readPrompt } from './chatRequest';
import { cancellationOf, coded, codedAsync, DisposeGuard, withProgress } from './guards';
import { decodableFile } from './mediaChecks';
import type { EvaluationOptions, RawAddon, RawCancellation, RawContext, RawEvaluation, RawModel } from './raw';
import { labelOf, loadSession, type SessionOwner, saveSession } from './sessionFile';
import type {
  ApiResponse,
  ChatMessage,
  CompareOptions,
  Comparison,
  Context,
  FileEvaluation,
  GenerateChunk,
  GenerateOptions,
  GenerateResult,
  MemoryUse,
  Progress,
  PromptOptions,
  Stretch,
} from './types';

export class NativeContext implements Context {
  readonly effective: EffectiveContext;
  readonly sessionLabel: string;
  readonly #addon: RawAddon;
  readonly #raw: RawContext;
  readonly #answers: Answers;
  readonly #native: Native;
  /** tokens of images and sound, by file */
  readonly #counted = new Map<string, number>();
  readonly #guard = new DisposeGuard('context');
  readonly #forget: () => void;

  constructor(addon: RawAddon, model: RawModel, raw: RawContext, adopt: (dispose: () => Promise<void>) => () => void) {
    this.#addon = addon;
    this.#raw = raw;
    this.effective = raw.effective;
    this.sessionLabel = labelOf(addon, raw, model.fingerprint);
    this.#native = { addon, model, context: raw, effective: this.effective };
    this.#answers = new Answers(this.#native);
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
    const { cancellation, release } = cancellationOf(this.#addon, options.signal);
    const chunks = new ChunkStream<GenerateChunk>();
    let failure: unknown;
    const passedOn: GenerateOptions = {
      ...options,
      onPrefill: (progress) => {
        try {
          options.onPrefill?.(progress);
        } catch (error) {
          failure ??= error;
          cancellation.cancel();
        }
      },
    };
    const write = () => this.#answers.write(prompt, passedOn, cancellation, (chunk) => chunks.push([chunk]));
    const answer = codedAsync(() => this.#guard.track(cancellation, write)).finally(() => chunks.end());
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

  respond(request: ApiRequest, onParts: (parts: ApiPart[]) => void, signal?: AbortSignal): ApiResponse {
    const { cancellation, release } = cancellationOf(this.#addon, signal);
    let response: ApiResponse | null = null;
    const start = () => {
      response = this.#raw.respond(request, onParts, cancellation);
      return response.done;
    };
    const done = codedAsync(() => this.#guard.track(cancellation, start)).finally(release);
    return { done, taken: (bytes) => response?.taken(bytes) };
  }

  async evaluate(tokens: Int32Array, reference?: Context, signal?: AbortSignal): Promise<Quality> {
    const judge = reference ? native(reference) : this;
    const [own] = await judge.#evaluate(reference ? [this] : [], tokens, {}, { signal });
    return qualityOf(own);
  }

  async compare(contexts: Context[], tokens: Int32Array, options: CompareOptions = {}): Promise<Comparison> {
    if (contexts.length === 0) throw new ConcertinaError('bad-request', msg`There is no context to compare`);
    const found = await this.#evaluate(contexts.map(native), tokens, { chunk: options.chunk }, options);
    const reference = qualityOf(found.pop());
    return { reference, results: found.map(qualityOf), klds: found.map(({ klds }) => klds) };
  }

  recordEvaluation(tokens: Int32Array, path: string, options: FileEvaluation = {}): Promise<Quality> {
    return this.#evaluateFile(tokens, { record: path }, options);
  }

  evaluateAgainst(tokens: Int32Array, path: string, options: FileEvaluation = {}): Promise<Quality> {
    return this.#evaluateFile(tokens, { against: path }, options);
  }

  async #evaluateFile(
    tokens: Int32Array,
    file: Pick<EvaluationOptions, 'record' | 'against'>,
    options: FileEvaluation,
  ): Promise<Quality> {
    const { chunk, score } = options;
    const [own] = await this.#evaluate([], tokens, { chunk, score, ...file }, options);
    return qualityOf(own);
  }

  #evaluate(
    others: NativeContext[],
    tokens: Int32Array,
    asked: EvaluationOptions,
    options: Progress,
  ): Promise<RawEvaluation[]> {
    const raws = others.map((other) => other.#raw);
    return this.#job(
      (cancellation, onProgress) => this.#raw.evaluate(tokens, raws, asked, onProgress, cancellation),
      options,
      others,
    );
  }

  async chatTokens(messages: ChatMessage[], options: PromptOptions = {}): Promise<Int32Array> {
    const read = (cancellation: RawCancellation) => readPrompt(this.#native, messages, options, cancellation);
    return (await this.#job(read, {})).tokens;
  }

  countMedia(path: string): Promise<number> {
    return codedAsync(async () => {
      const key = await stat(path).then(
        ({ size, mtimeMs }) => `${path} ${size} ${mtimeMs}`,
        () => path,
      );
      const known = this.#counted.get(key);
      if (known !== undefined) return known;
      const bytes = await decodableFile(path);
      this.#guard.check();
      const count = async (prompt: string, files: Uint8Array[]) =>
        (await this.#raw.readMedia(prompt, files, false)).length;
      const tokens = (await count(this.#addon.mediaMarker, [bytes])) - (await count('', []));
      this.#counted.set(key, tokens);
      return tokens;
    });
  }

  tokens(): Int32Array {
    this.#check();
    return coded(() => this.#raw.tokens());
  }

  get rewinds(): boolean {
    this.#guard.check();
    return this.#raw.rewinds;
  }

  checkpoints(): Int32Array {
    this.#check();
    return coded(() => this.#raw.checkpoints());
  }

  get sharesCells(): boolean {
    this.#guard.check();
    return this.#raw.sharesCells;
  }

  saveSession(path: string, signal?: AbortSignal, stretch?: Stretch): Promise<number> {
    const all = { from: 0, to: this.contextUsed };
    return this.#job((cancellation) => saveSession(this.#session, path, stretch ?? all, cancellation), { signal });
  }

  loadSession(path: string, signal?: AbortSignal, from = 0): Promise<number> {
    return this.#job((cancellation) => loadSession(this.#session, path, from, cancellation), { signal });
  }

  get #session(): SessionOwner {
    return { addon: this.#addon, raw: this.#raw, label: this.sessionLabel, nCtx: this.effective.nCtx };
  }

  clear(): void {
    this.#check();
    coded(() => this.#raw.clear());
  }

  memory(): MemoryUse {
    this.#guard.check();
    return coded(() => this.#raw.memory());
  }

  dispose(): Promise<void> {
    return this.#guard.dispose(async () => {
      this.#forget();
      await this.#raw.dispose();
    });
  }

  /** `others`: contexts that the job uses beside this one */
  #job<T>(
    start: (cancellation: RawCancellation, onProgress: (fractions: number[]) => void) => Promise<T>,
    options: Progress,
    others: NativeContext[] = [],
  ): Promise<T> {
    const all = [this, ...others];
    const guards = all.map((context) => context.#guard);
    const run = (cancellation: RawCancellation, onProgress: (fractions: number[]) => void): Promise<T> => {
      for (const context of all) context.#answers.checkIdle();
      return start(cancellation, onProgress);
    };
    return withProgress(this.#addon, options, (onProgress, cancellation) =>
      codedAsync(() => trackAll(guards, cancellation, () => run(cancellation, onProgress))),
    );
  }

  #check(): void {
    this.#guard.check();
    this.#answers.checkIdle();
  }
}

function native(context: Context): NativeContext {
  if (context instanceof NativeContext) return context;
  throw new ConcertinaError('bad-request', msg`What is compared is not a context of this engine`);
}

function qualityOf(evaluation?: RawEvaluation): Quality {
  if (!evaluation) throw new ConcertinaError('internal', msg`The addon returned fewer figures than contexts`);
  const { klds: _, ...quality } = evaluation;
  return quality;
}

/** `start` as the job of every guard: whichever is disposed stops it and waits for it */
function trackAll<T>(
  [first, ...rest]: DisposeGuard[],
  cancellation: RawCancellation,
  start: () => Promise<T>,
): Promise<T> {
  if (!first) return start();
  return first.track(cancellation, () => trackAll(rest, cancellation, start));
}

// Chunks that a callback pushes, read by an async generator.

export class ChunkStream<T> {
  #queue: T[] = [];
  #ended = false;
  #wake: (() => void) | null = null;

  push(chunks: T[]): void {
    for (const chunk of chunks) this.#queue.push(chunk);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async *read(): AsyncGenerator<T, void, void> {
    for (;;) {
      const chunks = this.#queue;
      this.#queue = [];
      yield* chunks;
      if (this.#queue.length > 0) continue;
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
  }
}
