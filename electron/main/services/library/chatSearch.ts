/** Search of all chats, in a worker thread: logs of hundreds of megabytes never hold up the main process. */
import { Worker } from 'node:worker_threads';
import type {
  ChatSearchAnswer,
  ChatSearchQuestion,
  FromSearchWorker,
  SearchTask,
  ToSearchWorker,
} from '../../../shared/chatSearch';
import { ConcertinaError } from '../../../shared/errors';
import { searchWords } from '../../../shared/textSearch';

/** The thread keeps the texts that it read; after so long without a question they leave the memory with it. */
const idleMs = 60_000;

interface Open {
  resolve: (answer: ChatSearchAnswer) => void;
  reject: (error: ConcertinaError) => void;
  asker: string | undefined;
}

export class ChatSearch {
  private worker: Worker | null = null;
  private idle: NodeJS.Timeout | null = null;
  private readonly open = new Map<number, Open>();
  private count = 0;

  /** `chats`: those to be searched, latest first */
  constructor(
    private readonly workerFile: string,
    private readonly folder: string,
    private readonly chats: () => SearchTask['chats'],
  ) {}

  /** Rejects with `cancelled` when the same asker asks anew. */
  search({ query, limit, asker }: ChatSearchQuestion): Promise<ChatSearchAnswer> {
    if (asker !== undefined) this.cancel(asker);
    const id = ++this.count;
    const words = searchWords(query);
    if (words.length === 0) return Promise.resolve({ hits: [], more: false });
    return new Promise((resolve, reject) => {
      this.open.set(id, { resolve, reject, asker });
      const task = { id, words, limit, folder: this.folder, chats: this.chats() };
      this.post({ type: 'search', task });
    });
  }

  async close(): Promise<void> {
    if (this.idle) clearTimeout(this.idle);
    this.fail(new ConcertinaError('cancelled', 'The app is being closed.'));
    await this.end();
  }

  private cancel(asker: string): void {
    for (const [id, open] of this.open) {
      if (open.asker !== asker) continue;
      this.open.delete(id);
      this.post({ type: 'cancel', id });
      open.reject(new ConcertinaError('cancelled', 'Another search was begun.'));
    }
  }

  private post(message: ToSearchWorker): void {
    if (this.idle) clearTimeout(this.idle);
    this.worker ??= this.start();
    this.worker.postMessage(message);
  }

  private start(): Worker {
    const worker = new Worker(this.workerFile, { env: {}, execArgv: [] });
    worker.on('message', (message: FromSearchWorker) => this.settle(message));
    worker.on('error', (error) => this.lose(worker, error));
    worker.on('exit', (code) => this.lose(worker, new Error(`exit code ${code}`)));
    // a search that is under way is no reason to keep the app open
    worker.unref();
    return worker;
  }

  private settle(message: FromSearchWorker): void {
    const open = this.open.get(message.id);
    this.open.delete(message.id);
    if ('answer' in message) open?.resolve(message.answer);
    else open?.reject(ConcertinaError.fromPayload(message.error));
    if (this.open.size > 0) return;
    if (this.idle) clearTimeout(this.idle);
    this.idle = setTimeout(() => void this.end(), idleMs).unref();
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
    this.fail(
      new ConcertinaError('internal', `The search ended unexpectedly (${cause.message}).`, 'Search again.', { cause }),
    );
  }

  private fail(error: ConcertinaError): void {
    const open = [...this.open.values()];
    this.open.clear();
    for (const one of open) one.reject(error);
  }
}
