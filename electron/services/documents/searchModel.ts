/**
 * The second ranker of passages: an embedding model of the person's, in a process of its own. It reads a document when that is
 * first asked about, beside everything else; until it has, and wherever it fails, words alone rank.
 */

import { readFile, rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import type { SearchModel } from '../../contract/documents';
import type { EngineStatus } from '../../contract/engine';
import { ConcertinaError, toErrorPayload } from '../../contract/errors';
import type { WordsAlone } from '../../contract/lib/attachments';
import { type Prefixes, prefixesOf } from '../../contract/lib/embeddings';
import { SerialQueue } from '../../contract/lib/serialQueue';
import { decodeVectors, encodeVectors, type VectorLabel } from '../../contract/lib/vectors';
import type { FoundPassages, MeaningTask, PassageTask } from '../../contract/workerTasks';
import { appMemory } from '../engine/engineMemory';
import type { ModelInspector } from '../engine/modelInspector';
import { Emitter, waitUntil } from '../lib/emitter';
import { writeFileAtomic } from '../lib/files';
import type { Logger } from '../lib/logger';
import type { DocumentStore } from './documentStore';

/** passages of a document: some 8 million characters, and 25 MB of vectors with 768 numbers */
const mostPassages = 8192;
/** few, so that a question does not wait long behind them */
const textsAtOnce = 4;
/** an answer waits no longer for the model: words alone rank then */
const usualPatienceMs = 2000;
const emitEveryMs = 200;
/** vectors of questions: each is counted while it is typed, and asked for again when it is sent */
const mostQuestions = 16;

export interface SearchModelParts {
  store: Pick<DocumentStore, 'textPath' | 'text' | 'vectorsPath'>;
  passages: { ask(task: PassageTask): Promise<FoundPassages> };
  embedder: Pick<ModelInspector, 'embed' | 'inspect' | 'stop' | 'pid' | 'lives'>;
  /** tells what the model takes without loading it */
  inspector: Pick<ModelInspector, 'embedderBytes'>;
  models: { pathOf(modelId: string): Promise<string> };
  /** id of the model that is chosen now; null: none */
  chosen: () => string | null;
  /** an answer goes before the reading */
  engine: { changed: Emitter<EngineStatus>; status(): EngineStatus };
  log: Logger;
  patienceMs?: number;
}

interface OpenModel {
  path: string;
  /** of the file: a replaced one is another model */
  identity: string;
  fingerprint: string;
  prefixes: Prefixes;
}

/** What a search is to do: rank by meaning too, by words alone though there is a model, or (null) as if there were none. */
export type Sought = { meaning: MeaningTask } | { wordsAlone: WordsAlone } | null;

export class SearchModelService {
  readonly changed = new Emitter<SearchModel>();
  private modelId: string | null = null;
  private model: OpenModel | null = null;
  private needs: number | null = null;
  private problem: SearchModel['problem'] = null;
  private reading: SearchModel['reading'] = null;
  /** documents that wait to be read or are being read */
  private readonly stops = new Map<string, AbortController>();
  private readonly canceled = new Set<string>();
  private readonly tooLong = new Set<string>();
  /** labels of files that were looked at in this run and are whole */
  private readonly whole = new Set<string>();
  private readonly questions = new Map<string, Float32Array>();
  private readonly queue = new SerialQueue();

  constructor(private readonly parts: SearchModelParts) {
    parts.embedder.lives.on(() => this.emit());
  }

  status(): SearchModel {
    const { pid } = this.parts.embedder;
    return {
      modelId: this.modelId,
      needs: this.needs,
      running: pid !== undefined,
      bytes: pid === undefined ? null : appMemory([pid]),
      problem: this.problem,
      reading: this.reading,
    };
  }

  /** Bytes that it will take, and has not taken yet: for estimates of what else fits. */
  reserved(): number {
    return this.modelId !== null && this.parts.embedder.pid === undefined ? (this.needs ?? 0) : 0;
  }

  /** After the settings may have changed: another model, or none. */
  async look(): Promise<void> {
    const modelId = this.parts.chosen();
    if (modelId === this.modelId) return;
    this.modelId = modelId;
    this.model = null;
    this.needs = null;
    this.problem = null;
    for (const stop of this.stops.values()) stop.abort();
    for (const set of [this.canceled, this.tooLong, this.whole, this.questions]) set.clear();
    this.emit();
    await this.queue.idle();
    this.parts.embedder.stop();
    if (modelId !== null && modelId === this.modelId) await this.measure(modelId);
  }

  private async measure(modelId: string): Promise<void> {
    try {
      const bytes = await this.parts.inspector.embedderBytes(await this.parts.models.pathOf(modelId));
      if (modelId === this.modelId) this.needs = bytes;
      this.emit();
    } catch (error) {
      if (modelId === this.modelId) this.fail(error);
    }
  }

  /** Never rejects, and never waits long. `question`: what is searched for, as a person wrote it. */
  async of(documentId: string, question: string): Promise<Sought> {
    if (this.modelId === null) return null;
    const sought = this.seek(documentId, question).catch((error: unknown): Sought => {
      this.fail(error);
      return { wordsAlone: 'failed' };
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Sought>((resolve) => {
      timer = setTimeout(() => resolve({ wordsAlone: 'loading' }), this.parts.patienceMs ?? usualPatienceMs);
    });
    return Promise.race([sought, late]).finally(() => clearTimeout(timer));
  }

  /** The file of a document's vectors could not be used: it is made again. */
  async damaged(documentId: string, error: unknown): Promise<void> {
    this.parts.log.warn(`The vectors of the document ${documentId} were thrown away: ${String(error)}`);
    this.whole.clear();
    await rm(await this.parts.store.vectorsPath(documentId), { force: true }).catch(() => undefined);
  }

  /** Ends the reading of a document, which does not begin again by itself. */
  cancel(documentId: string): void {
    this.canceled.add(documentId);
    this.stops.get(documentId)?.abort();
  }

  /** After it was canceled. */
  async read(documentId: string): Promise<void> {
    this.canceled.delete(documentId);
    if (this.modelId === null) return;
    try {
      const { model, label, isWhole } = await this.lookUp(documentId);
      if (!isWhole) this.notRead(model, label);
    } catch (error) {
      this.fail(error);
    }
  }

  async close(): Promise<void> {
    for (const stop of this.stops.values()) stop.abort();
    await this.queue.idle();
  }

  private async seek(documentId: string, question: string): Promise<Sought> {
    const { model, label, path, isWhole } = await this.lookUp(documentId);
    if (!isWhole) return { wordsAlone: this.notRead(model, label) };
    const query = await this.vectorOf(model, `${model.prefixes.query}${question}`);
    this.succeed();
    return { meaning: { path, label, query } };
  }

  /** `isWhole`: the document was read, and what was made of it is there. */
  private async lookUp(documentId: string) {
    const model = await this.open();
    const label: VectorLabel = { documentId, fingerprint: model.fingerprint, prefix: model.prefixes.passage, cut: 1 };
    const path = await this.parts.store.vectorsPath(documentId);
    return { model, label, path, isWhole: await this.isWhole(path, label) };
  }

  private async open(): Promise<OpenModel> {
    const { embedder, models } = this.parts;
    const modelId = this.modelId ?? '';
    const path = await models.pathOf(modelId);
    const { size, mtimeMs } = await stat(path);
    const identity = `${path}|${size}|${mtimeMs}`;
    if (this.model?.identity === identity) return this.model;
    const { architecture, name } = await embedder.inspect(path);
    const { fingerprint } = await embedder.embed(path, []);
    const model = { path, identity, fingerprint, prefixes: prefixesOf(architecture, [name, basename(path)]) };
    if (modelId === this.modelId) this.model = model;
    // its file was not there before, or is another one now
    void this.measure(modelId);
    return model;
  }

  private async isWhole(path: string, label: VectorLabel): Promise<boolean> {
    const key = JSON.stringify(label);
    if (this.whole.has(key)) return true;
    const file = await readFile(path).catch(() => null);
    if (!file || !decodeVectors(file, label)) return false;
    this.whole.add(key);
    return true;
  }

  private notRead(model: OpenModel, label: VectorLabel): WordsAlone {
    const { documentId } = label;
    if (this.canceled.has(documentId)) return 'canceled';
    if (this.tooLong.has(documentId)) return 'too-long';
    if (this.stops.get(documentId)?.signal.aborted === false) return 'reading';
    const stop = new AbortController();
    this.stops.set(documentId, stop);
    void this.queue.run(async () => {
      await this.readQuietly(model, label, stop.signal);
      if (this.stops.get(documentId) === stop) this.stops.delete(documentId);
    });
    return 'reading';
  }

  /** Never rejects: the next one waits for it. */
  private async readQuietly(model: OpenModel, label: VectorLabel, signal: AbortSignal): Promise<void> {
    try {
      if (!signal.aborted) await this.readNow(model, label, signal);
    } catch (error) {
      if (!signal.aborted) this.fail(error);
    }
    this.reading = null;
    this.emit();
  }

  private async readNow(model: OpenModel, label: VectorLabel, signal: AbortSignal): Promise<void> {
    const { store, passages: cutter, engine } = this.parts;
    const { documentId } = label;
    const textPath = await store.textPath(documentId);
    const { passages } = await cutter.ask({ documentId, textPath, query: '', limit: mostPassages + 1 });
    if (passages.length > mostPassages) return void this.tooLong.add(documentId);
    const pieces: Float32Array[] = [];
    let toldAt = 0;
    for (let at = 0; at < passages.length; at += textsAtOnce) {
      this.reading = { documentId, done: at, all: passages.length };
      if (at === 0 || performance.now() - toldAt > emitEveryMs) {
        toldAt = performance.now();
        this.emit();
      }
      await waitUntil(engine.changed, signal, () => signal.aborted || engine.status().state !== 'generating');
      if (signal.aborted) return;
      const texts: string[] = [];
      for (const { start, end } of passages.slice(at, at + textsAtOnce))
        texts.push(`${label.prefix}${await store.text(documentId, start, end)}`);
      pieces.push(await this.embed(model, texts));
    }
    const vectors = joined(pieces);
    const width = passages.length === 0 ? 0 : vectors.length / passages.length;
    const starts = Uint32Array.from(passages, ({ start }) => start);
    const ends = Uint32Array.from(passages, ({ end }) => end);
    // it may have been removed meanwhile: then this rejects
    const path = await store.vectorsPath(documentId);
    if (signal.aborted) return;
    await writeFileAtomic(path, encodeVectors(label, { starts, ends, width, vectors }));
    this.succeed();
  }

  private async vectorOf(model: OpenModel, text: string): Promise<Float32Array> {
    const key = JSON.stringify([model.identity, text]);
    const vector = this.questions.get(key) ?? (await this.embed(model, [text]));
    this.questions.delete(key);
    this.questions.set(key, vector);
    const [oldest] = this.questions.keys();
    if (this.questions.size > mostQuestions && oldest !== undefined) this.questions.delete(oldest);
    return vector;
  }

  private async embed({ path, fingerprint }: OpenModel, texts: string[]): Promise<Float32Array> {
    const answer = await this.parts.embedder.embed(path, texts);
    if (answer.fingerprint !== fingerprint) {
      this.model = null;
      throw new ConcertinaError('model-invalid', msg`The file of the search model was replaced.`, msg`Search again.`);
    }
    const bytes = Buffer.from(answer.vectors, 'base64');
    return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  }

  private fail(error: unknown): void {
    const problem = toErrorPayload(error);
    if (problem.message !== this.problem?.message)
      this.parts.log.warn(`The search model cannot rank: ${problem.message}`);
    this.problem = problem;
    this.emit();
  }

  private succeed(): void {
    if (this.problem === null) return;
    this.problem = null;
    this.emit();
  }

  private emit(): void {
    this.changed.emit(this.status());
  }
}

function joined(pieces: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
