/**
 * Tells when something changes in folders. Where the system does not watch (too many folders, a network disk, a folder that
 * vanished), it looks again every now and then.
 */
import { type FSWatcher, watch } from 'node:fs';

const restMs = 1000;
/** also while a copy goes on, of which every write is a change */
const mostMs = 15_000;
const pollMs = 20_000;
/** the system has only so many for all programs */
const maxWatched = 500;

export interface WatchTiming {
  restMs: number;
  mostMs: number;
  pollMs: number;
}

export class FolderWatch {
  private readonly watchers = new Map<string, FSWatcher>();
  private resting: NodeJS.Timeout | null = null;
  private firstChange = 0;
  private polling: NodeJS.Timeout | null = null;
  private closed = false;

  constructor(
    private readonly onChange: () => void,
    private readonly timing: WatchTiming = { restMs, mostMs, pollMs },
    private readonly open: typeof watch = watch,
  ) {}

  /** From now on these, each without the folders in it. */
  set(folders: readonly string[]): void {
    if (this.closed) return;
    for (const [folder, watcher] of this.watchers) {
      if (folders.includes(folder)) continue;
      watcher.close();
      this.watchers.delete(folder);
    }
    let blind = folders.length > maxWatched;
    for (const folder of folders.slice(0, maxWatched)) {
      if (!this.watchers.has(folder) && !this.begin(folder)) blind = true;
    }
    this.poll(blind);
  }

  close(): void {
    this.closed = true;
    for (const watcher of this.watchers.values()) watcher.close();
    this.watchers.clear();
    if (this.resting) clearTimeout(this.resting);
    this.poll(false);
  }

  /** False: it is not there, or cannot be watched. */
  private begin(folder: string): boolean {
    try {
      // nothing of this is a reason to keep the app open
      const watcher = this.open(folder, { persistent: false }, () => this.touched());
      watcher.on('error', () => this.onError(folder));
      this.watchers.set(folder, watcher);
      return true;
    } catch {
      return false;
    }
  }

  private onError(folder: string): void {
    this.watchers.get(folder)?.close();
    this.watchers.delete(folder);
    this.poll(true);
    this.touched();
  }

  private touched(): void {
    if (this.closed) return;
    const now = Date.now();
    if (this.resting) clearTimeout(this.resting);
    else this.firstChange = now;
    const wait = Math.min(this.timing.restMs, Math.max(0, this.firstChange + this.timing.mostMs - now));
    this.resting = setTimeout(() => {
      this.resting = null;
      this.onChange();
    }, wait);
    this.resting.unref();
  }

  private poll(on: boolean): void {
    if (!on && this.polling) {
      clearInterval(this.polling);
      this.polling = null;
    }
    if (on) this.polling ??= setInterval(() => this.onChange(), this.timing.pollMs).unref();
  }
}
