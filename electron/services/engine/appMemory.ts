/** Memory of the app beside the engine process: what belongs to the window, the main process and Chromium's helpers. */
import { readFileSync } from 'node:fs';
import { pagesOf } from '../../contract/pages';

/**
 * Bytes of the processes' own pages; those of programs and libraries, which processes share, are left out. Null where the
 * system does not tell: resident sizes there count shared pages once for each process.
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

/** The app's processes but the engine's. `listed`: with it or without it, and with its other child or without. */
export function besideEngine(
  listed: readonly number[],
  engine: number | undefined,
  other: number | undefined,
): number[] {
  const all = new Set(other === undefined ? listed : [...listed, other]);
  return [...all].filter((pid) => pid !== engine);
}

function procStatus(pid: number): string {
  return readFileSync(`/proc/${pid}/status`, 'utf8');
}
