/** Has the memory figures read once a second, one reading at a time, while anybody looks at them. */

const everyMs = 1000;

export class MemoryWatch {
  private watchers = 0;
  private timer: NodeJS.Timeout | null = null;
  private reading = false;

  constructor(private readonly read: () => Promise<void>) {}

  /** @returns what ends it */
  watch(): () => void {
    this.watchers++;
    this.timer ??= setInterval(() => void this.tick(), everyMs);
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      if (--this.watchers === 0) this.close();
    };
  }

  close(): void {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
  }

  private async tick(): Promise<void> {
    if (this.reading) return;
    this.reading = true;
    // a crash between two readings is told by the crash report
    await this.read().catch(() => undefined);
    this.reading = false;
  }
}
