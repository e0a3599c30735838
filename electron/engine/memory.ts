/** Memory of this process and of the machine, beside the parts that the engine itself counts. */

import { readFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import type { Memory } from '../contract/engine';
import { ConcertinaError } from '../contract/errors';
import type { DeviceMemory, DeviceUse, MachineMemory } from '../contract/fit';
import { type MemoryProbe, type Pages, pagesOf } from '../contract/machine';
import type { Context, Engine } from './native/types';

type FreeMemory = MachineMemory['ram'];

/** `memories`: the engine's; on macOS it knows better than Node how much RAM is free */
export function freeMemory(memories: DeviceMemory[]): FreeMemory {
  const reported = memories.find(({ kind }) => kind === 'ram')?.free;
  const group = groupMemory();
  const free = reported ?? os.freemem();
  return {
    free: Math.min(free, group?.free ?? free),
    total: Math.min(os.totalmem(), group?.total ?? os.totalmem()),
    releasable: kibibytes('/proc/self/status', 'RssAnon'),
  };
}

/** `filePagesBefore`: what `filePages` returned before the weights were mapped. The app's other processes are added by their parent. */
export function withProcessMemory(
  context: Pick<Context, 'memory'>,
  memories: DeviceMemory[],
  filePagesBefore: number | null,
): Memory {
  const { free, total } = freeMemory(memories);
  const { parts, devices } = context.memory();
  const weightsMapped = devices.reduce((sum, { mapped }) => sum + mapped, 0);
  const resident = residentOf(ownPages(), filePagesBefore, weightsMapped);
  return {
    ...parts,
    weightsMapped,
    process: process.memoryUsage.rss(),
    resident,
    app: null,
    total,
    free,
    workers: placesOf(devices, 'worker'),
    gpus: placesOf(devices, 'gpu'),
  };
}

function placesOf(devices: DeviceUse[], wanted: DeviceUse['kind']): Memory['workers'] {
  const found = devices.filter(({ kind }) => kind === wanted);
  return found.map(({ name, weights, context, compute }) => ({ name, weights, context, compute }));
}

/** Bytes of files (programs, libraries, the model) that are in the memory of this process; null where the system does not report it. */
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

// What the control groups of this process (of a container, of a systemd unit) leave of the memory. Linux only.

interface GroupMemory {
  /** bytes that this process may still take */
  free: number;
  /** the lowest limit */
  total: number;
}

interface Version {
  /** folder under /sys/fs/cgroup */
  mount: string;
  limit: string;
  usage: string;
  /** keys of memory.stat: page cache of files, which is given up when memory runs short, as MemAvailable counts it */
  cache: string[];
}

const v2: Version = {
  mount: '',
  limit: 'memory.max',
  usage: 'memory.current',
  cache: ['inactive_file', 'active_file'],
};
const v1: Version = {
  mount: 'memory',
  limit: 'memory.limit_in_bytes',
  usage: 'memory.usage_in_bytes',
  cache: ['total_inactive_file', 'total_active_file'],
};

/** null: nothing limits it. `root`: for tests. */
export function groupMemory(root = '/'): GroupMemory | null {
  const groups = folders(text(join(root, 'proc/self/cgroup')) ?? '').map(({ version, path }) =>
    read(join(root, 'sys/fs/cgroup', version.mount, path), version),
  );
  const limited = groups.filter((group) => group !== null);
  if (limited.length === 0) return null;
  return {
    free: Math.min(...limited.map(({ free }) => free)),
    total: Math.min(...limited.map(({ total }) => total)),
  };
}

/** The group of the process and every group around it: each may have a limit. */
function folders(lines: string): { version: Version; path: string }[] {
  return lines.split('\n').flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) return [];
    const version = controllers === '' ? v2 : controllers.split(',').includes('memory') ? v1 : null;
    if (!version) return [];
    // in a container the path may be the host's; its own group is then what is mounted at the top
    const names = path.split('/').filter(Boolean);
    return Array.from({ length: names.length + 1 }, (_, depth) => ({ version, path: names.slice(0, depth).join('/') }));
  });
}

function read(folder: string, { limit, usage, cache }: Version): GroupMemory | null {
  const total = Number(text(join(folder, limit)) ?? 'max'); // v2 says "max" where there is no limit
  const used = Number(text(join(folder, usage)) ?? Number.NaN);
  // v1 says so with a number larger than any memory
  if (!Number.isFinite(total) || !Number.isFinite(used) || total >= 2 ** 60) return null;
  const stat = text(join(folder, 'memory.stat')) ?? '';
  const cached = cache.reduce((sum, key) => sum + Number(new RegExp(`^${key} (\\d+)$`, 'm').exec(stat)?.[1] ?? 0), 0);
  return { free: Math.max(0, total - used + cached), total };
}

function text(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return null;
  }
}

// Measures how fast the memory is read. It takes all cores for some seconds, so an answer goes before it and ends it.

/** far above the caches */
const wantedBytes = 256 * 2 ** 20;
const leastBytes = 64 * 2 ** 20;

export class Prober {
  private running: AbortController | null = null;

  constructor(
    private readonly engine: () => Engine,
    private readonly isAsked: () => boolean,
    /** ends what else computes */
    private readonly clear: () => Promise<void>,
    private readonly report: (fraction: number) => void,
  ) {}

  async probe(): Promise<MemoryProbe> {
    if (this.isAsked()) {
      throw new ConcertinaError('busy', msg`An answer is being written.`, msg`Measure when it has ended.`);
    }
    this.cancel();
    const controller = new AbortController();
    this.running = controller;
    try {
      await this.clear();
      // no burden for a machine that is short of memory
      const { free, total } = freeMemory(this.engine().memories());
      const bytes = Math.floor(Math.min(wantedBytes, free / 8) / 4096) * 4096;
      const options = { onProgress: this.report, signal: controller.signal };
      const bandwidth = bytes < leastBytes ? [] : await this.engine().probeBandwidth(bytes, options);
      return { totalBytes: total, freeBytes: free, bandwidth };
    } finally {
      if (this.running === controller) this.running = null;
    }
  }

  get isBusy(): boolean {
    return this.running !== null;
  }

  cancel(): void {
    this.running?.abort();
  }
}
