/** The figures of the result table, each with what it rests on. */

import type { CompareColumn } from '../../../electron/contract/compare';
import { fewAnswered } from '../../../electron/contract/lib/judgement';
import { allocatedBytes } from '../../../electron/contract/lib/memory';
import { formatBytes, formatContext, formatCount, formatPercent, formatRate, formatRatio } from '../../ui/format';

export interface Figure {
  id: string;
  name: string;
  /** what it means, for people */
  help: string;
  /** exact; null: not measured */
  of: (column: CompareColumn) => number | null;
  format: (value: number) => string;
  /** below the value: the same in other terms, or how sure it is */
  detail?: (column: CompareColumn) => string;
  /** what it was measured over; empty: nothing to say */
  rests?: (column: CompareColumn) => string;
  /** where the best of a row lies; none: no judgment */
  best?: 'low' | 'high';
}

export function kvBytes({ memory }: CompareColumn): number | null {
  return memory && memory.kvK + memory.kvV;
}

/** Of the cache, for each token that the context has room for. */
export function bytesPerToken(column: CompareColumn): number | null {
  const bytes = kvBytes(column);
  return bytes === null || !column.context ? null : bytes / column.context.nCtx;
}

export function totalBytes({ memory }: CompareColumn): number | null {
  return memory && allocatedBytes(memory);
}

const tokens = (count: number | undefined) => (count === undefined ? '' : `${formatCount(count)} tokens`);

export function formatKld(value: number): string {
  if (value === 0) return '0';
  return value < 0.001 ? value.toExponential(1) : value.toPrecision(2);
}

/** Shares close to 100% are told apart by their tenths. */
export function formatShare(value: number): string {
  if (value === 1) return '100%';
  return value > 0.9995 ? 'over 99.9%' : `${(value * 100).toFixed(1)}%`;
}

export const figures: readonly Figure[] = [
  {
    id: 'bytes-per-token',
    name: 'KV per token',
    help: 'Bytes of the cache for each token of the context, as the engine allocated them.',
    of: bytesPerToken,
    format: formatBytes,
    detail: (column) => formatBytes(kvBytes(column) ?? 0),
    rests: ({ context }) => (context ? `for ${formatContext(context.nCtx)}` : ''),
    best: 'low',
  },
  {
    id: 'speed-ratio',
    name: 'Speed',
    help: 'Writing behind the prompt: the median of the rounds, in which the columns took turns, as it is and times that of the reference.',
    of: ({ speed }) => (speed ? (speed.ratio?.median ?? 1) : null),
    format: formatRatio,
    detail: ({ speed }) => (speed ? `${formatRate(speed.median)} tok/s` : ''),
    rests: ({ speed }) =>
      speed ? `${speed.rounds.length} × ${speed.tokens} tokens${speed.interleaved ? '' : ', not in turns'}` : '',
  },
  {
    id: 'mean-kld',
    name: 'Mean KLD',
    help: 'KL divergence from the reference over the tokens of the prompt, in nats. 0: the same probabilities.',
    of: ({ quality }) => quality?.meanKld ?? null,
    format: formatKld,
    detail: ({ quality }) => (quality?.meanKldError ? `± ${formatKld(quality.meanKldError)}` : ''),
    rests: ({ quality }) => tokens(quality?.tokens),
    best: 'low',
  },
  {
    id: 'kld-999',
    name: '99.9% KLD',
    help: 'One token in a thousand diverges more than this.',
    of: ({ quality }) => quality?.kld999 ?? null,
    format: formatKld,
    rests: ({ quality }) => tokens(quality?.tokens),
    best: 'low',
  },
  {
    id: 'same-top',
    name: 'Same top',
    help: 'Tokens of the prompt at which the likeliest next token is that of the reference.',
    of: ({ quality }) => quality?.sameTop ?? null,
    format: formatShare,
    rests: ({ quality }) => tokens(quality?.tokens),
    best: 'high',
  },
  {
    id: 'perplexity',
    name: 'Perplexity',
    help: 'How surprised the model is by the prompt itself. Lower is better; small differences are chance.',
    of: ({ quality }) => quality?.perplexity ?? null,
    format: (value) => value.toPrecision(4),
    rests: ({ quality }) => tokens(quality?.tokens),
  },
  {
    id: 'agreement',
    name: 'Same answer',
    help: 'Tokens of the answer that are those of the reference, in the same order, as a share of the longer answer.',
    of: ({ agreement }) => agreement?.share ?? null,
    format: formatShare,
    detail: ({ agreement: same }) =>
      same && Math.max(same.own, same.reference) < fewAnswered
        ? 'too short to tell'
        : same
          ? `first ${formatCount(same.prefix)} of ${formatCount(Math.max(same.own, same.reference))}`
          : '',
    rests: () => 'tokens, the end counted',
    best: 'high',
  },
  {
    id: 'needles',
    name: 'Facts found',
    help: 'Facts that were hidden in the text, at its beginning, its middle and its end, and asked for.',
    of: ({ needles }) => (needles ? needles.found / Math.max(1, needles.results.length) : null),
    format: formatPercent,
    detail: ({ needles }) => (needles ? `${needles.found} of ${needles.results.length}` : ''),
    rests: ({ needles }) => (needles ? `in ${tokens(needles.tokens)}` : ''),
    best: 'high',
  },
  {
    id: 'longest',
    name: 'Longest context',
    help: 'The longest context of this type that fits this machine now.',
    of: ({ longest }) => longest?.nCtx ?? null,
    format: formatContext,
    detail: ({ longest }) => (longest ? formatBytes(longest.bytes) : ''),
    best: 'high',
  },
];

/** What all columns have it rest on, to be said once; null: they differ, and each says its own. */
export function commonBasis({ of, rests }: Figure, columns: readonly CompareColumn[]): string | null {
  const all = new Set(columns.filter((column) => of(column) !== null).map((column) => rests?.(column) ?? ''));
  return all.size === 1 ? ([...all][0] ?? '') : null;
}
