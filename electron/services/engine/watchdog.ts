/** Notices an engine process that is alive but does not answer. It only tells: work that is slow must not be ended. */
import type { Stall } from '../../contract/engine';

const tickMs = 5000;

/**
 * Ticks until a wait counts as a stall. A start compiles the GPU's kernels; what was cancelled ends behind the batch
 * that is being read, which takes long on a slow processor.
 */
const limits: Record<Stall, number> = { start: 12, silent: 6, stop: 12 };

/** Counts ticks, not time: a machine that slept must not look like an engine that hangs. */
export class Watchdog {
  /** ticks that each wait has lasted */
  private readonly waits = new Map<Stall, number>();
  private timer: NodeJS.Timeout | null = null;
  private told: Stall | null = null;

  /** `ping` asks the process for a sign of life, while there is a wait for `silent` */
  constructor(
    private readonly ping: () => void,
    private readonly tell: (stall: Stall | null) => void,
  ) {}

  /** `start`: for its first message; `silent`: for any message at all; `stop`: for the end of what was cancelled. */
  begin(wait: Stall): void {
    this.waits.set(wait, 0);
    this.timer ??= setInterval(() => this.tick(), tickMs);
  }

  end(wait: Stall): void {
    this.waits.delete(wait);
    if (this.waits.size === 0) this.stopTimer();
    this.judge();
  }

  /** What is waited for has moved on, if it was waited for. */
  moved(wait: Stall): void {
    if (!this.waits.has(wait)) return;
    this.waits.set(wait, 0);
    this.judge();
  }

  /** The process is gone. */
  clear(): void {
    this.waits.clear();
    this.stopTimer();
    this.judge();
  }

  private tick(): void {
    for (const [wait, ticks] of this.waits) this.waits.set(wait, ticks + 1);
    this.judge();
    if (this.waits.has('silent')) this.ping();
  }

  private judge(): void {
    const over = [...this.waits].filter(([wait, ticks]) => ticks >= limits[wait]).map(([wait]) => wait);
    // a process that says nothing at all is the plainest of them
    const stall = over.find((wait) => wait !== 'stop') ?? over[0] ?? null;
    if (stall === this.told) return;
    this.told = stall;
    this.tell(stall);
  }

  private stopTimer(): void {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
  }
}
