/** Numbers, and words for them, in the language of the window. Exact values go into data attributes and tooltips beside them. */
import { plural, t } from '@lingui/core/macro';
import { i18n } from '../language';

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

const formats = new Map<string, Intl.NumberFormat>();

/** `options` are few and small: their text is the key. */
function inLanguage(value: number, options: Intl.NumberFormatOptions = {}): string {
  const key = `${i18n.locale} ${JSON.stringify(options)}`;
  const format = formats.get(key) ?? new Intl.NumberFormat(i18n.locale, options);
  formats.set(key, format);
  return format.format(value);
}

/** As many digits behind the decimal point as `digits`, without grouping: "7.20". */
export function formatDecimal(value: number, digits: number): string {
  return inLanguage(value, { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false });
}

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
  return inLanguage(Math.round(count));
}

/** A number in little room, where its size is what matters: 1.25M, 340. */
export function formatShortCount(count: number): string {
  return inLanguage(count, { notation: 'compact', maximumSignificantDigits: 3 });
}

/** "Nov 3, 2026"; empty for what is no date. */
export function formatDay(iso: string): string {
  const time = Date.parse(iso);
  return Number.isNaN(time) ? '' : new Intl.DateTimeFormat(i18n.locale, { dateStyle: 'medium' }).format(time);
}

/** "Nov 3, 2026, 2:05 PM" */
export function formatMoment(ms: number): string {
  return new Intl.DateTimeFormat(i18n.locale, { dateStyle: 'medium', timeStyle: 'short' }).format(ms);
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
  if (ms < 1000) return t`${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 59.95) return t`${formatDecimal(seconds, seconds < 9.995 ? 2 : 1)} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return t`${minutes} min ${String(whole % 60).padStart(2, '0')} s`;
  return t`${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** Waiting time that is only known roughly. */
export function formatTimeLeft(ms: number): string {
  if (ms < 1500) return t`a moment`;
  const seconds = ms / 1000;
  if (seconds < 90) return t`${Math.ceil(seconds)} s`;
  return t`${Math.ceil(seconds / 60)} min`;
}

export function formatRatio(ratio: number): string {
  return Number.isFinite(ratio) && ratio > 0 ? `${formatDecimal(ratio, ratio < 10 ? 2 : 1)}×` : '–';
}

/** "tuned.gguf × 0.5" */
export function adapterText(file: string, scale: number): string {
  return `${file} × ${new Intl.NumberFormat(i18n.locale, { maximumFractionDigits: 2 }).format(scale)}`;
}

/** Parameters of a model: 28.3 M, 7.2 B. */
export function formatParameters(count: number): string {
  if (count >= 1e9) return t`${significant(count / 1e9)} B`;
  if (count >= 1e6) return t`${significant(count / 1e6)} M`;
  return formatCount(count);
}

export function formatPercent(fraction: number): string {
  return inLanguage(Math.min(1, Math.max(0, fraction)), { style: 'percent' });
}

/** As a list in a sentence: "a, b and c". */
export function formatList(items: readonly string[]): string {
  return new Intl.ListFormat(i18n.locale).format(items);
}

function significant(value: number): string {
  if (value >= 99.95) return formatDecimal(value, 0);
  return formatDecimal(value, value >= 9.995 ? 1 : 2);
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
  const size = formatBytes(bytes);
  if (gives === 'types') return t`${types}: fits, ${size}`;
  if (gives === 'length') return t`${length} fits with these types, ${size}`;
  return t`${types} and ${length}: fits, ${size}`;
}

interface GrowWords extends Omit<OfferWords, 'gives'> {
  /** bytes that are allocated now; null: not known */
  before: number | null;
  otherTypes: boolean;
  read: { tokens: number; kept: boolean; perSecond: number } | null;
}

/** On a button: "Grow the context to 131,072: 1.20 GiB more". */
export function growText({ typeK, typeV, nCtx, bytes, before, otherTypes }: GrowWords): string {
  const length = formatCount(nCtx);
  const types = typesText(typeK, typeV);
  const what = otherTypes ? t`Grow the context to ${length} with ${types}` : t`Grow the context to ${length}`;
  const size = formatBytes(before === null ? bytes : Math.abs(bytes - before));
  if (before === null) return t`${what}: ${size} in all`;
  return bytes < before ? t`${what}: ${size} less` : t`${what}: ${size} more`;
}

/** What becomes of what the model has read of the chat; empty: it has read nothing. */
export function readAgainText({ read }: Pick<GrowWords, 'read'>): string {
  if (!read) return '';
  const tokens = formatCount(read.tokens);
  if (read.kept) return t`The ${tokens} tokens that were read are kept.`;
  if (read.perSecond <= 0) return t`The ${tokens} tokens that were read are read again with the next question.`;
  const time = formatTimeLeft((read.tokens / read.perSecond) * 1000);
  return t`The ${tokens} tokens that were read are read again with the next question, ${time}.`;
}

/** Of a brief in place of messages: what it takes to write it, and the price afterwards. Tokens; seconds, null: not known. */
export function briefCostText(cost: { read: number; most: number; readAgain: number; seconds: number | null }): string {
  const [read, most, again] = [formatCount(cost.read), formatCount(cost.most), formatCount(cost.readAgain)];
  if (cost.seconds === null)
    return t`${read} tokens to read and at most ${most} to write; then about ${again} are read again with the next question.`;
  const time = formatTimeLeft(cost.seconds * 1000);
  return t`${read} tokens to read and at most ${most} to write, about ${time}; then about ${again} are read again with the next question.`;
}

/** Of messages that the model does not read, because the context is too short for all. `when`: at the answer, or at the next one. */
export function leftOutText(count: number, when: 'then' | 'next'): string {
  if (when === 'next') {
    return plural(count, {
      one: 'The oldest message will be left out.',
      other: 'The # oldest messages will be left out.',
    });
  }
  return plural(count, { one: 'The oldest message was left out.', other: 'The # oldest messages were left out.' });
}

/** Of questions whose passages make room. `when`: at the answer, or at the next one. */
export function releasedText(questions: number, when: 'then' | 'next'): string {
  if (when === 'then') {
    return plural(questions, {
      one: 'To make room, the passages of an earlier question left the prompt. The chat was read again from there.',
      other: 'To make room, the passages of # earlier questions left the prompt. The chat was read again from there.',
    });
  }
  return plural(questions, {
    one: 'To make room, the passages of an earlier question will leave the prompt; the words stay.',
    other: 'To make room, the passages of # earlier questions will leave the prompt; the words stay.',
  });
}

interface DraftWords {
  drafted: number;
  accepted: number;
  slower: boolean;
}

/** "12 of 16 tokens accepted": of those that were drafted from the text. */
export function draftsText({ drafted, accepted, slower }: DraftWords): string {
  const count = drafted === 0 ? t`no tokens` : t`${formatCount(accepted)} of ${formatCount(drafted)} tokens accepted`;
  return slower ? t`${count}; off for this chat, because it was slower` : count;
}
