/** Memory of this process and of the machine, beside the parts that the engine itself counts. */
import { readFileSync } from 'node:fs';
import os from 'node:os';
import type { Memory } from '../contract/engine';
import type { MachineMemory } from '../contract/fit';
import { type Pages, pagesOf } from '../contract/pages';
import { groupMemory } from './controlGroup';
import type { Context, DeviceMemory } from './native/types';

export type FreeMemory = MachineMemory['ram'];

/** `memories`: the engine's; on macOS it knows better than Node how much RAM is free */
export function freeMemory(memories: DeviceMemory[]): FreeMemory {
  const told = memories.find(({ kind }) => kind === 'ram')?.free;
  const group = groupMemory();
  const free = told ?? os.freemem();
  return {
    free: Math.min(free, group?.free ?? free),
    total: Math.min(os.totalmem(), group?.total ?? os.totalmem()),
    releasable: kibibytes('/proc/self/status', 'RssAnon'),
  };
}

/** `filePagesBefore`: as `filePages` told before the weights were mapped. The app's other processes are added by their parent. */
export function withProcessMemory(
  context: Pick<Context, 'memory' | 'devices'>,
  memories: DeviceMemory[],
  filePagesBefore: number | null,
): Memory {
  const { free, total } = freeMemory(memories);
  const weightsMapped = context.devices().reduce((sum, { mapped }) => sum + mapped, 0);
  const resident = residentOf(ownPages(), filePagesBefore, weightsMapped);
  return {
    ...context.memory(),
    weightsMapped,
    process: process.memoryUsage.rss(),
    resident,
    app: null,
    total,
    free,
  };
}

/** Bytes of files (programs, libraries, the model) that are in the memory of this process; null where it is not told. */
export function filePages(): number | null {
  return ownPages()?.file ?? null;
}

/** What was mapped since `before` is taken for the model, which is far larger than what else is touched later. */
export function residentOf(now: Pages | null, before: number | null, weightsMapped: number): Memory['resident'] {
  if (!now || before === null) return null;
  return { own: now.own, weights: Math.min(weightsMapped, Math.max(0, now.file - before)) };
}

function ownPages(): Pages | null {
  if (process.platform !== 'linux') return null;
  try {
    return pagesOf(readFileSync('/proc/self/status', 'utf8'));
  } catch {
    return null;
  }
}

/** Bytes of a line like "MemAvailable:  123 kB"; null where there is no such file or line. */
function kibibytes(file: string, key: string): number | null {
  if (process.platform !== 'linux') return null;
  try {
    const found = new RegExp(`^${key}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(file, 'utf8'))?.[1];
    return found === undefined ? null : Number(found) * 1024;
  } catch {
    return null;
  }
}
