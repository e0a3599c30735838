/**
 * Live figures of one answer: tokens per second over the last second, the average, time to the first token. Times of tokens
 * are the addon's: when they reach this thread depends on what else it does.
 */

import type { Drafts } from '../contract/chats';
import type { LiveStats } from '../contract/engine';
import type { GenerateChunk, PrefillProgress } from './native/types';

const windowMs = 1000;

interface Sample {
  /** milliseconds from the call */
  at: number;
  tokens: number;
}

export class Meter {
  private readonly startedAt: number;
  private step: 'saving' | 'restoring' | null = null;
  private firstTokenAt: number | null = null;
  private lastTokenAt = 0;
  private prefill: PrefillProgress | null = null;
  private readonly trend = new PrefillTrend();
  private answerTokens = 0;
  private contextUsed = 0;
  private drafts: Drafts = { drafted: 0, accepted: 0, slower: false };
  /** token counts with their times, oldest first; the first one may lie before the window, as its base */
  private samples: Sample[] = [];

  constructor(
    private readonly contextSize: number,
    private readonly now: () => number = () => performance.now(),
    /** tokens are drafted in the context */
    private readonly drafting = false,
  ) {
    this.startedAt = now();
  }

  /** Before the prompt is read. contextUsed: tokens in the cache */
  onStep(step: 'saving' | 'restoring', contextUsed: number): void {
    this.step = step;
    this.contextUsed = contextUsed;
  }

  onPrefill(progress: PrefillProgress): void {
    this.prefill = progress;
    this.trend.add(progress);
    this.contextUsed = progress.cachedTokens + progress.done;
  }

  /** prompt tokens evaluated so far, cached ones apart */
  get evaluated(): number {
    return this.prefill?.done ?? 0;
  }

  onTokens(chunk: Pick<GenerateChunk, 'answerTokens' | 'contextUsed' | 'elapsedMs' | 'drafts'>): void {
    this.contextUsed = chunk.contextUsed;
    this.drafts = chunk.drafts;
    // the last chunk of an answer brings text that was held back, and no token
    if (chunk.answerTokens === this.answerTokens) return;
    const at = chunk.elapsedMs;
    this.firstTokenAt ??= at;
    this.lastTokenAt = at;
    this.answerTokens = chunk.answerTokens;
    this.samples.push({ at, tokens: chunk.answerTokens });
  }

  stats(): LiveStats {
    const prefill = this.prefill;
    return {
      phase: this.firstTokenAt !== null ? 'decode' : prefill || !this.step ? 'prefill' : this.step,
      promptTokens: prefill?.promptTokens ?? 0,
      cachedTokens: prefill?.cachedTokens ?? 0,
      prefillDone: this.evaluated,
      promptTokensPerSecond: rate(this.evaluated, prefill?.elapsedMs ?? 0),
      promptTokensPerSecondNow: this.trend.rateNow,
      prefillMsLeft: this.firstTokenAt === null ? this.trend.msLeft : null,
      ttftMs: this.firstTokenAt,
      answerTokens: this.answerTokens,
      tokensPerSecondNow: this.rateNow(),
      tokensPerSecondAverage: this.rateAverage(),
      contextUsed: this.contextUsed,
      contextSize: this.contextSize,
      ...(this.drafting && { drafts: this.drafts }),
    };
  }

  /** The first token came out of the prefill, so a rate counts the steps after it. */
  private rateAverage(): number {
    if (this.firstTokenAt === null) return 0;
    return rate(this.answerTokens - 1, this.lastTokenAt - this.firstTokenAt);
  }

  private rateNow(): number {
    // the two clocks start at the same call but not at the same instant
    const now = Math.max(this.now() - this.startedAt, this.lastTokenAt);
    while (this.samples.length > 1 && (this.samples[1]?.at ?? now) <= now - windowMs) this.samples.shift();
    const base = this.samples[0];
    if (!base) return 0;
    return rate(this.answerTokens - base.tokens, now - base.at);
  }
}

function rate(count: number, ms: number): number {
  return ms > 0 && count > 0 ? (count / ms) * 1000 : 0;
}

/** Figures of an answer that waits for another one to end. */
export function queuedStats(contextUsed: number, contextSize: number): LiveStats {
  return {
    phase: 'queued',
    promptTokens: 0,
    cachedTokens: 0,
    prefillDone: 0,
    promptTokensPerSecond: 0,
    promptTokensPerSecondNow: 0,
    prefillMsLeft: null,
    ttftMs: null,
    answerTokens: 0,
    tokensPerSecondNow: 0,
    tokensPerSecondAverage: 0,
    contextUsed,
    contextSize,
  };
}

// How long the rest of a prompt takes, from the batches read so far. Attention looks back over everything before it, so
// the time of a token grows linearly with its depth; one straight line through the batches gives the rest.

interface Batch {
  tokens: number;
  /** where its middle lies, in tokens from the first one that was read */
  at: number;
  msPerToken: number;
}

/** Fewer batches say nothing about a slope. */
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
