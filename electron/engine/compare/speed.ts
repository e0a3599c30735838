/** Figures of speed: decoding behind the prompt, again and again, and what they come to. */

import type { CompareFrame, CompareOptions } from '../../contract/compare/compare';
import { type CurvePoint, candidatesKept, type Speed } from '../../contract/compare/figures';
import { type TemplateOptions, templateOptionsIn } from '../../contract/engineContract';
import { answerStats, FrameBatcher } from '../generation';
import { Meter } from '../meter';
import type { ChatMessage, Context, GenerateOptions } from '../native/types';
import type { Column } from './column';

/** decode steps of a round */
export const roundTokens = 16;

const sampling = { temperature: 0, topK: 1, topP: 1, minP: 0, repeatPenalty: 1, seed: 0 };

interface Decoded {
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

/**
 * `reference`: its rounds; null for itself. The ratio is that of the two medians, which are the figures that are shown; how far it
 * varies, rounds that took turns say one by one, since they met the same machine.
 */
export function speedOf(rounds: number[], reference: number[] | null, interleaved: boolean): Speed {
  const own = { interleaved, tokens: roundTokens, rounds, median: median(rounds) };
  if (!reference || reference.length === 0) return { ...own, ratio: null };
  if (interleaved) {
    const ratios = rounds.map((rate, round) => rate / (reference[round] ?? Number.NaN)).filter(Number.isFinite);
    if (ratios.length === 0) return { ...own, ratio: null };
    return {
      ...own,
      ratio: { median: own.median / median(reference), low: Math.min(...ratios), high: Math.max(...ratios) },
    };
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

// Speed and memory over depth: a text fills the cache step by step, and at each depth decoding is timed.

/** decode steps at each depth */
export const curveTokens = 16;

interface CurveOptions {
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

// The answer of a column: its text in frames, its tokens with what else was likely in their place.

export type Prompt = ChatMessage[] | Int32Array;

/** Leaves the answer, its figures and steps in the column. A canceled one leaves what was written until then. */
export async function writeColumn(
  column: Column,
  context: Context,
  prompt: Prompt,
  options: CompareOptions & TemplateOptions,
  ids: { runId: string; index: number },
  send: (frame: CompareFrame) => void,
  signal: AbortSignal,
): Promise<void> {
  const meter = new Meter(context.effective.nCtx);
  const frames = new FrameBatcher(ids, () => meter.stats(), send);
  column.begin('prompt');
  const generator = context.generate(prompt, {
    ...generateOptions(options),
    candidates: candidatesKept,
    signal,
    onPrefill(progress) {
      meter.onPrefill(progress);
      column.progress((progress.cachedTokens + progress.done) / progress.promptTokens);
      frames.add('', '');
    },
  });
  try {
    let answerTokens = 0;
    let next = await generator.next();
    while (!next.done) {
      const chunk = next.value;
      if (column.value.step === 'prompt') column.begin('answer');
      const { token, candidates } = chunk;
      // a mark of the end is no token of the answer
      if (token !== null) column.steps.push({ token, end: chunk.answerTokens === answerTokens, candidates });
      answerTokens = chunk.answerTokens;
      meter.onTokens(chunk);
      frames.add(chunk.text, chunk.thinking);
      column.progress(answerTokens / options.maxTokens);
      next = await generator.next();
    }
    const { stopReason, text, thinking } = next.value;
    column.set({ answer: { text, thinking, stopReason, stats: answerStats(next.value, meter.evaluated, context) } });
  } finally {
    frames.close();
  }
}

function generateOptions({ sampling: all, maxTokens, ...asked }: CompareOptions & TemplateOptions): GenerateOptions {
  const { seed, stop, maxTokens: _, ...sampling } = all;
  return { sampling: { ...sampling, seed: seed ?? 0 }, stop, maxTokens, ...templateOptionsIn(asked) };
}
