/** One answer at a time: later requests wait in order, and a waiting one can be cancelled like a running one. */

interface Entry {
  requestId: string;
  controller: AbortController;
}

export class GenerationQueue {
  private readonly entries: Entry[] = [];
  private tail: Promise<unknown> = Promise.resolve();

  get length(): number {
    return this.entries.length;
  }

  /** Runs `task` when all earlier ones have ended. A cancelled task still runs: it sees its signal and ends at once. */
  run<T>(requestId: string, task: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const entry: Entry = { requestId, controller: new AbortController() };
    this.entries.push(entry);
    const result = this.tail.then(() => task(entry.controller.signal));
    const done = () => void this.entries.splice(this.entries.indexOf(entry), 1);
    this.tail = result.then(done, done);
    return result;
  }

  cancel(requestId: string): void {
    for (const entry of this.entries) if (entry.requestId === requestId) entry.controller.abort();
  }

  /** Cancels everything and resolves when nothing runs. */
  async drain(): Promise<void> {
    for (const entry of this.entries) entry.controller.abort();
    await this.tail;
  }
}
