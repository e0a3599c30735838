/** Memory of this process and of the machine, beside the parts that the engine itself counts. */
import { readFileSync } from 'node:fs';
import os from 'node:os';
import type { PartMemory } from '../../native/binding/types';
import type { Memory } from '../shared/engine';

/** Bytes that a program could still take without swapping. */
function availableBytes(): number {
  if (process.platform !== 'linux') return os.freemem();
  // os.freemem() of Node 18 leaves out the page cache, which holds the model file itself
  try {
    const kib = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1];
    return kib === undefined ? os.freemem() : Number(kib) * 1024;
  } catch {
    return os.freemem();
  }
}

export function withProcessMemory(parts: PartMemory): Memory {
  return { ...parts, process: process.memoryUsage.rss(), total: os.totalmem(), free: availableBytes() };
}
