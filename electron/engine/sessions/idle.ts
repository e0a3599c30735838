/** Runs a task once nothing has been asked for a while. */

export class IdleTimer {
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly ms: number,
    private readonly task: () => void,
  ) {}

  /** Begins to wait, anew. */
  start(): void {
    this.stop();
    this.timer = setTimeout(this.task, this.ms);
    this.timer.unref();
  }

  stop(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }
}
