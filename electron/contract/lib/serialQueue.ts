/** Runs tasks one at a time, in the order in which they were added. A task that fails does not stop those behind it. */
export class SerialQueue {
  private tail: Promise<void> = Promise.resolve();
  private pending = 0;

  /** tasks that wait or run */
  get size(): number {
    return this.pending;
  }

  /** Settles as `task` does, which starts when all tasks before it have ended. */
  run<T>(task: () => T | Promise<T>): Promise<T> {
    this.pending++;
    const result = this.tail.then(task);
    // the tail keeps no results: they can be whole chats
    const ended = () => void this.pending--;
    this.tail = result.then(ended, ended);
    return result;
  }

  /** Resolves when the tasks added so far have ended, whether they failed or not. */
  idle(): Promise<void> {
    return this.tail;
  }
}
