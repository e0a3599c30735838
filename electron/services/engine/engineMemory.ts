/** The memory figures of the status: the engine's own, and with them what the app's other processes take. */

import { readFileSync } from 'node:fs';
import type { Memory } from '../../contract/engine';
import { pagesOf } from '../../contract/machine';
import type { EngineHost } from './engineHost';
import type { LiveStatus } from './engineStatus';

export class EngineMemory {
  private readonly reader = new MemoryWatch(() => this.read());

  constructor(
    private readonly host: EngineHost,
    private readonly status: LiveStatus,
    /** bytes of the app's processes without the engine; null: not known */
    private readonly appMemory: () => number | null,
  ) {}

  /** Keeps the figures fresh until the returned function is called. */
  watch(): () => void {
    return this.reader.watch();
  }

  close(): void {
    this.reader.close();
  }

  /** The engine's figures, which do not include the app. */
  withApp(memory: Memory): Memory {
    return { ...memory, app: this.appMemory() };
  }

  private async read(): Promise<void> {
    if (!['ready', 'generating'].includes(this.status.current.state)) return;
    const { memory, contextUsed } = await this.host.client.call('memory', undefined);
    if (!memory || !this.status.current.context) return;
    const read = this.withApp(memory);
    const shown = this.status.current.memory;
    if (shown && contextUsed === this.status.current.contextUsed && looksTheSame(shown, read)) return;
    this.status.update({ memory: read, contextUsed });
  }
}

// Whether two readings of the memory look the same to a person: each update makes every window draw its strip again.

/** figures are shown with three digits */
const visibleShare = 0.005;
const visibleBytes = 1024 * 1024;

/** `shown`: what the windows show now, so that small steps cannot add up unseen. */
export function looksTheSame(shown: Memory, now: Memory): boolean {
  return (
    alike(shown.weights, now.weights) &&
    alike(shown.weightsMapped, now.weightsMapped) &&
    shown.kvK === now.kvK &&
    shown.kvV === now.kvV &&
    shown.kvF16 === now.kvF16 &&
    alike(shown.compute, now.compute) &&
    shown.draft.kv === now.draft.kv &&
    alike(shown.draft.weights, now.draft.weights) &&
    alike(shown.draft.compute, now.draft.compute) &&
    alike(shown.projector.weights, now.projector.weights) &&
    alike(shown.projector.compute, now.projector.compute) &&
    shown.promptCache === now.promptCache &&
    alike(shown.promptCacheUsed, now.promptCacheUsed) &&
    alike(shown.process, now.process) &&
    alike(shown.resident?.own ?? null, now.resident?.own ?? null) &&
    alike(shown.resident?.weights ?? null, now.resident?.weights ?? null) &&
    alike(shown.app, now.app) &&
    shown.total === now.total &&
    alike(shown.free, now.free)
  );
}

function alike(a: number | null, b: number | null): boolean {
  if (a === null || b === null) return a === b;
  return Math.abs(a - b) <= Math.max(visibleBytes, visibleShare * Math.max(a, b));
}

// Has the memory figures read once a second, one reading at a time, while anybody looks at them.

const everyMs = 1000;

class MemoryWatch {
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
    // a crash between two readings shows in the crash report
    await this.read().catch(() => undefined);
    this.reading = false;
  }
}

// Memory of the app beside the engine process: what belongs to the window, the main process and Chromium's helpers.

/**
 * Bytes of the processes' own pages; those of programs and libraries, which processes share, are left out. Null where the
 * system does not report them: resident sizes there count shared pages once for each process.
 */
export function appMemory(pids: readonly number[], readStatus: (pid: number) => string = procStatus): number | null {
  if (process.platform !== 'linux') return null;
  let bytes = 0;
  for (const pid of pids) {
    try {
      bytes += pagesOf(readStatus(pid))?.own ?? 0;
    } catch {
      // it has ended since it was listed
    }
  }
  return bytes;
}

/** The app's processes but the engine's. `listed`: with it or without it, and with its other children or without. */
export function besideEngine(
  listed: readonly number[],
  engine: number | undefined,
  others: readonly (number | undefined)[],
): number[] {
  const all = new Set([...listed, ...others].filter((pid) => pid !== undefined));
  return [...all].filter((pid) => pid !== engine);
}

function procStatus(pid: number): string {
  return readFileSync(`/proc/${pid}/status`, 'utf8');
}
