/** How far a summary is, in words and shares. Pure. */
import { openPart, type Summary } from '../../../electron/contract/summaries';
import { formatCount, formatTimeLeft } from '../../ui/format';

const names: Record<Summary['kind'], string> = { summary: 'summary', outline: 'outline' };

/** What is being done: "Part 3 of 9: Pages 25-36". */
export function stepText(summary: Summary): string {
  const { kind, parts } = summary;
  if (parts.length === 0) return 'Cutting the document into parts';
  const index = openPart(summary);
  const part = parts[index];
  if (!part) return parts.length === 1 ? 'Reading' : `Joining the ${names[kind]} of the whole`;
  const same = parts.filter(({ source }) => source.kind === part.source.kind);
  if (part.source.kind === 'parts') {
    return `Joining ${part.label.toLowerCase()}, group ${same.indexOf(part) + 1} of ${same.length}`;
  }
  return `Part ${same.indexOf(part) + 1} of ${formatCount(same.length)}: ${part.label}`;
}

/** Tokens of parts that are done, of all. */
export function shareDone({ parts }: Summary): number {
  const all = parts.reduce((sum, { tokens }) => sum + tokens, 0);
  const done = parts.reduce((sum, { tokens, ms }) => sum + (ms === null ? 0 : tokens), 0);
  return all === 0 ? 0 : done / all;
}

/** From how long the parts so far took; the last joining counts as one part. Null: none is done, nothing is known. */
export function leftText({ parts }: Summary): string | null {
  const done = parts.filter(({ ms }) => ms !== null);
  const ms = done.reduce((sum, part) => sum + (part.ms ?? 0), 0);
  const tokens = done.reduce((sum, part) => sum + part.tokens, 0);
  if (done.length === 0 || tokens === 0 || done.length === parts.length) return null;
  const left = parts.reduce((sum, part) => sum + (part.ms === null ? part.tokens : 0), 0);
  return `about ${formatTimeLeft((left / tokens) * ms + ms / done.length)} left`;
}

/** What was done, for a summary that has ended. */
export function doneText({ parts }: Summary): string {
  const read = parts.filter(({ source }) => source.kind === 'document');
  const done = read.filter(({ ms }) => ms !== null).length;
  return done === read.length
    ? `Read in ${formatCount(read.length)} parts`
    : `${formatCount(done)} of ${formatCount(read.length)} parts are read`;
}
