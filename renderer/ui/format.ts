/** Numbers for people. Exact values go into data attributes and tooltips beside them. */

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
const grouped = new Intl.NumberFormat('en');
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const days = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });

/** Three significant digits at the most, as in "71.3 MiB". */
export function formatBytes(bytes: number): string {
  if (!Number.isFinite(bytes) || bytes <= 0) return '0 B';
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  // 1023.7 KiB rounds to a number that belongs to the next unit.
  if (Math.round(value) >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${significant(value)} ${units[unit]}`;
}

export function formatCount(count: number): string {
  return grouped.format(Math.round(count));
}

/** A number in little room, where its size is what matters: 1.25M, 340. */
export function formatShortCount(count: number): string {
  return compact.format(count);
}

/** "Nov 3, 2026"; empty for what is no date. */
export function formatDay(iso: string): string {
  const time = Date.parse(iso);
  return Number.isNaN(time) ? '' : days.format(time);
}

/** A context length in little room: 8K, 128K, 1M; a length that is no round number in full. */
export function formatContext(tokens: number): string {
  if (tokens >= 1024 * 1024 && tokens % (1024 * 1024) === 0) return `${tokens / 1024 / 1024}M`;
  return tokens >= 1024 && tokens % 1024 === 0 ? `${tokens / 1024}K` : formatCount(tokens);
}

export function formatRate(perSecond: number): string {
  if (!Number.isFinite(perSecond) || perSecond <= 0) return '0';
  return perSecond >= 1000 ? formatCount(perSecond) : significant(perSecond);
}

export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return '–';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(seconds < 9.995 ? 2 : 1)} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${String(whole % 60).padStart(2, '0')} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** Waiting time that is only known roughly. */
export function formatTimeLeft(ms: number): string {
  if (ms < 1500) return 'a moment';
  const seconds = ms / 1000;
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return `${Math.ceil(seconds / 60)} min`;
}

export function formatRatio(ratio: number): string {
  return Number.isFinite(ratio) && ratio > 0 ? `${ratio.toFixed(ratio < 10 ? 2 : 1)}×` : '–';
}

/** Parameters of a model: 28.3 M, 7.2 B. */
export function formatParameters(count: number): string {
  if (count >= 1e9) return `${significant(count / 1e9)} B`;
  if (count >= 1e6) return `${significant(count / 1e6)} M`;
  return formatCount(count);
}

export function formatPercent(fraction: number): string {
  return `${Math.round(Math.min(1, Math.max(0, fraction)) * 100)}%`;
}

function significant(value: number): string {
  if (value >= 99.95) return String(Math.round(value));
  return value >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

// Words for what fits into the memory.

/** Cache types of K and V in little room: "turbo4", or "turbo4 / turbo3". */
export function typesText(typeK: string, typeV: string): string {
  return typeK === typeV ? typeK : `${typeK} / ${typeV}`;
}

interface OfferWords {
  typeK: string;
  typeV: string;
  nCtx: number;
  bytes: number;
  gives: 'types' | 'length' | 'both';
}

/** "turbo4: fits, 1.20 GiB" or "12K fits with these types, 1.20 GiB". */
export function offerText({ typeK, typeV, nCtx, bytes, gives }: OfferWords): string {
  const types = typesText(typeK, typeV);
  const length = formatContext(nCtx);
  if (gives === 'types') return `${types}: fits, ${formatBytes(bytes)}`;
  if (gives === 'length') return `${length} fits with these types, ${formatBytes(bytes)}`;
  return `${types} and ${length}: fits, ${formatBytes(bytes)}`;
}

interface GrowWords extends Omit<OfferWords, 'gives'> {
  /** bytes that are allocated now; null: not known */
  before: number | null;
  otherTypes: boolean;
  read: { tokens: number; kept: boolean; perSecond: number } | null;
}

/** On a button: "Grow the context to 131,072: 1.20 GiB more". */
export function growText({ typeK, typeV, nCtx, bytes, before, otherTypes }: GrowWords): string {
  const what = `Grow the context to ${formatCount(nCtx)}${otherTypes ? ` with ${typesText(typeK, typeV)}` : ''}`;
  if (before === null) return `${what}: ${formatBytes(bytes)} in all`;
  return `${what}: ${formatBytes(Math.abs(bytes - before))} ${bytes < before ? 'less' : 'more'}`;
}

/** What becomes of what the model has read of the chat; empty: it has read nothing. */
export function readAgainText({ read }: Pick<GrowWords, 'read'>): string {
  if (!read) return '';
  const tokens = `The ${formatCount(read.tokens)} tokens that were read`;
  if (read.kept) return `${tokens} are kept.`;
  const time = read.perSecond > 0 ? `, ${formatTimeLeft((read.tokens / read.perSecond) * 1000)}` : '';
  return `${tokens} are read again with the next question${time}.`;
}

/** Of messages that the model does not read, because the context is too short for all. `verb`: at the answer, or before it. */
export function leftOutText(count: number, verb: 'left out' | 'will be left out'): string {
  const messages = count === 1 ? 'The oldest message' : `The ${formatCount(count)} oldest messages`;
  if (verb === 'will be left out') return `${messages} ${verb}.`;
  return `${messages} ${count === 1 ? 'was' : 'were'} ${verb}.`;
}

/** Of questions whose passages make room. `verb`: at the answer, or before it. */
export function releasedText(questions: number, verb: 'left' | 'will leave'): string {
  const whose = questions === 1 ? 'an earlier question' : `${formatCount(questions)} earlier questions`;
  if (verb === 'left')
    return `To make room, the passages of ${whose} left the prompt. The chat was read again from there.`;
  return `To make room, the passages of ${whose} will leave the prompt; the words stay.`;
}

interface DraftWords {
  drafted: number;
  accepted: number;
  slower: boolean;
}

/** "12 of 16 tokens accepted": of those that were drafted from the text. */
export function draftsText({ drafted, accepted, slower }: DraftWords): string {
  const count = drafted === 0 ? 'no tokens' : `${formatCount(accepted)} of ${formatCount(drafted)} tokens accepted`;
  return slower ? `${count}; off for this chat, because it was slower` : count;
}
