/**
 * How fast a model can write on this machine, told before it is downloaded. To write a token, every weight that works on it is
 * read from memory once, so the measured memory bandwidth divided by those bytes is what the machine can reach at most, in a
 * short chat. It is an upper bound and is shown as one; where a part of it is not known there is no forecast.
 */

import type { Bandwidth, MachineFacts } from '../machine';
import type { GgufHeader } from './gguf';

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
export type WeightsIn = 'ram' | 'unified' | 'gpu';

/** Tokens a second at most; null: not to be told. */
export function tokensPerSecond(
  bytes: number | null,
  facts: Pick<MachineFacts, 'bandwidth'> | null,
  where: WeightsIn,
): number | null {
  const best = facts ? bestBandwidth(facts.bandwidth) : 0;
  if (bytes === null || !(bytes > 0) || !(best > 0) || where === 'gpu') return null;
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
      ? `about ${counted(Math.round(words), 'word')} a second`
      : `about ${counted(Math.max(2, seconds), 'second')} for a word`;
  return `${told}: ${paceOf(rate)}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
