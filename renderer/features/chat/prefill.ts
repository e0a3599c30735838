import type { LiveStats } from '../../../electron/shared/engine';

export interface Prefill {
  done: number;
  total: number;
  share: number;
  msLeft: number | null;
}

/** How far the prompt has been read. Cached tokens need no reading, so they are no part of the way. */
export function prefillOf(stats: LiveStats): Prefill {
  const total = Math.max(0, stats.promptTokens - stats.cachedTokens);
  const done = Math.min(total, stats.prefillDone);
  const rate = stats.promptTokensPerSecond;
  return {
    done,
    total,
    share: total === 0 ? 0 : done / total,
    msLeft: rate > 0 && total > 0 ? ((total - done) / rate) * 1000 : null,
  };
}
