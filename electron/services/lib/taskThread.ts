/** A worker thread that answers tasks: started by the first one, and ended when nothing was asked of it for a while. */

import { Worker } from 'node:worker_threads';
import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError } from '../../contract/errors';
import type { FromThread, ToThread, WorkerName } from '../../contract/workerTasks';
import { Emitter } from './emitter';

export interface ThreadParts {
  /** bundle of electron/workers/main.ts */
  workerFile: string;
  worker: WorkerName;
  /** after so long without a task, what the thread keeps leaves the memory with it */
  idleMs: number;
  /** what is said of the tasks of a thread that ended by itself; the next task starts a new one */
  lost(cause: Error): ConcertinaError;
}

interface Open<Answer> {
  asker: string | undefined;
  resolve: (answer: Answer) => void;
  reject: (error: ConcertinaError) => void;
}

export class TaskThread<Task, Answer> {
  /** of tasks with an asker, 0 to 1; none for those that are soon done */
  readonly progress = new Emitter<{ asker: string; fraction: number }>();
  private worker: Worker | null = null;
  private idle: NodeJS.Timeout | undefined;
  private readonly open = new Map<number, Open<Answer>>();
  private count = 0;

  constructor(private readonly parts: ThreadParts) {}

  /** A newer task of the same asker ends the older one, which rejects with `cancelled`. */
  ask(task: Task, asker?: string): Promise<Answer> {
    if (asker !== undefined) this.cancel(asker);
    const id = ++this.count;
    return new Promise((resolve, reject) => {
      this.open.set(id, { resolve, reject, asker });
      this.post({ id, task });
    });
  }

  /** Ends the open task of an asker, if there is one. */
  cancel(asker: string): void {
    for (const [id, open] of this.open) {
      if (open.asker !== asker) continue;
      this.post({ id, cancel: true });
      open.reject(new ConcertinaError('cancelled', msg`This task was canceled.`));
      this.settle(id);
    }
  }

  async close(): Promise<void> {
    this.fail(new ConcertinaError('cancelled', msg`The app is being closed.`));
    await this.terminate();
  }

  private post(message: ToThread<Task>): void {
    clearTimeout(this.idle);
    this.worker ??= this.start();
    this.worker.postMessage(message);
  }

  private start(): Worker {
    const worker = new Worker(this.parts.workerFile, { workerData: this.parts.worker, env: {}, execArgv: [] });
    worker.on('message', (message: FromThread<Answer>) => this.onMessage(message));
    worker.on('error', (error) => this.onExit(worker, error));
    worker.on('exit', (code) => this.onExit(worker, new Error(`exit code ${code}`)));
    // a task that is under way is no reason to keep the app open
    worker.unref();
    return worker;
  }

  private onMessage(message: FromThread<Answer>): void {
    const open = this.open.get(message.id);
    if (!open) return;
    const { asker } = open;
    if ('fraction' in message) {
      if (asker !== undefined) this.progress.emit({ asker, fraction: message.fraction });
      return;
    }
    if ('answer' in message) open.resolve(message.answer);
    else open.reject(ConcertinaError.fromPayload(message.error));
    this.settle(message.id);
  }

  private settle(id: number): void {
    this.open.delete(id);
    if (this.open.size > 0) return;
    clearTimeout(this.idle);
    this.idle = setTimeout(() => void this.terminate(), this.parts.idleMs).unref();
  }

  private async terminate(): Promise<void> {
    clearTimeout(this.idle);
    const { worker } = this;
    this.worker = null;
    await worker?.terminate();
  }

  private onExit(worker: Worker, cause: Error): void {
    if (this.worker !== worker) return;
    this.worker = null;
    this.fail(this.parts.lost(cause));
  }

  private fail(error: ConcertinaError): void {
    const open = [...this.open.values()];
    this.open.clear();
    for (const one of open) one.reject(error);
  }
}
