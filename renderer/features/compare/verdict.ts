/** What a cache type costs and saves, as one plain sentence made of measured figures alone. */
import type { CompareColumn, CompareRun } from '../../../electron/shared/compare';
import { formatBytes, formatCount, formatRatio } from '../../ui/format';
import { columnName } from './columnText';
import { bytesPerToken, formatKld, formatShare } from './figures';

export interface Verdict {
  name: string;
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
    const name = columnName(column, columns);
    return { name, sentence: sentenceOf(column, reference, name, columnName(reference, columns)) };
  });
}

function sentenceOf(column: CompareColumn, reference: CompareColumn, name: string, base: string): string {
  const own = bytesPerToken(column) ?? 0;
  const other = bytesPerToken(reference) ?? 0;
  const size =
    own <= other
      ? `takes ${formatRatio(other / own)} less cache memory than ${base}`
      : `takes ${formatRatio(own / other)} as much cache memory as ${base}`;
  const parts = [
    `${size} (${formatBytes(own)} instead of ${formatBytes(other)} per token)`,
    speedPart(column),
    qualityPart(column),
  ];
  const [last, ...before] = parts.filter((part) => part !== '').reverse();
  return `${name} ${before.length > 0 ? `${before.reverse().join(', ')} and ${last}` : last}.`;
}

function speedPart({ speed }: CompareColumn): string {
  if (!speed?.ratio) return '';
  return `writes at ${formatRatio(speed.ratio.median)} its speed`;
}

function qualityPart({ quality }: CompareColumn): string {
  if (!quality || quality.sameTop === null || quality.meanKld === null) return '';
  const share = formatShare(quality.sameTop);
  return `has the same likeliest token at ${share} of ${formatCount(quality.tokens)} tokens (mean KLD ${formatKld(quality.meanKld)})`;
}

function isTurbo({ configuration: { typeK, typeV } }: CompareColumn): boolean {
  return typeK.startsWith('turbo') && typeV.startsWith('turbo');
}
