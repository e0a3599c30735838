/**
 * How long the rest of a prompt takes, from the batches read so far. Attention looks back over everything before it, so
 * the time of a token grows linearly with its depth; one straight line through the batches tells the rest.
 */
import type { PrefillProgress } from './native/types';

interface Batch {
  tokens: number;
  /** where its middle lies, in tokens from the first one that was read */
  at: number;
  msPerToken: number;
}

/** Fewer batches tell nothing of a slope. */
const minForSlope = 4;

export class PrefillTrend {
  private batches: Batch[] = [];
  private last: PrefillProgress | null = null;

  add(progress: PrefillProgress): void {
    const tokens = progress.done - (this.last?.done ?? 0);
    const ms = progress.elapsedMs - (this.last?.elapsedMs ?? 0);
    this.last = progress;
    if (tokens <= 0 || ms <= 0) return;
    this.batches.push({ tokens, at: progress.done - tokens / 2, msPerToken: ms / tokens });
  }

  /** tokens per second of the last batch; 0 before the first */
  get rateNow(): number {
    const batch = this.batches.at(-1);
    return batch ? 1000 / batch.msPerToken : 0;
  }

  /** null until a batch has been read */
  get msLeft(): number | null {
    if (!this.last || this.batches.length === 0) return null;
    const { done, promptTokens, cachedTokens } = this.last;
    return msBetween(this.batches, done, promptTokens - cachedTokens);
  }
}

function msBetween(all: Batch[], from: number, to: number): number {
  // the first batch pays for reading weights from the disk and for pages that are touched the first time
  const batches = all.length > minForSlope ? all.slice(1) : all;
  const { mean, meanAt, slope } = lineThrough(batches);
  const rest = Math.max(0, to - from);
  const middle = from + rest / 2;
  return rest * (mean + slope * (middle - meanAt));
}

/** Least squares, by tokens. A prompt that gets faster would be a disturbance that has ended: then the mean holds. */
function lineThrough(batches: Batch[]): { mean: number; meanAt: number; slope: number } {
  const total = sum(batches, () => 1);
  const mean = sum(batches, ({ msPerToken }) => msPerToken) / total;
  const meanAt = sum(batches, ({ at }) => at) / total;
  if (batches.length < minForSlope) return { mean, meanAt, slope: 0 };
  const spread = sum(batches, ({ at }) => (at - meanAt) ** 2);
  const rise = sum(batches, ({ at, msPerToken }) => (at - meanAt) * (msPerToken - mean));
  return { mean, meanAt, slope: spread > 0 ? Math.max(0, rise / spread) : 0 };
}

function sum(batches: Batch[], value: (batch: Batch) => number): number {
  return batches.reduce((all, batch) => all + batch.tokens * value(batch), 0);
}
