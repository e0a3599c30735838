/** Speed and memory over depth: a text fills the cache step by step, and at each depth decoding is timed. */

import type { CurvePoint } from '../../contract/compareFigures';
import type { Context } from '../native/types';
import { timeDecoding } from './speed';

/** decode steps at each depth */
export const curveTokens = 16;

export interface CurveOptions {
  /** of any text, repeated as often as needed */
  filler: Int32Array;
  depths: readonly number[];
  /** bytes of the cache of a context of this length */
  kvBytes: (nCtx: number) => Promise<number>;
  signal: AbortSignal;
  onPoint: (points: CurvePoint[]) => void;
  onProgress: (fraction: number) => void;
}

export async function measureCurve(context: Context, options: CurveOptions): Promise<void> {
  const { filler, kvBytes, signal, onPoint, onProgress } = options;
  const depths = depthsWithin(options.depths, context.effective.nCtx);
  const deepest = depths.at(-1) ?? 0;
  const tokens = filled(filler, Math.max(1, deepest));
  const points: CurvePoint[] = [];
  context.clear();
  for (const depth of depths) {
    // something must be read before anything can be written
    const prefix = tokens.subarray(0, Math.max(1, depth));
    const {
      rate,
      tokens: steps,
      promptRate,
    } = await timeDecoding(context, prefix, curveTokens, signal, (fraction) =>
      onProgress(deepest > 0 ? (fraction * depth) / deepest : 1),
    );
    signal.throwIfAborted();
    const bytes = await kvBytes(depth);
    points.push({ depth, tokensPerSecond: rate, tokens: steps, promptTokensPerSecond: promptRate, kvBytes: bytes });
    onPoint([...points]);
  }
}

/** Ascending, each once, with room for the measured steps behind it. */
export function depthsWithin(depths: readonly number[], nCtx: number): number[] {
  return [...new Set(depths)].filter((depth) => depth + curveTokens + 1 <= nCtx).sort((a, b) => a - b);
}

function filled(tokens: Int32Array, length: number): Int32Array {
  return Int32Array.from({ length }, (_, i) => tokens[i % tokens.length] ?? 0);
}
