/** Gathers what decode steps add and sends it as frames, at most one in `flushMs`: a window paints 60 times a second. */
import type { LiveStats } from '../contract/engine';

export const flushMs = 25;

export interface FrameContent {
  text: string;
  thinking: string;
  stats: LiveStats;
}

/** `Ids`: what names the answer in each frame. */
export class FrameBatcher<Ids extends object> {
  private text = '';
  private thinking = '';
  private timer: NodeJS.Timeout | null = null;
  private lastSentAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly ids: Ids,
    private readonly stats: () => LiveStats,
    private readonly send: (frame: Ids & FrameContent) => void,
  ) {}

  /** Call it with empty strings when only the figures changed. */
  add(text: string, thinking: string): void {
    this.text += text;
    this.thinking += thinking;
    if (this.timer) return;
    const wait = this.lastSentAt + flushMs - performance.now();
    this.timer = setTimeout(() => this.flush(), Math.max(0, wait));
  }

  /** Sends what is there now, even if it is only figures. */
  flush(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    this.lastSentAt = performance.now();
    const frame = { ...this.ids, text: this.text, thinking: this.thinking, stats: this.stats() };
    this.text = '';
    this.thinking = '';
    this.send(frame);
  }

  /** Sends the rest, if there is any, and stops. */
  close(): void {
    if (this.timer || this.text || this.thinking) this.flush();
  }
}
