/** Attaching documents: jobs that wait for each other, each read by a process of its own, and what became of them. */

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import type { DocumentInfo, DocumentJob, UploadAnswer, UploadPart } from '../../contract/documents';
import { ConcertinaError, toErrorPayload } from '../../contract/errors';
import { hasNoText, noSenses, type Senses } from '../../contract/lib/attachments';
import { pageOf } from '../../contract/lib/pages';
import { SerialQueue } from '../../contract/lib/serialQueue';
import type { ReadingFolders, ReadingLimits } from '../../contract/workerTasks';
import type { EngineService } from '../engine/engineService';
import type { ProcessTransport } from '../engine/engineTransport';
import { Emitter } from '../lib/emitter';
import { sha256Of, storageError } from '../lib/files';
import type { Logger } from '../lib/logger';
import { DocumentStore, originalPath, storedName, textPath } from './documentStore';
import { DocumentCounts, DocumentTexts } from './documentTexts';
import { DocumentUse } from './documentUse';
import { canceled, runExtraction } from './extraction';
import { MediaFiles, storeMedia } from './mediaFiles';
import { PagePictures } from './pagePictures';
import { PassageSearch, Retrieval } from './retrieval';
import { type SearchModelParts, SearchModelService } from './searchModel';
import { copyOriginal, documentId, type LookedAt, lookAt } from './source';
import { Uploads } from './uploads';

interface DocumentServiceOptions {
  /** <data>/documents */
  folder: string;
  /** see `ExtractionOptions` */
  openProcess: () => ProcessTransport;
  limits?: Partial<ReadingLimits>;
  silenceMs?: number;
  folders: ReadingFolders;
  log: Logger;
  /** what the model in use reads as it is, and whether it can read a file; rejects with why not */
  media?: { senses(): Senses | null; check(path: string): Promise<unknown> };
}

/**
 * A file that waits to be read. `ownFolder`: of our own copy, which goes when the job ends; `asText`: whatever the model sees;
 * `lost`: id of the stored document that it is to become again; `ofTool`: an image stays one, whatever the model sees
 */
interface Order {
  path: string;
  name: string;
  ownFolder: string | null;
  asText?: true;
  lost?: string;
  ofTool?: true;
}

const allSenses: Senses = { sees: true, hears: true };

/** documents that wait for a password at once; a page that was closed leaves its own behind */
const mostLocked = 16;

/** share of the progress that the look at the file takes; the rest is its reading */
const lookShare = 0.1;

export class DocumentService {
  readonly store: DocumentStore;
  readonly jobs = new JobList();
  private readonly uploads: Uploads;
  private readonly stops = new Map<string, AbortController>();
  /** what waits for a password, by its job; the oldest first */
  private readonly locked = new Map<string, Order>();
  private readonly queue = new SerialQueue();

  constructor(private readonly options: DocumentServiceOptions) {
    this.store = new DocumentStore(options.folder, options.log, (id, aside) => void this.readAgain(id, aside));
    this.uploads = new Uploads(this.store);
  }

  load(): Promise<void> {
    return this.store.load();
  }

  /** @returns ids of the jobs, one for each path; what is wrong with a file is in its job */
  addPaths(paths: string[]): string[] {
    return paths.map((path) => this.enqueue({ path: resolve(path), name: basename(path), ownFolder: null }));
  }

  /** The text of an image that is stored, by OCR. */
  async readAsText(documentId: string): Promise<string> {
    const { name } = await this.store.get(documentId);
    return this.enqueue({ path: await this.store.originalPath(documentId), name, ownFolder: null, asText: true });
  }

  /** A stored document that was changed on the disk, from the copy of its file, where one is kept. */
  private async readAgain(id: string, aside: string): Promise<void> {
    const name = await storedName(aside);
    const path = originalPath(aside);
    if (name !== null && existsSync(path)) this.enqueue({ path, name, ownFolder: null, lost: id });
  }

  /** Pasted text; the ending of its name says what it is. */
  async addText(name: string, text: string): Promise<string> {
    const folder = await this.store.temporary();
    const path = join(folder, 'file');
    try {
      await writeFile(path, text, { mode: 0o600 });
    } catch (error) {
      await this.store.discard(folder);
      throw storageError('The text could not be stored', error);
    }
    return this.enqueue({ path, name, ownFolder: folder });
  }

  /** What a tool gave: read like a file that is attached; what nothing can read is kept as it is. */
  async keep(name: string, content: string | Uint8Array, signal: AbortSignal): Promise<DocumentInfo> {
    if (signal.aborted) throw canceled();
    const folder = await this.store.temporary();
    const path = join(folder, 'file');
    try {
      await writeFile(path, content, { mode: 0o600 }).catch((error: unknown) => {
        throw storageError('The result could not be stored', error);
      });
      // behind those that are read: one reading at a time is what the memory is measured for
      const reading = this.queue.run(async () => {
        const order: Order = { path, name, ownFolder: null, ofTool: true };
        return await this.attach('', order, null, signal).catch(async (error: unknown) => {
          const { code } = toErrorPayload(error);
          if (signal.aborted) throw canceled();
          if (!/^document-/.test(code)) throw error;
          return this.keepFile(path, name);
        });
      });
      const stopped = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(canceled())));
      return await Promise.race([reading, stopped]);
    } finally {
      await this.store.discard(folder);
    }
  }

  private async keepFile(path: string, name: string): Promise<DocumentInfo> {
    const id = await documentId(await sha256Of(path), 'file', '');
    const known = await this.store.find(id);
    if (known) return { ...known, name };
    const folder = await this.store.temporary();
    try {
      const { size } = await stat(path);
      return await storeMedia(this.store, folder, { id, kind: 'file', bytes: size, name }, path);
    } finally {
      await this.store.discard(folder);
    }
  }

  async upload(part: UploadPart): Promise<UploadAnswer> {
    const { uploadId, file } = await this.uploads.take(part);
    if (!file) return { uploadId, jobId: null };
    return { uploadId, jobId: this.enqueue({ path: file.path, name: part.name, ownFolder: file.folder }) };
  }

  /** Reads a document that is locked; any other stays as it is. The password stays with this one reading. */
  unlock(jobId: string, password: string): void {
    const order = this.locked.get(jobId);
    if (!order) return;
    this.locked.delete(jobId);
    this.jobs.update(jobId, { state: 'waiting', progress: 0, error: null });
    this.start(jobId, order, password);
  }

  /** Ends a job that waits, reads or is locked; one that has ended stays as it is. */
  cancel(jobId: string): void {
    this.stops.get(jobId)?.abort();
    const order = this.locked.get(jobId);
    if (!order) return;
    this.locked.delete(jobId);
    this.jobs.update(jobId, { state: 'cancelled', error: null });
    void this.queue.run(() => this.forget(order));
  }

  /** Ends every job and waits for the last. */
  async close(): Promise<void> {
    for (const jobId of [...this.stops.keys(), ...this.locked.keys()]) this.cancel(jobId);
    await this.queue.idle();
    await this.uploads.close();
    this.jobs.close();
  }

  private enqueue(order: Order): string {
    const id = randomUUID();
    this.jobs.add(id, order.name);
    this.start(id, order, null);
    return id;
  }

  private start(id: string, order: Order, password: string | null): void {
    const stop = new AbortController();
    this.stops.set(id, stop);
    // a queued job is canceled at once
    stop.signal.addEventListener('abort', () => this.jobs.update(id, { state: 'cancelled' }));
    void this.queue.run(() => this.run(id, order, password, stop.signal));
  }

  /** Never rejects: the next job waits for this one. */
  private async run(id: string, order: Order, password: string | null, signal: AbortSignal): Promise<void> {
    const end = await this.outcome(id, order, password, signal);
    if (end.state === 'locked' && !signal.aborted) this.keepLocked(id, order);
    else await this.forget(order);
    this.stops.delete(id);
    this.jobs.update(id, signal.aborted ? { state: 'cancelled' } : end);
  }

  private keepLocked(id: string, order: Order): void {
    const [oldest] = this.locked.keys();
    if (oldest !== undefined && this.locked.size >= mostLocked) this.cancel(oldest);
    this.locked.set(id, order);
  }

  private async forget({ ownFolder }: Order): Promise<void> {
    if (ownFolder) await this.store.discard(ownFolder);
  }

  private async outcome(
    id: string,
    order: Order,
    password: string | null,
    signal: AbortSignal,
  ): Promise<Partial<DocumentJob>> {
    try {
      if (signal.aborted) throw canceled();
      this.jobs.update(id, { state: 'reading' });
      return { state: 'done', progress: 1, document: await this.attach(id, order, password, signal) };
    } catch (error) {
      const payload = toErrorPayload(error);
      if (payload.code === 'document-locked') return { state: 'locked', error: payload };
      if (payload.code === 'internal' && !signal.aborted) this.options.log.error(`attaching failed: ${String(error)}`);
      return { state: 'failed', error: payload };
    }
  }

  private async attach(
    id: string,
    { path, name, asText, lost, ofTool }: Order,
    password: string | null,
    signal: AbortSignal,
  ): Promise<DocumentInfo> {
    // its file may have been attached meanwhile
    const found = lost === undefined ? null : await this.store.find(lost);
    if (found) return found;
    const { openProcess, folders, limits, silenceMs, media } = this.options;
    const onLooked = (fraction: number) => this.jobs.update(id, { progress: fraction * lookShare });
    const senses = ofTool ? allSenses : (!asText && media?.senses()) || noSenses;
    const looked = await lookAt(path, name, folders.languages, signal, onLooked, senses);
    if (lost !== undefined && looked.id !== lost) throw notTheSame(name);
    const known = await this.store.find(looked.id);
    const folder = await this.store.temporary();
    try {
      // the same content under another name
      if (known) return { ...(await this.withOriginal(known, path, looked, folder)), name };
      const { kind, bytes } = looked;
      if (hasNoText(kind))
        return await storeMedia(this.store, folder, { ...looked, name }, path, ofTool ? undefined : media?.check);
      const task = { path, name, kind, bytes, textPath: textPath(folder), folders, password };
      const extraction = await runExtraction(task, {
        openProcess,
        signal,
        limits,
        silenceMs,
        onProgress: (fraction, pages) =>
          this.jobs.update(id, { progress: lookShare + fraction * (1 - lookShare), pages }),
      });
      const { characters, pages, sections, notices } = extraction;
      const printedPages = sections.some((section) => {
        const page = pageOf(section);
        return page !== null && page.printed !== page.sheet;
      });
      // a locked file could not be drawn: its password is kept nowhere
      const original = password === null && (await copyOriginal(path, looked, folders.languages, originalPath(folder)));
      const facts = { characters, pages, sections: sections.length, printedPages, original, notices };
      const document: DocumentInfo = { ...looked, name, ...facts, createdAt: Date.now() };
      await this.store.put(folder, document, extraction);
      return document;
    } finally {
      await this.store.discard(folder);
    }
  }

  /** A document of an earlier version of the app, or whose copy is lost, gets one. */
  private async withOriginal(
    known: DocumentInfo,
    path: string,
    looked: LookedAt,
    folder: string,
  ): Promise<DocumentInfo> {
    const { languages } = this.options.folders;
    const has = await this.store.originalPath(known.id).catch(() => null);
    if (has !== null || !(await copyOriginal(path, looked, languages, originalPath(folder)))) return known;
    return this.store.addOriginal(known.id, originalPath(folder));
  }
}

function notTheSame(name: string): ConcertinaError {
  return new ConcertinaError(
    'document-invalid',
    msg`The copy of ${{ name }} was changed, too.`,
    msg`Attach the file again.`,
  );
}

// The jobs of this run as a window sees them: changes of state at once, progress a few times a second.

const endedKept = 50;
const emitEveryMs = 100;

class JobList {
  readonly changed = new Emitter<DocumentJob[]>();
  private readonly jobs = new Map<string, DocumentJob>();
  private timer: NodeJS.Timeout | null = null;

  /** in the order of their beginning */
  list(): DocumentJob[] {
    return [...this.jobs.values()];
  }

  get(id: string): DocumentJob | undefined {
    return this.jobs.get(id);
  }

  add(id: string, name: string): void {
    this.jobs.set(id, { id, name, state: 'waiting', progress: 0, pages: null, document: null, error: null });
    this.forgetOld();
    this.emitChange();
  }

  update(id: string, change: Partial<DocumentJob>): void {
    const job = this.jobs.get(id);
    if (!job) return;
    this.jobs.set(id, { ...job, ...change });
    if (change.state) this.emitChange();
    else this.timer ??= setTimeout(() => this.emitChange(), emitEveryMs);
  }

  close(): void {
    if (this.timer) clearTimeout(this.timer);
  }

  private emitChange(): void {
    this.close();
    this.timer = null;
    this.changed.emit(this.list());
  }

  private forgetOld(): void {
    const ended = this.list().filter(({ state }) => state === 'done' || state === 'failed' || state === 'cancelled');
    for (const { id } of ended.slice(0, Math.max(0, ended.length - endedKept))) this.jobs.delete(id);
  }
}

interface DocumentsSetUp extends Pick<DocumentServiceOptions, 'openProcess' | 'log'> {
  dataFolder: string;
  bundles: string;
  workerFile: string;
  engine: Pick<
    EngineService,
    'countTexts' | 'countMedia' | 'loads' | 'live' | 'modelName' | 'contextSize' | 'changed' | 'status'
  >;
  searchModel: Pick<SearchModelParts, 'embedder' | 'inspector' | 'models' | 'chosen'>;
  chats: ConstructorParameters<typeof DocumentUse>[0];
  /** other files that name documents: comparisons, and questions that wait */
  others: () => Promise<string[]>;
}

/** The documents that are stored, what their texts are used for, and by whom. */
export async function setUpDocuments(parts: DocumentsSetUp) {
  const { dataFolder, bundles, openProcess, log, engine } = parts;
  const documents = new DocumentService({
    folder: join(dataFolder, 'documents'),
    folders: {
      cMaps: join(bundles, 'cmaps'),
      ocr: join(bundles, 'ocr'),
      languages: join(dataFolder, 'ocr-languages'),
    },
    openProcess,
    log,
    media: {
      senses: () => engine.live.senses(),
      check: async (path) => engine.contextSize() > 0 && engine.countMedia([path]),
    },
  });
  await documents.load();
  const texts = new DocumentTexts(documents.store);
  const passages = new PassageSearch(parts.workerFile);
  const { store } = documents;
  const searchModel = new SearchModelService({ ...parts.searchModel, store, passages, engine, log });
  const retrieval = new Retrieval(passages, store, texts, searchModel, (some) => engine.countTexts(some));
  const documentUse = new DocumentUse(parts.chats, documents.store, log, parts.others);
  void documentUse.sweep();
  const pages = new PagePictures(documents.store, openProcess, join(bundles, 'ocr', 'pdfium.wasm'));
  const media = new MediaFiles(documents.store, pages, engine);
  const counts = new DocumentCounts(texts, engine, media);
  return { documents, pages, media, texts, counts, passages, retrieval, searchModel, documentUse };
}
