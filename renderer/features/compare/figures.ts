/** The figures of the result table, each with what it rests on. */

import type { MessageDescriptor } from '@lingui/core';
import { msg, t } from '@lingui/core/macro';
import type { CompareColumn } from '../../../electron/contract/compare/compare';
import { fewAnswered } from '../../../electron/contract/lib/judgement';
import { allocatedBytes } from '../../../electron/contract/lib/memory';
import { i18n } from '../../language';
import {
  formatBytes,
  formatContext,
  formatCount,
  formatDecimal,
  formatDuration,
  formatPercent,
  formatRate,
  formatRatio,
} from '../../ui/format';

export interface Figure {
  id: string;
  name: MessageDescriptor;
  /** what it means, for people */
  help: MessageDescriptor;
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

const tokens = (count: number | undefined) => (count === undefined ? '' : t`${formatCount(count)} tokens`);

export function formatKld(value: number): string {
  if (value === 0) return '0';
  if (value >= 0.001) return formatSignificant(value, 2);
  const [mantissa, exponent] = value.toExponential(1).split('e');
  return `${formatDecimal(Number(mantissa), 1)}e${exponent}`;
}

/** Shares close to 100% are told apart by their tenths. */
export function formatShare(value: number): string {
  if (value === 1) return formatPercent(1);
  const format = new Intl.NumberFormat(i18n.locale, {
    style: 'percent',
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  });
  return value > 0.9995 ? t`over ${format.format(0.999)}` : format.format(value);
}

/** Exactly so many digits that count: "12.50". */
function formatSignificant(value: number, digits: number): string {
  const options = { minimumSignificantDigits: digits, maximumSignificantDigits: digits, useGrouping: false };
  return new Intl.NumberFormat(i18n.locale, options).format(value);
}

function timedText({ rounds, tokens: each, interleaved }: NonNullable<CompareColumn['speed']>): string {
  const count = rounds.length;
  return interleaved ? t`${count} × ${each} tokens` : t`${count} × ${each} tokens, not in turns`;
}

export const figures: readonly Figure[] = [
  {
    id: 'bytes-per-token',
    name: msg`KV per token`,
    help: msg`Bytes of the cache for each token of the context, as the engine allocated them.`,
    of: bytesPerToken,
    format: formatBytes,
    detail: (column) => formatBytes(kvBytes(column) ?? 0),
    rests: ({ context }) => (context ? t`for ${formatContext(context.nCtx)}` : ''),
    best: 'low',
  },
  {
    id: 'load',
    name: msg`Model load`,
    help: msg`Reading the weights of the model. One that was in memory already has none; a file that was read a moment ago loads faster.`,
    of: ({ model }) => model?.loadMs ?? null,
    format: formatDuration,
  },
  {
    id: 'speed-ratio',
    name: msg`Speed`,
    help: msg`Writing behind the prompt: the median of the rounds, in which the columns took turns, as it is and times that of the reference.`,
    of: ({ speed }) => (speed ? (speed.ratio?.median ?? 1) : null),
    format: formatRatio,
    detail: ({ speed }) => (speed ? `${formatRate(speed.median)} tok/s` : ''),
    rests: ({ speed }) => (speed ? timedText(speed) : ''),
  },
  {
    id: 'mean-kld',
    name: msg`Mean KLD`,
    help: msg`KL divergence from the reference over the tokens of the prompt, in nats. 0: the same probabilities.`,
    of: ({ quality }) => quality?.meanKld ?? null,
    format: formatKld,
    detail: ({ quality }) => (quality?.meanKldError ? `± ${formatKld(quality.meanKldError)}` : ''),
    rests: ({ quality }) => tokens(quality?.tokens),
    best: 'low',
  },
  {
    id: 'kld-999',
    name: msg`99.9% KLD`,
    help: msg`One token in a thousand diverges more than this.`,
    of: ({ quality }) => quality?.kld999 ?? null,
    format: formatKld,
    rests: ({ quality }) => tokens(quality?.tokens),
    best: 'low',
  },
  {
    id: 'same-top',
    name: msg`Same top`,
    help: msg`Tokens of the prompt at which the likeliest next token is that of the reference.`,
    of: ({ quality }) => quality?.sameTop ?? null,
    format: formatShare,
    rests: ({ quality }) => tokens(quality?.tokens),
    best: 'high',
  },
  {
    id: 'perplexity',
    name: msg`Perplexity`,
    help: msg`How surprised the model is by the prompt itself. Lower is better; small differences are chance.`,
    of: ({ quality }) => quality?.perplexity ?? null,
    format: (value) => formatSignificant(value, 4),
    rests: ({ quality }) => tokens(quality?.tokens),
  },
  {
    id: 'agreement',
    name: msg`Same answer`,
    help: msg`Tokens of the answer that are those of the reference, in the same order, as a share of the longer answer; words where a model has another vocabulary.`,
    of: ({ agreement }) => agreement?.share ?? null,
    format: formatShare,
    detail: ({ agreement: same }) =>
      same && Math.max(same.own, same.reference) < fewAnswered
        ? t`too short to tell`
        : same
          ? t`first ${formatCount(same.prefix)} of ${formatCount(Math.max(same.own, same.reference))}`
          : '',
    rests: ({ agreement }) => (agreement?.words ? t`words, the end counted` : t`tokens, the end counted`),
    best: 'high',
  },
  {
    id: 'needles',
    name: msg`Facts found`,
    help: msg`Facts that were hidden in the text, from its beginning to its end, and asked for.`,
    of: ({ needles }) => (needles ? needles.found / Math.max(1, needles.results.length) : null),
    format: formatPercent,
    detail: ({ needles }) => (needles ? t`${needles.found} of ${needles.results.length}` : ''),
    rests: ({ needles }) => (needles ? t`in ${tokens(needles.tokens)}` : ''),
    best: 'high',
  },
  {
    id: 'tool-calls',
    name: msg`Tool calls`,
    help: msg`Calls of tools that were right: the tool, its arguments, all of them, and no others.`,
    of: ({ tools }) => (tools ? tools.right / Math.max(1, tools.results.length) : null),
    format: formatPercent,
    detail: ({ tools }) => (tools ? t`${tools.right} of ${tools.results.length}` : ''),
    best: 'high',
  },
  {
    id: 'longest',
    name: msg`Longest context`,
    help: msg`The longest context of this type that fits this machine now.`,
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
