import type { LiveStats } from '../../../electron/contract/engine';
import { formatCount, formatRate } from '../../ui/format';

export interface Prefill {
  done: number;
  total: number;
  share: number;
  /** when the figures were taken */
  msLeft: number | null;
}

/** How far the prompt has been read. Cached tokens need no reading, so they are no part of the way. */
export function prefillOf(stats: LiveStats): Prefill {
  const total = Math.max(0, stats.promptTokens - stats.cachedTokens);
  const done = Math.min(total, stats.prefillDone);
  return {
    done,
    total,
    share: total === 0 ? 0 : done / total,
    msLeft: total > 0 ? stats.prefillMsLeft : null,
  };
}

/** Below the bar; each half only where there is something to tell. */
export function rateText({ promptTokensPerSecondNow: rate, cachedTokens }: LiveStats): string {
  const cached = `${formatCount(cachedTokens)} already in the cache`;
  const parts = [...(rate > 0 ? [`${formatRate(rate)} tok/s`] : []), ...(cachedTokens > 0 ? [cached] : [])];
  return parts.join(', ');
}
