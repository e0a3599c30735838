/** Figures of speed: decoding behind the prompt, again and again, and what they come to. */

import type { Speed } from '../../contract/compareFigures';
import type { Context } from '../native/types';

/** decode steps of a round */
export const roundTokens = 16;

const sampling = { temperature: 0, topK: 1, topP: 1, minP: 0, repeatPenalty: 1, seed: 0 };

export interface Decoded {
  /** steps that were timed */
  tokens: number;
  /** per second */
  rate: number;
  /** of reading what was not in the cache yet; null: nothing to speak of */
  promptRate: number | null;
}

/** Reads `prefix` as far as the cache does not hold it, and times `tokens` decode steps behind it. */
export async function timeDecoding(
  context: Context,
  prefix: Int32Array,
  tokens: number,
  signal: AbortSignal,
  onRead: (fraction: number) => void = () => {},
): Promise<Decoded> {
  const generator = context.generate(prefix, {
    ...{ sampling, stop: [], ignoreEnd: true, signal },
    // the first token comes out of the prompt, without a step of its own
    maxTokens: tokens + 1,
    onPrefill: ({ promptTokens, cachedTokens, done }) => onRead((cachedTokens + done) / promptTokens),
  });
  let next = await generator.next();
  while (!next.done) next = await generator.next();
  const { decodeTokens, decodeMs, promptMs, promptTokens, cachedTokens } = next.value;
  const read = promptTokens - cachedTokens;
  return {
    tokens: decodeTokens,
    rate: decodeMs > 0 ? (decodeTokens / decodeMs) * 1000 : 0,
    promptRate: read > 1 && promptMs > 0 ? (read / promptMs) * 1000 : null,
  };
}

/** `reference`: its rounds; null for itself. Rounds that took turns are compared one by one: they met the same machine. */
export function speedOf(rounds: number[], reference: number[] | null, interleaved: boolean): Speed {
  const own = { interleaved, tokens: roundTokens, rounds, median: median(rounds) };
  if (!reference || reference.length === 0) return { ...own, ratio: null };
  if (interleaved) {
    const ratios = rounds.map((rate, round) => rate / (reference[round] ?? Number.NaN)).filter(Number.isFinite);
    if (ratios.length === 0) return { ...own, ratio: null };
    return { ...own, ratio: { median: median(ratios), low: Math.min(...ratios), high: Math.max(...ratios) } };
  }
  const ratio = {
    median: own.median / median(reference),
    low: Math.min(...rounds) / Math.max(...reference),
    high: Math.max(...rounds) / Math.min(...reference),
  };
  return { ...own, ratio: Object.values(ratio).every(Number.isFinite) ? ratio : null };
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [below = 0, above = 0] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[middle]];
  return (below + above) / 2;
}
