/**
 * Quality without reading: perplexity and KL divergence over the prompt. What the reference says of each token lies in a
 * file, so that two caches need never be in memory together, and the reference is evaluated once for all columns.
 */

import { mkdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { CompareColumn } from '../../contract/compare/compare';
import type { Agreement, Candidate, Difference, Quality } from '../../contract/compare/figures';
import { commonPrefix } from '../contextReuse';
import type { Context } from '../native/types';
import type { Step } from './column';

/** evaluated text is cut into no smaller chunks */
export const leastTokens = 16;
/** of the reference's file */
const mostBytes = 4 * 1024 ** 3;
/** left on the disk for everybody else */
const reserveBytes = 512 * 1024 ** 2;

interface QualityOptions {
  signal: AbortSignal;
  onProgress: (fraction: number) => void;
}

export class QualityCheck {
  private recorded = false;

  private constructor(
    private readonly folder: string,
    private readonly tokens: Int32Array,
    private readonly score: number,
    /** why fewer tokens are scored than were asked for; empty: they are not */
    readonly note: string,
  ) {}

  /** null: the prompt is too short. `asked`: tokens to score at the most */
  static async prepare(
    folder: string,
    tokens: Int32Array,
    vocabulary: number,
    asked: number,
  ): Promise<QualityCheck | null> {
    if (tokens.length < leastTokens) return null;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const { bavail, bsize } = await statfs(folder);
    const room = Math.min(mostBytes, bavail * bsize - reserveBytes);
    const wanted = Math.min(asked, scoredOf(tokens.length));
    const score = Math.min(wanted, Math.floor(room / (vocabulary * 4)));
    if (score < 1) throw new Error('the disk is almost full, and the reference needs a file');
    const note =
      score < wanted ? `Only the last ${score} tokens are scored: the file of the reference has its limit.` : '';
    return new QualityCheck(folder, tokens, score, note);
  }

  async reference(context: Context, options: QualityOptions): Promise<Quality> {
    const found = await context.recordEvaluation(this.tokens, this.file, this.options(options));
    this.recorded = true;
    return { ...found, meanKld: 0, meanKldError: 0, kld999: 0, sameTop: 1 };
  }

  /** Without a reference there is only the perplexity. */
  async column(context: Context, options: QualityOptions): Promise<Quality> {
    if (this.recorded) return context.evaluateAgainst(this.tokens, this.file, this.options(options));
    return perplexityOf(context, this.tokens, options.signal);
  }

  /** Removes the files. */
  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true }).catch(() => undefined);
  }

  private get file(): string {
    return join(this.folder, 'reference');
  }

  private options({ signal, onProgress }: QualityOptions) {
    return { chunk: this.tokens.length, score: this.score, signal, onProgress };
  }
}

/** Without a reference. */
export function perplexityOf(context: Context, tokens: Int32Array, signal: AbortSignal): Promise<Quality> {
  return context.evaluate(tokens, undefined, signal);
}

/** The second half of a text; its last token predicts nothing. */
export function scoredOf(tokens: number): number {
  return tokens - Math.floor(tokens / 2) - 1;
}

// What any change of the cache costs with the weights of a file: their products round the activations, so a cache that is all but
// exact diverges from f16 too, and one that diverges no more cannot be told from it.

/** All but exact: 8.5 bits. */
export const floorType = 'q8_0';

type Measured = Pick<CompareColumn, 'configuration' | 'quality'>;

/** Whether it has to be measured beside the columns: the reference is f16, and none of them tells. */
export function lacksFloor(columns: readonly Measured[], reference: Measured): boolean {
  return isOf(reference, 'f16') && !columns.some((column) => isOf(column, floorType));
}

/** A sentence or two for a person; empty where there is no floor. `measured`: of `floorType`, beside the columns. */
export function floorNote(columns: readonly Measured[], reference: Measured, measured: Quality | null): string {
  const own = columns.find((column) => isOf(column, floorType));
  const floor = measured ?? (isOf(reference, 'f16') ? own?.quality : null);
  if (!floor || floor.meanKld === null) return '';
  const limit = floor.meanKld + (floor.meanKldError ?? 0);
  const below = columns.filter((column) => {
    const kld = column.quality?.meanKld ?? Number.POSITIVE_INFINITY;
    // of the very same cache it is 0
    return column !== reference && column !== own && kld > 0 && kld <= limit;
  });
  const value = Number(floor.meanKld.toPrecision(2));
  const what = `With the weights of this file any change of the cache shows: ${floorType}, which is all but exact, has a mean KLD of ${value}.`;
  if (below.length === 0) return what;
  return `${what} Not above that, and so not to be told from f16: ${below.map(nameOf).join(', ')}.`;
}

function isOf({ configuration: { typeK, typeV } }: Measured, type: string): boolean {
  return typeK === type && typeV === type;
}

function nameOf({ configuration: { typeK, typeV } }: Measured): string {
  return typeK === typeV ? typeK : `${typeK}/${typeV}`;
}

// Where two answers part, how likely each column held both ways for, and how much of them is the same.

/** One of two answers. */
interface Side {
  steps: Step[];
  text: string;
}

/** `textOf`: of tokens as the vocabulary writes them. Null: one answer is the beginning of the other. */
export function differenceOf(own: Side, reference: Side, textOf: (tokens: number[]) => string): Difference | null {
  const index = commonPrefix(tokensOf(own.steps), tokensOf(reference.steps));
  const ownStep = own.steps[index];
  const referenceStep = reference.steps[index];
  if (!ownStep || !referenceStep) return null;
  const before = textOf(own.steps.slice(0, index).map(({ token }) => token));
  const candidate = ({ token, end }: Step): Candidate => ({
    token,
    text: end ? '' : textOf([token]),
    end,
    probability: probabilityOf(token, ownStep),
    referenceProbability: probabilityOf(token, referenceStep),
  });
  return {
    index,
    offset: offsetIn(own.text, before, reference.text),
    referenceOffset: offsetIn(reference.text, before, own.text),
    own: candidate(ownStep),
    reference: candidate(referenceStep),
  };
}

export function agreementOf(own: readonly Step[], reference: readonly Step[]): Agreement {
  return sharedBy(tokensOf(own), tokensOf(reference));
}

function tokensOf(steps: readonly Step[]): number[] {
  return steps.map(({ token }) => token);
}

function sharedBy<T>(own: readonly T[], reference: readonly T[]): Agreement {
  const longer = Math.max(own.length, reference.length);
  const share = longer === 0 ? 1 : commonSubsequence(own, reference) / longer;
  return { prefix: commonPrefix(own, reference), own: own.length, reference: reference.length, share };
}

function probabilityOf(token: number, { candidates }: Step): number | null {
  return candidates.find((candidate) => candidate.token === token)?.probability ?? null;
}

/**
 * The text of the tokens in common is where the answer goes on, unless it was rewritten on its way: thinking taken out, a
 * character that two tokens share. Then it is the first character that differs.
 */
function offsetIn(text: string, before: string, other: string): number {
  if (text.startsWith(before)) return before.length;
  let same = 0;
  while (same < Math.min(text.length, other.length) && text[same] === other[same]) same++;
  return same;
}

/** Length of the longest sequence that both have in the same order. */
function commonSubsequence<T>(a: readonly T[], b: readonly T[]): number {
  let above = new Uint32Array(b.length + 1);
  for (const one of a) {
    const row = new Uint32Array(b.length + 1);
    for (const [j, other] of b.entries()) {
      row[j + 1] = other === one ? (above[j] ?? 0) + 1 : Math.max(above[j + 1] ?? 0, row[j] ?? 0);
    }
    above = row;
  }
  return above[b.length] ?? 0;
}

// The same by words, where the models have no tokens in common.

interface Word {
  text: string;
  offset: number;
}

/** stands behind the last word of an answer that came to its end; no word of a text */
const endOfAnswer = '';

/** White space is no word, and the last word of an answer that was cut off may be a part of one. */
function wordsOf({ text, steps }: Side): Word[] {
  const words: Word[] = [];
  for (const { segment, index } of segments.segment(text)) {
    if (segment.trim() !== '') words.push({ text: segment, offset: index });
  }
  if (steps.at(-1)?.end) words.push({ text: endOfAnswer, offset: text.length });
  else words.pop();
  return words;
}

const segments = new Intl.Segmenter('en', { granularity: 'word' });

/** `difference` null: one answer is the beginning of the other. */
export function partingOf(own: Side, reference: Side): { difference: Difference | null; agreement: Agreement } {
  const [ownWords, referenceWords] = [wordsOf(own), wordsOf(reference)];
  const texts = (words: Word[]) => words.map(({ text }) => text);
  const agreement: Agreement = { ...sharedBy(texts(ownWords), texts(referenceWords)), words: true };
  const [ownWord, referenceWord] = [ownWords[agreement.prefix], referenceWords[agreement.prefix]];
  if (!ownWord || !referenceWord) return { difference: null, agreement };
  const candidate = ({ text }: Word): Candidate => ({
    ...{ token: null, text, end: text === endOfAnswer },
    ...{ probability: null, referenceProbability: null },
  });
  return {
    difference: {
      ...{ index: agreement.prefix, offset: ownWord.offset, referenceOffset: referenceWord.offset },
      ...{ own: candidate(ownWord), reference: candidate(referenceWord) },
    },
    agreement,
  };
}
