/** Measures how fast the memory is read. It takes all cores for some seconds, so an answer goes before it and ends it. */

import { ConcertinaError } from '../contract/errors';
import type { MemoryProbe } from '../contract/machine';
import { freeMemory } from './memory';
import type { Engine } from './native/types';

/** far above the caches */
const wantedBytes = 256 * 2 ** 20;
const leastBytes = 64 * 2 ** 20;

export class Prober {
  private running: AbortController | null = null;

  constructor(
    private readonly engine: () => Engine,
    private readonly isBusy: () => boolean,
    private readonly report: (fraction: number) => void,
  ) {}

  async probe(): Promise<MemoryProbe> {
    if (this.isBusy()) {
      throw new ConcertinaError('busy', 'An answer is being written.', 'Measure when it has ended.');
    }
    this.cancel();
    const controller = new AbortController();
    this.running = controller;
    try {
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

  cancel(): void {
    this.running?.abort();
  }
}
