/** What an answer cites: the sections of its documents, and the places of what it quotes. Looked up beside the rendering. */

import type { AppState, QuotePlace } from '../appState';
import type { Tools } from '../slice';

/** UTF-16 units that are read and searched at a time: some ten milliseconds of work. */
const sliceLength = 200_000;
/** A quotation may lie across the border of two slices. */
const overlap = 5000;
/** Beyond this a document is not searched for quotations: its pages are linked all the same. */
const longestSearch = 30_000_000;
/** Of one message. */
const mostQuotes = 20;
/** The answer is painted before its documents are searched. */
const paintMs = 50;

export function createCitationsActions({ client, get, patch }: Tools) {
  /** by document id */
  const learned = new Map<string, Promise<void>>();
  /** by message id */
  const sought = new Map<string, Set<string>>();
  const waiting = new Map<string, { documentIds: readonly string[]; quotes: string[] }>();

  /** Fetches the sections of documents, each once. Resolves when all of them are known. */
  async function learn(documentIds: readonly string[]): Promise<void> {
    for (const documentId of documentIds) {
      if (!learned.has(documentId)) learned.set(documentId, fetchSections(documentId));
    }
    await Promise.all(documentIds.map((documentId) => learned.get(documentId)));
  }

  async function fetchSections(documentId: string): Promise<void> {
    const sections = await client.call('documents.sections', { documentId }).catch(() => []);
    patch('citations', { sections: { ...get().citations.sections, [documentId]: sections } });
  }

  /** Looks for a quotation of an answer: together with the others of it that are asked for now. */
  function seek(messageId: string, documents: readonly { documentId: string }[], quote: string): void {
    const quotes = waiting.get(messageId)?.quotes ?? [];
    const documentIds = documents.map(({ documentId }) => documentId);
    waiting.set(messageId, { documentIds, quotes: [...quotes, quote] });
    if (quotes.length > 0) return;
    setTimeout(() => {
      const all = waiting.get(messageId);
      waiting.delete(messageId);
      if (all) void findQuotes(messageId, all.documentIds, all.quotes);
    }, paintMs);
  }

  /** Each quotation of a message is looked for once, and of one message not too many. What is found before an error stays found. */
  async function findQuotes(messageId: string, documentIds: readonly string[], asked: readonly string[]) {
    const known = sought.get(messageId) ?? new Set();
    const quotes = [...new Set(asked)].filter((quote) => !known.has(quote)).slice(0, mostQuotes - known.size);
    if (quotes.length === 0) return;
    sought.set(messageId, new Set([...known, ...quotes]));
    await learn(documentIds);
    const places: Record<string, QuotePlace> = {};
    for (const documentId of documentIds) {
      const wanted = quotes.filter((quote) => !places[quote]);
      if (wanted.length > 0) Object.assign(places, await placesIn(documentId, wanted));
    }
    const found = get().citations.quotes;
    patch('citations', { quotes: { ...found, [messageId]: { ...found[messageId], ...places } } });
  }

  async function placesIn(documentId: string, quotes: readonly string[]): Promise<Record<string, QuotePlace>> {
    const places: Record<string, QuotePlace> = {};
    const length = get().citations.sections[documentId]?.at(-1)?.end ?? 0;
    if (length > longestSearch) return places;
    for (let start = 0; start < length; start += sliceLength) {
      const end = Math.min(length, start + sliceLength + overlap);
      const slice = await client.call('documents.text', { documentId, start, end }).catch(() => null);
      if (!slice) return places;
      const squashed = squash(slice.text);
      for (const quote of quotes) {
        const found = places[quote] ? null : findQuote(slice.text, squashed, quote);
        if (found) places[quote] = { documentId, start: start + found.start, end: start + found.end };
      }
      if (quotes.every((quote) => places[quote])) return places;
    }
    return places;
  }

  return { learn, seek, findQuotes };
}

// Finding a quotation in a text that breaks its lines elsewhere, hyphenates, or has other quotation marks.

/** Says nothing about the words: white space, hyphens and dashes, soft hyphens, quotation marks. */
const silent = /[\s\u00ad\u2010-\u2015\u200b\ufeff\-'"‘’‚“”„«»]/;
const allSilent = new RegExp(silent.source, 'g');

/** What is left when two spellings of one sentence are to be the same. */
export function squash(text: string): string {
  return text.replace(allSilent, '').toLowerCase();
}

/**
 * Where `quote` stands in `text`, in UTF-16 units; null: nowhere.
 * @param squashed `squash(text)`, which many quotations share
 */
export function findQuote(text: string, squashed: string, quote: string): { start: number; end: number } | null {
  const wanted = squash(quote.replace(/[\s.,;:!?…]+$/, ''));
  const at = wanted === '' ? -1 : squashed.indexOf(wanted);
  if (at === -1) return null;
  const start = unsquash(text, 0, at);
  return { start, end: unsquash(text, start, wanted.length - 1) + 1 };
}

/** The place of the character that has `count` characters that are not silent between `from` and itself. */
function unsquash(text: string, from: number, count: number): number {
  let left = count;
  for (let place = from; place < text.length; place++) {
    if (silent.test(text[place] ?? '')) continue;
    // a few capitals (İ) are two characters in small letters
    left -= (text[place] ?? '').toLowerCase().length;
    if (left < 0) return place;
  }
  return text.length - 1;
}

const none: Readonly<Record<string, QuotePlace>> = {};

export const selectCitedSections = (state: AppState) => state.citations.sections;

export function selectQuotes(messageId: string) {
  return (state: AppState) => state.citations.quotes[messageId] ?? none;
}
