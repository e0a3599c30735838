/** What an answer cites: the sections of its documents, and the places of what it quotes. Looked up beside the rendering. */
import type { Tools } from '../tools';
import { findQuote, squash } from './squash';
import type { QuotePlace } from './state';

/** UTF-16 units that are read and searched at a time: some ten milliseconds of work. */
const sliceLength = 200_000;
/** A quotation may lie across the border of two slices. */
const overlap = 5000;
/** Beyond this a document is not searched for quotations: its pages are linked all the same. */
const longestSearch = 30_000_000;

export function createCitationsActions({ client, get, patch }: Tools) {
  const asked = new Set<string>();
  const searched = new Set<string>();

  /** Fetches the sections of documents that are not known yet. */
  async function learn(documentIds: readonly string[]): Promise<void> {
    const fresh = documentIds.filter((id) => !asked.has(id));
    for (const documentId of fresh) asked.add(documentId);
    await Promise.all(
      fresh.map(async (documentId) => {
        const sections = await client.call('documents.sections', { documentId }).catch(() => []);
        patch('citations', { sections: { ...get().citations.sections, [documentId]: sections } });
      }),
    );
  }

  /** Looks for the quotations of one answer, once. What is found before an error stays found. */
  async function findQuotes(messageId: string, documentIds: readonly string[], quotes: readonly string[]) {
    if (searched.has(messageId) || quotes.length === 0) return;
    searched.add(messageId);
    await learn(documentIds);
    const places: Record<string, QuotePlace> = {};
    for (const documentId of documentIds) {
      const wanted = quotes.filter((quote) => !places[quote]);
      if (wanted.length > 0) Object.assign(places, await placesIn(documentId, wanted));
    }
    patch('citations', { quotes: { ...get().citations.quotes, [messageId]: places } });
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

  return { learn, findQuotes };
}
