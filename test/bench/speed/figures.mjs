// Figures of a run, from the events of the measuring program. Ratios are made within a round, where all variants met the
// same machine, and only then reduced to a median; absolute speeds are medians of their own.

import { REFERENCE, stockName } from './options.mjs';

/** Parts of a run, by the name the events give them, and their name in the JSON object. */
const PARTS = {
  decode: 'decode',
  prefill: 'prefill',
  'attention-decode': 'attentionDecode',
  'attention-prefill': 'attentionPrefill',
  prompt: 'prompt',
};

/**
 * @typedef {{event: string} & Record<string, string | number | boolean>} Event as the measuring program prints it: its name and
 *   the fields of its kind
 * @typedef {{median: number, p10: number, p90: number, rounds: number}} Ratio
 * @typedef {{rounds: number, tokensPerSecond: number, vsStockQ8_0: Ratio | null, vsSameKernelQ8_0: Ratio | null, vsStockF16: Ratio | null, bytesPerToken?: number, bytesPerSecond?: number, ofBandwidth?: number}} Cell
 * @typedef {Record<string, Record<string, Cell>>} Part by variant, then by depth in tokens
 * @typedef {{vsStockQ8_0: Record<string, Record<string, number>>, vsSameKernelQ8_0: Record<string, Record<string, number>>, model: Record<string, string | number>, bandwidth: Record<string, number>, variants: Record<string, Record<string, string | number | boolean>>, leftOut: string[], decode?: Part, prefill?: Part, attentionDecode?: Part, attentionPrefill?: Part, prompt?: Part}} Figures
 */

/**
 * The q-quantile by linear interpolation between the nearest ranks.
 * @param {number[]} values at least one
 */
export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const low = Math.floor(at);
  const below = sorted[low];
  return below + (sorted[Math.min(low + 1, sorted.length - 1)] - below) * (at - low);
}

export const median = (values) => quantile(values, 0.5);

/**
 * How many times as fast `samples` is as `reference`, round by round.
 * @param {Map<number, number>} samples seconds by round
 * @param {Map<number, number> | undefined} reference
 * @returns {Ratio | null} null when no round has both
 */
export function ratioOf(samples, reference) {
  const ratios = [...samples].flatMap(([round, seconds]) => {
    const base = reference?.get(round);
    return base === undefined ? [] : [base / seconds];
  });
  if (ratios.length === 0) return null;
  const [p10, p90] = [quantile(ratios, 0.1), quantile(ratios, 0.9)].map(rounded);
  return { median: rounded(median(ratios)), p10, p90, rounds: ratios.length };
}

/** Four digits: more are noise. */
const rounded = (value) => Number(value.toPrecision(4));

/**
 * @param {Event[]} events
 * @returns {Figures} JSON's part that the events decide
 */
export function figuresOf(events) {
  const of = (name) => events.filter(({ event }) => event === name);
  const { event: _, ...model } = of('model')[0] ?? {};
  const bandwidth = {};
  for (const { threads, bytesPerSecond } of of('bandwidth')) {
    bandwidth[threads] = Math.max(bandwidth[threads] ?? 0, bytesPerSecond);
  }
  const variants = {};
  for (const { event: _, name, ...rest } of of('variant')) variants[name] = rest;

  const figures = { model, bandwidth, variants, leftOut: of('cut').map(sayCut) };
  const fastest = Math.max(0, ...Object.values(bandwidth));
  for (const [what, part] of Object.entries(PARTS)) {
    const samples = groupSamples(
      of('sample').filter((sample) => sample.what === what),
      Object.keys(variants),
    );
    if (Object.keys(samples).length === 0) continue;
    figures[part] = mapSamples(samples, (name, depth, entry) => {
      const bytes = bytesRead(part, model, variants[name], Number(depth));
      return describe(samples, depth, entry, bytes, fastest);
    });
  }
  const ours = Object.keys(figures.decode ?? {}).filter((name) => !variants[name]?.stock);
  const column = (key) =>
    Object.fromEntries(
      ours.map((name) => [
        name,
        Object.fromEntries(
          Object.entries(figures.decode[name]).flatMap(([depth, cell]) =>
            cell[key] ? [[depth, cell[key].median]] : [],
          ),
        ),
      ]),
    );
  return { vsStockQ8_0: column('vsStockQ8_0'), vsSameKernelQ8_0: column('vsSameKernelQ8_0'), ...figures };
}

function sayCut({ what, depth, rounds }) {
  return `${what} at depth ${depth}: ${rounds === 0 ? 'not measured' : `${rounds} complete rounds only`}, for want of time`;
}

/**
 * @param {string[]} names in the order that they get: rounds begin with one variant after the other
 * @returns {Record<string, Record<string, {tokens: number, seconds: Map<number, number>}>>} by variant and depth
 */
function groupSamples(samples, names) {
  const groups = Object.fromEntries(names.map((name) => [name, {}]));
  for (const { variant, depth, round, tokens, seconds } of samples) {
    groups[variant][depth] ??= { tokens, seconds: new Map() };
    groups[variant][depth].seconds.set(round, seconds);
  }
  return Object.fromEntries(Object.entries(groups).filter(([, depths]) => Object.keys(depths).length > 0));
}

function mapSamples(samples, body) {
  return Object.fromEntries(
    Object.entries(samples).map(([name, depths]) => [
      name,
      Object.fromEntries(Object.entries(depths).map(([depth, entry]) => [depth, body(name, depth, entry)])),
    ]),
  );
}

/** Bytes that one step must bring from memory at least: the cache up to here and, in the whole model, the weights. */
function bytesRead(part, model, variant, depth) {
  if (!variant?.plainCache || !(part === 'decode' || part === 'attentionDecode')) return null;
  return variant.bytesPerPosition * (depth + 1) + (part === 'decode' ? model.weightBytes : 0);
}

function describe(samples, depth, { tokens, seconds }, bytes, bandwidth) {
  const typical = median([...seconds.values()]);
  const cell = {
    rounds: seconds.size,
    tokensPerSecond: rounded(tokens / typical),
    vsStockQ8_0: ratioOf(seconds, samples[stockName(REFERENCE)]?.[depth]?.seconds),
    vsSameKernelQ8_0: ratioOf(seconds, samples[REFERENCE]?.[depth]?.seconds),
    vsStockF16: ratioOf(seconds, samples[stockName('f16')]?.[depth]?.seconds),
  };
  if (bytes === null || bandwidth === 0) return cell;
  return {
    ...cell,
    bytesPerToken: bytes,
    bytesPerSecond: rounded(bytes / typical),
    ofBandwidth: rounded(bytes / typical / bandwidth),
  };
}
