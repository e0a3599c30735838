/** What a cache type costs and saves, as one plain sentence made of measured figures alone. */
import type { CompareColumn, CompareRun } from '../../../electron/contract/compare';
import { formatBytes, formatCount, formatRatio } from '../../ui/format';
import { columnName } from './columnText';
import { bytesPerToken, formatKld, formatShare } from './figures';

/** scored tokens below which a share is chance */
const fewTokens = 256;
/** of the fastest round to the slowest one, from which on both are named */
const wideSpread = 1.15;

export interface Verdict {
  name: string;
  /** what follows the name */
  sentence: string;
}

/** Of the turbo columns, each as soon as it has figures; where none was asked for, of the smallest other column. */
export function verdictsOf({ columns, request }: CompareRun): Verdict[] {
  const reference = columns[request.options.reference];
  if (!reference || bytesPerToken(reference) === null) return [];
  const others = columns.filter((column) => column !== reference && bytesPerToken(column) !== null);
  const turbo = others.filter(isTurbo);
  const smallest = [...others].sort((a, b) => (bytesPerToken(a) ?? 0) - (bytesPerToken(b) ?? 0)).slice(0, 1);
  return (columns.some(isTurbo) ? turbo : smallest).map((column) => {
    const spoken = (one: CompareColumn) => columnName(one, columns).replace(', ', ' at ');
    return { name: spoken(column), sentence: sentenceOf(column, reference, spoken(reference)) };
  });
}

function sentenceOf(column: CompareColumn, reference: CompareColumn, base: string): string {
  const own = bytesPerToken(column) ?? 0;
  const other = bytesPerToken(reference) ?? 0;
  const size = own <= other ? `${times(other / own)} smaller than` : `${times(own / other)} as large as`;
  const parts = [
    `keeps the cache ${size} ${base} (${formatBytes(own)} instead of ${formatBytes(other)} per token)`,
    speedPart(column),
    qualityPart(column),
  ];
  const [last, ...before] = parts.filter((part) => part !== '').reverse();
  const costs = before.length > 0 ? `${before.reverse().join(', ')} and ${last}` : last;
  return `${[costs, answerPart(column)].filter(Boolean).join('; ')}.`;
}

/** Rounds on both sides of the reference's speed say no more than that it is about the same. */
function speedPart({ speed }: CompareColumn): string {
  if (!speed?.ratio) return '';
  const { median, low, high } = speed.ratio;
  const count = speed.rounds.length;
  if (count === 1) return `writes ${times(median)} as fast (one round)`;
  const range = `${formatRatio(low)} to ${formatRatio(high)} in ${count} rounds`;
  if (low <= 1 && high >= 1) return `writes about as fast (${range})`;
  return `writes ${times(median)} as fast${high / low > wideSpread ? ` (${range})` : ''}`;
}

function qualityPart({ quality }: CompareColumn): string {
  if (!quality || quality.sameTop === null || quality.meanKld === null) return '';
  const of = `${formatShare(quality.sameTop)} of ${formatCount(quality.tokens)} tokens`;
  const few = quality.tokens < fewTokens ? ', too few to judge by' : '';
  return `has the same likeliest next token at ${of}${few} (mean KLD ${formatKld(quality.meanKld)})`;
}

function answerPart({ agreement }: CompareColumn): string {
  if (!agreement) return '';
  if (agreement.share === 1) return 'its answer is the same to the last token';
  if (agreement.prefix === 0) return 'its answer differs from the first token on';
  const longer = formatCount(Math.max(agreement.own, agreement.reference));
  return `its answer is the same for the first ${formatCount(agreement.prefix)} of ${longer} tokens`;
}

function times(ratio: number): string {
  return `${formatRatio(ratio).replace('×', '')} times`;
}

function isTurbo({ configuration: { typeK, typeV } }: CompareColumn): boolean {
  return typeK.startsWith('turbo') || typeV.startsWith('turbo');
}
