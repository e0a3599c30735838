/** Finds passages of documents, in a worker thread that keeps the indexes: none of this holds up the main process. */
import { Worker } from 'node:worker_threads';
import { ConcertinaError } from '../../../shared/errors';
import type { FoundPassage, FromPassageWorker, PassageTask } from '../../../shared/passageWork';

/** after so long without a question the indexes leave the memory with their thread */
const idleMs = 300_000;
/** of the thread's JavaScript heap: an index that takes more ends the thread and nothing else */
const heapMb = 2048;

interface Open {
  resolve: (passages: FoundPassage[]) => void;
  reject: (error: ConcertinaError) => void;
}

export class PassageSearch {
  private worker: Worker | null = null;
  private idle: NodeJS.Timeout | null = null;
  private readonly open = new Map<number, Open>();
  private count = 0;

  /** the bundle of electron/passages */
  constructor(private readonly workerFile: string) {}

  /** The best first; those of an empty query are the first of the document. */
  search(task: Omit<PassageTask, 'id'>): Promise<FoundPassage[]> {
    const id = ++this.count;
    if (this.idle) clearTimeout(this.idle);
    this.worker ??= this.start();
    const worker = this.worker;
    return new Promise((resolve, reject) => {
      this.open.set(id, { resolve, reject });
      worker.postMessage({ id, ...task } satisfies PassageTask);
    });
  }

  async close(): Promise<void> {
    if (this.idle) clearTimeout(this.idle);
    this.fail(new ConcertinaError('cancelled', 'The app is being closed.'));
    await this.end();
  }

  private start(): Worker {
    const resourceLimits = { maxOldGenerationSizeMb: heapMb };
    const worker = new Worker(this.workerFile, { env: {}, execArgv: [], resourceLimits });
    worker.on('message', (message: FromPassageWorker) => this.settle(message));
    worker.on('error', (error) => this.lose(worker, error));
    worker.on('exit', (code) => this.lose(worker, new Error(`exit code ${code}`)));
    // a search that is under way is no reason to keep the app open
    worker.unref();
    return worker;
  }

  private settle(message: FromPassageWorker): void {
    const open = this.open.get(message.id);
    this.open.delete(message.id);
    if ('passages' in message) open?.resolve(message.passages);
    else open?.reject(ConcertinaError.fromPayload(message.error));
    if (this.open.size === 0) this.idle = setTimeout(() => void this.end(), idleMs).unref();
  }

  private async end(): Promise<void> {
    const { worker } = this;
    this.worker = null;
    await worker?.terminate();
  }

  /** The next search starts a new thread. */
  private lose(worker: Worker, cause: Error): void {
    if (this.worker !== worker) return;
    this.worker = null;
    this.fail(lost(cause));
  }

  private fail(error: ConcertinaError): void {
    const open = [...this.open.values()];
    this.open.clear();
    for (const one of open) one.reject(error);
  }
}

function lost(cause: Error): ConcertinaError {
  if ((cause as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return new ConcertinaError(
      'document-unsupported',
      'This document is too large to be searched for passages.',
      'Attach pages or headings of it instead.',
      { cause },
    );
  }
  return new ConcertinaError(
    'internal',
    `The search for passages ended unexpectedly (${cause.message}).`,
    'Try again, or attach pages or headings instead.',
    { cause },
  );
}
