/** The figures of the result table, each with what it rests on. */
import type { CompareColumn } from '../../../electron/shared/compare';
import { formatBytes, formatContext, formatCount, formatPercent, formatRate, formatRatio } from '../../ui/format';

export interface Figure {
  id: string;
  name: string;
  /** what it means, for the tooltip of its name */
  help: string;
  /** exact; null: not measured */
  of: (column: CompareColumn) => number | null;
  format: (value: number) => string;
  /** below the value: what it rests on; empty: nothing to say */
  basis: (column: CompareColumn) => string;
  /** where the best of a row lies; none: no judgement */
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
  return memory && memory.weights + memory.kvK + memory.kvV + memory.compute;
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
    basis: ({ context, memory }) => {
      if (!context || !memory) return '';
      return `${formatBytes(memory.kvK + memory.kvV)} at ${formatContext(context.nCtx)}`;
    },
    best: 'low',
  },
  {
    id: 'speed-ratio',
    name: 'Speed',
    help: 'Writing behind the prompt, times the speed of the reference: the median of the rounds, in which the columns took turns.',
    of: ({ speed }) => (speed ? (speed.ratio?.median ?? 1) : null),
    format: formatRatio,
    basis: ({ speed }) =>
      speed
        ? `${formatRate(speed.median)} tok/s, ${speed.rounds.length} × ${speed.tokens} tokens${speed.interleaved ? '' : ', not in turns'}`
        : '',
  },
  {
    id: 'mean-kld',
    name: 'Mean KLD',
    help: 'KL divergence from the reference over the tokens of the prompt, in nats. 0: the same probabilities.',
    of: ({ quality }) => quality?.meanKld ?? null,
    format: formatKld,
    basis: ({ quality }) =>
      quality?.meanKldError
        ? `± ${formatKld(quality.meanKldError)}, ${tokens(quality.tokens)}`
        : tokens(quality?.tokens),
    best: 'low',
  },
  {
    id: 'kld-999',
    name: '99.9% KLD',
    help: 'One token in a thousand diverges more than this.',
    of: ({ quality }) => quality?.kld999 ?? null,
    format: formatKld,
    basis: ({ quality }) => tokens(quality?.tokens),
    best: 'low',
  },
  {
    id: 'same-top',
    name: 'Same top',
    help: 'Tokens of the prompt at which the likeliest next token is that of the reference.',
    of: ({ quality }) => quality?.sameTop ?? null,
    format: formatShare,
    basis: ({ quality }) => tokens(quality?.tokens),
    best: 'high',
  },
  {
    id: 'perplexity',
    name: 'Perplexity',
    help: 'How surprised the model is by the prompt itself. Lower is better; small differences are chance.',
    of: ({ quality }) => quality?.perplexity ?? null,
    format: (value) => value.toPrecision(4),
    basis: ({ quality }) => tokens(quality?.tokens),
  },
  {
    id: 'agreement',
    name: 'Same answer',
    help: 'Tokens of the answer that are those of the reference, in the same order, as a share of the longer answer.',
    of: ({ agreement }) => agreement?.share ?? null,
    format: formatShare,
    basis: ({ agreement }) =>
      agreement
        ? `first ${formatCount(agreement.prefix)} of ${tokens(Math.max(agreement.own, agreement.reference))}`
        : '',
    best: 'high',
  },
  {
    id: 'needles',
    name: 'Facts found',
    help: 'Facts that were hidden in the text, at its beginning, its middle and its end, and asked for.',
    of: ({ needles }) => (needles ? needles.found / Math.max(1, needles.results.length) : null),
    format: formatPercent,
    basis: ({ needles }) =>
      needles ? `${needles.found} of ${needles.results.length}, in ${tokens(needles.tokens)}` : '',
    best: 'high',
  },
  {
    id: 'longest',
    name: 'Longest context',
    help: 'The longest context of this type that fits this machine now.',
    of: ({ longest }) => longest?.nCtx ?? null,
    format: formatContext,
    basis: ({ longest }) => (longest ? `takes ${formatBytes(longest.bytes)}` : ''),
    best: 'high',
  },
];
