/** Bytes a second over the last seconds, steady enough to be read. */

const windowMs = 5000;

export class Speed {
  private samples: { at: number; bytes: number }[] = [];

  constructor(private readonly now: () => number = Date.now) {}

  add(bytes: number): void {
    const at = this.now();
    const last = this.samples.at(-1);
    // some samples a second are enough
    if (last && at - last.at < 100) last.bytes += bytes;
    else this.samples.push({ at, bytes });
  }

  /** 0: nothing arrives */
  perSecond(): number {
    const now = this.now();
    this.samples = this.samples.filter(({ at }) => at > now - windowMs);
    const first = this.samples[0];
    if (!first) return 0;
    const bytes = this.samples.reduce((sum, one) => sum + one.bytes, 0);
    return (bytes / Math.max(500, now - first.at)) * 1000;
  }

  clear(): void {
    this.samples = [];
  }
}
