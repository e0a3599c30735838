/**
 * How fast a model can write on this machine, told before it is downloaded. To write a token, every weight that works on it is
 * read from memory once, so the measured memory bandwidth divided by those bytes is what the machine can reach at most, in a
 * short chat. It is an upper bound and is shown as one; where a part of it is not known there is no forecast.
 */

import { msg, plural } from '@lingui/core/runtime-macro';
import type { Budget } from '../fit';
import type { CatalogEntry } from '../hub';
import type { Bandwidth, MachineFacts } from '../machine';
import type { GgufHeader } from './gguf';
import { say, type Translatable } from './language';

/** Tokens of English text to a word, roughly: what people count in. */
const tokensPerWord = 4 / 3;

/** Tokens a second: below a half of these words people wait for each; most read four or five words a second. */
const verySlow = 2;
const slow = 5;
const quick = 15;

/** Of experts: a mixture keeps all of a layer in one tensor; files of early 2024 have one for each. */
const expertTensor = /_(ch)?exps\.|\.ffn_(gate|up|down)\.\d+\./;
/** Of these a token reads one row. */
const tables = ['token_embd.weight', 'per_layer_token_embd.weight'];
const output = 'output.weight';

interface Part {
  header: Pick<GgufHeader, 'tensors' | 'dataStart' | 'number' | 'text'>;
  /** of the whole file */
  bytes: number;
}

/**
 * Bytes of weights that are read for one token. `parts`: of a split file all, in order. Of a mixture only the experts that
 * work on a token, where the header says how many; else all of them. null: the headers do not tell.
 */
export function bytesPerToken(parts: readonly Part[]): number | null {
  const first = parts[0]?.header;
  const sizes = parts.flatMap(tensorSizes);
  if (!first || sizes.length === 0) return null;
  const tied = !sizes.some(({ name }) => name === output);
  const share = activeShare(first);
  let total = 0;
  for (const { name, bytes, rows } of sizes) {
    // without an output matrix of its own a model reads the whole table of tokens in its place
    if (tables.includes(name) && !(tied && name === tables[0])) total += bytes / Math.max(1, rows);
    else total += expertTensor.test(name) ? bytes * share : bytes;
  }
  return Number.isSafeInteger(Math.round(total)) && total > 0 ? Math.round(total) : null;
}

/** Each tensor takes the room up to the next one: that holds for every type of weights, known here or not. */
function tensorSizes({ header: { tensors, dataStart }, bytes }: Part) {
  if (dataStart === null) return [];
  const ordered = tensors.toSorted((a, b) => a.offset - b.offset);
  return ordered.map(({ name, shape, offset }, index) => {
    const end = ordered[index + 1]?.offset ?? bytes - dataStart;
    return { name, rows: shape[1] ?? 1, bytes: Math.max(0, end - offset) };
  });
}

function activeShare(header: Part['header']): number {
  const architecture = header.text('general.architecture');
  const count = header.number(`${architecture}.expert_count`) ?? 0;
  const used = header.number(`${architecture}.expert_used_count`) ?? 0;
  return count > 0 && used > 0 && used <= count ? used / count : 1;
}

/** Where the weights are read from. Of the memory of a graphics card nothing was measured. */
export type WeightsIn = 'ram' | 'unified' | 'gpu' | 'worker';

/** Tokens a second at most; null: not to be told. */
export function tokensPerSecond(
  bytes: number | null,
  facts: Pick<MachineFacts, 'bandwidth'> | null,
  where: WeightsIn,
): number | null {
  const best = facts ? bestBandwidth(facts.bandwidth) : 0;
  if (bytes === null || !(bytes > 0) || !(best > 0) || where === 'gpu' || where === 'worker') return null;
  return best / bytes;
}

/** Bytes a second with the number of threads that reads fastest; 0: not measured. */
function bestBandwidth(bandwidth: readonly Bandwidth[]): number {
  return Math.max(0, ...bandwidth.map(({ bytesPerSecond }) => bytesPerSecond));
}

export type Pace = 'very slow' | 'slow' | 'as fast as one reads' | 'quick';

export function paceOf(rate: number): Pace {
  if (rate < verySlow) return 'very slow';
  if (rate < slow) return 'slow';
  return rate < quick ? 'as fast as one reads' : 'quick';
}

/** "about 1 word a second: very slow"; for less than one, the seconds of a word. */
export function paceText(rate: number): string {
  const words = rate / tokensPerWord;
  const seconds = Math.round(1 / words);
  const told =
    words >= 0.75
      ? plural({ words: Math.round(words) }, { one: 'about # word a second', other: 'about # words a second' })
      : plural(
          { seconds: Math.max(2, seconds) },
          { one: 'about # second for a word', other: 'about # seconds for a word' },
        );
  return `${say(told)}: ${say(paces[paceOf(rate)])}`;
}

const paces: Record<Pace, Translatable> = {
  'very slow': msg`very slow`,
  slow: msg`slow`,
  'as fast as one reads': msg`as fast as one reads`,
  quick: msg`quick`,
};

// The model that the first screen offers, without a question to the hub: from the parameters that its authors tell.

/** Bits of a weight in a whole file, by quantization: llama.cpp's own table for Llama 3 8B (tools/quantize), 4.25 for MXFP4. */
const bitsOfWeight: Readonly<Record<string, number>> = { Q4_K_M: 4.89, Q8_0: 8.5, MXFP4: 4.25 };
/** Beside its weights: cache and buffers of a context to begin with. What is really needed is told before the download. */
const besideWeights = 2 ** 30;
/** In thousand millions: what most machines run well, where this one was not measured. */
const usualSize = 4;

export interface FirstModel {
  entry: CatalogEntry;
  /** of its file, about */
  bytes: number;
  /** of the memory that it would lie in */
  available: number;
  /** tokens a second at most; null: not to be told */
  rate: number | null;
}

/**
 * Of the entries that are meant for it, the largest that fits and is not slow; where all are slow, the smallest.
 * `budgets`: what may be taken now. null: none fits.
 */
export function firstModelOf(
  entries: readonly CatalogEntry[],
  budgets: readonly Budget[],
  facts: Pick<MachineFacts, 'bandwidth'> | null,
): FirstModel | null {
  const fitting = entries.flatMap((entry) => (entry.first ? (placed(entry, budgets, facts) ?? []) : []));
  const ordered = fitting.toSorted((a, b) => b.bytes - a.bytes);
  return ordered.find(({ pleasant }) => pleasant) ?? ordered.at(-1) ?? null;
}

function placed(
  entry: CatalogEntry,
  budgets: readonly Budget[],
  facts: Pick<MachineFacts, 'bandwidth'> | null,
): (FirstModel & { pleasant: boolean }) | null {
  const bits = bitsOfWeight[entry.quant];
  if (bits === undefined) return null;
  const bytes = entry.bytes ?? (entry.billions * 1e9 * bits) / 8;
  const fits = ({ available }: Budget) => bytes + besideWeights <= available;
  const budget = budgets.find((one) => one.kind !== 'ram' && fits(one)) ?? budgets.find(fits);
  if (!budget) return null;
  const read = entry.active === null ? bytes : (bytes * entry.active) / entry.billions;
  const rate = tokensPerSecond(read, facts, budget.kind);
  const pleasant = rate === null ? budget.kind === 'gpu' || entry.billions <= usualSize : rate >= slow;
  return { entry, bytes, available: budget.available, rate, pleasant };
}
