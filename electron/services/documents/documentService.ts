/** Attaching documents: jobs that wait for each other, each read by a process of its own, and what became of them. */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { DocumentInfo, DocumentJob, UploadAnswer, UploadPart } from '../../contract/documents';
import type { ReadingLimits } from '../../contract/documentWork';
import { toErrorPayload } from '../../contract/errors';
import type { ProcessTransport } from '../engine/engineTransport';
import { storageError } from '../lib/files';
import type { Logger } from '../lib/logger';
import { textPath } from './documentFiles';
import { DocumentStore } from './documentStore';
import { cancelled, runExtraction } from './extraction';
import { JobList } from './jobList';
import { lookAt } from './source';
import { Uploads } from './uploads';

export interface DocumentServiceOptions {
  /** <data>/documents */
  folder: string;
  /** see `ExtractionOptions` */
  openProcess: () => ProcessTransport;
  limits?: Partial<ReadingLimits>;
  silenceMs?: number;
  /** pdf.js's character maps */
  cMapFolder: string;
  log: Logger;
}

/** A file that waits to be read. `ownFolder`: holds our own copy of it, which goes when the job ends. */
interface Order {
  path: string;
  name: string;
  ownFolder: string | null;
}

/** share of the progress that the look at the file takes; the rest is its reading */
const lookShare = 0.1;

export class DocumentService {
  readonly store: DocumentStore;
  readonly jobs = new JobList();
  private readonly uploads: Uploads;
  private readonly stops = new Map<string, AbortController>();
  private queue: Promise<void> = Promise.resolve();

  constructor(private readonly options: DocumentServiceOptions) {
    this.store = new DocumentStore(options.folder, options.log);
    this.uploads = new Uploads(this.store);
  }

  load(): Promise<void> {
    return this.store.load();
  }

  /** @returns ids of the jobs, one for each path; what is wrong with a file is told by its job */
  addPaths(paths: string[]): string[] {
    return paths.map((path) => this.enqueue({ path: resolve(path), name: basename(path), ownFolder: null }));
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

  async upload(part: UploadPart): Promise<UploadAnswer> {
    const { uploadId, file } = await this.uploads.take(part);
    if (!file) return { uploadId, jobId: null };
    return { uploadId, jobId: this.enqueue({ path: file.path, name: part.name, ownFolder: file.folder }) };
  }

  /** Ends a job that waits or reads; one that has ended stays as it is. */
  cancel(jobId: string): void {
    this.stops.get(jobId)?.abort();
  }

  /** Ends every job and waits for the last. */
  async close(): Promise<void> {
    for (const stop of this.stops.values()) stop.abort();
    await this.queue;
    await this.uploads.close();
    this.jobs.close();
  }

  private enqueue(order: Order): string {
    const id = randomUUID();
    const stop = new AbortController();
    this.stops.set(id, stop);
    this.jobs.add(id, order.name);
    // a queued job is canceled at once
    stop.signal.addEventListener('abort', () => this.jobs.update(id, { state: 'cancelled' }));
    this.queue = this.queue.then(() => this.run(id, order, stop.signal));
    return id;
  }

  /** Never rejects: the next job waits for this one. */
  private async run(id: string, order: Order, signal: AbortSignal): Promise<void> {
    const end = await this.outcome(id, order, signal);
    if (order.ownFolder) await this.store.discard(order.ownFolder);
    this.stops.delete(id);
    this.jobs.update(id, signal.aborted ? { state: 'cancelled' } : end);
  }

  private async outcome(id: string, order: Order, signal: AbortSignal): Promise<Partial<DocumentJob>> {
    try {
      if (signal.aborted) throw cancelled();
      this.jobs.update(id, { state: 'reading' });
      return { state: 'done', progress: 1, document: await this.attach(id, order, signal) };
    } catch (error) {
      const payload = toErrorPayload(error);
      if (payload.code === 'internal' && !signal.aborted) this.options.log.error(`attaching failed: ${String(error)}`);
      return { state: 'failed', error: payload };
    }
  }

  private async attach(id: string, { path, name }: Order, signal: AbortSignal): Promise<DocumentInfo> {
    const looked = await lookAt(path, name, signal, (fraction) =>
      this.jobs.update(id, { progress: fraction * lookShare }),
    );
    const known = await this.store.find(looked.id);
    // the same content under another name
    if (known) return { ...known, name };
    const folder = await this.store.temporary();
    try {
      const { openProcess, cMapFolder, limits, silenceMs } = this.options;
      const { kind, bytes } = looked;
      const task = { path, name, kind, bytes, textPath: textPath(folder), cMapFolder };
      const extraction = await runExtraction(task, {
        openProcess,
        signal,
        limits,
        silenceMs,
        onProgress: (fraction, pages) =>
          this.jobs.update(id, { progress: lookShare + fraction * (1 - lookShare), pages }),
      });
      const { characters, pages, sections, notices } = extraction;
      const facts = { characters, pages, sections: sections.length, notices };
      const document: DocumentInfo = { ...looked, name, ...facts, createdAt: Date.now() };
      await this.store.put(folder, document, extraction);
      return document;
    } finally {
      await this.store.discard(folder);
    }
  }
}
