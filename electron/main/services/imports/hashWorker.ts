/** Hashes of files, computed in a worker thread that is there while there is something to do. */
import { Worker } from 'node:worker_threads';
import type { FromHashWorker, HashTask } from '../../../shared/hashWork';

interface Open {
  resolve: (sha256: string) => void;
  reject: (error: Error) => void;
}

export class HashWorker {
  private worker: Worker | null = null;
  private readonly open = new Map<number, Open>();
  private count = 0;

  constructor(private readonly workerFile: string) {}

  hash(paths: string[], sample: boolean): Promise<string> {
    const id = ++this.count;
    return new Promise((resolve, reject) => {
      this.open.set(id, { resolve, reject });
      this.worker ??= this.start();
      this.worker.postMessage({ id, paths, sample } satisfies HashTask);
    });
  }

  async close(): Promise<void> {
    const { worker } = this;
    this.worker = null;
    this.fail(new Error('The app is being closed.'));
    await worker?.terminate();
  }

  private start(): Worker {
    const worker = new Worker(this.workerFile, { env: {}, execArgv: [] });
    worker.on('message', (message: FromHashWorker) => this.settle(message));
    worker.on('error', (error) => this.lose(worker, error));
    worker.on('exit', (code) => this.lose(worker, new Error(`exit code ${code}`)));
    worker.unref();
    return worker;
  }

  private settle(message: FromHashWorker): void {
    const open = this.open.get(message.id);
    this.open.delete(message.id);
    if ('sha256' in message) open?.resolve(message.sha256);
    else open?.reject(new Error(message.problem));
    if (this.open.size > 0) return;
    void this.worker?.terminate();
    this.worker = null;
  }

  /** The next task starts a new thread. */
  private lose(worker: Worker, error: Error): void {
    if (this.worker !== worker) return;
    this.worker = null;
    this.fail(error);
  }

  private fail(error: Error): void {
    const all = [...this.open.values()];
    this.open.clear();
    for (const { reject } of all) reject(error);
  }
}
