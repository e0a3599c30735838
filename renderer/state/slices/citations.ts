/** What an answer cites: the sections of its documents, and the places of what it quotes. Looked up beside the rendering. */

import { isSentence, QuotedText, QuoteSearch } from '../../../electron/contract/lib/quotes';
import type { AppState, QuotePlace } from '../appState';
import { pathTo } from '../lib/messageTree';
import type { Tools } from '../slice';

/** UTF-16 units that are read and searched at a time: some ten milliseconds of work. */
const sliceLength = 200_000;
/** A quotation may lie across the border of two slices. */
const overlap = 5000;
/** Beyond this a document is not searched for quotations: its pages are linked all the same. */
const longestSearch = 30_000_000;
/** Of one message. */
const mostQuotes = 50;
/** Within a word: a letter that the fonts of a file do not name. Where there are many, a true quotation may not be found. */
const unreadableLetter = /\p{L}[\ufffd\ue000-\uf8ff]|[\ufffd\ue000-\uf8ff]\p{L}/gu;
const lettersForOneUnreadable = 2000;
/** In an answer: between marks, or set as a quotation. */
const quoted = /["“„«»][^"“”„«»\n]{20,2000}["”“»«]|^[ \t]*>.*$/gm;
/** Characters of a page without text; where more than this share of them is so, the text may be in pictures. */
const blankPage = 2;
const mostWithoutText = 0.1;
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
    const places: Record<string, QuotePlace | null> = {};
    const said = saidBefore(messageId);
    let conclusive = said !== null;
    for (const documentId of documentIds) {
      const wanted = quotes.filter((quote) => !places[quote]);
      if (wanted.length > 0) conclusive = (await search(documentId, wanted, places)) && conclusive;
    }
    for (const quote of conclusive ? quotes : []) {
      if (!places[quote] && !(isSentence(quote) && said?.some((text) => holds(text, quote)))) places[quote] = null;
    }
    const found = get().citations.quotes;
    patch('citations', { quotes: { ...found, [messageId]: { ...found[messageId], ...places } } });
  }

  /**
   * What was said before an answer, and the system prompt: what an earlier answer quoted is no source of its words. Null: the
   * chat of the answer is not open any more.
   */
  function saidBefore(messageId: string): QuotedText[] | null {
    const { chat } = get().conversation;
    if (!chat?.messages.some(({ id }) => id === messageId)) return null;
    const before = pathTo(chat.messages, messageId).filter(({ id }) => id !== messageId);
    const said = before.map(({ role, text }) => (role === 'user' ? text : text.replace(quoted, '\0')));
    return [...said, chat.systemPrompt ?? ''].map((text) => new QuotedText(text));
  }

  /** Puts what it finds into `places`. @returns whether what is not there now is not in the document */
  async function search(documentId: string, quotes: readonly string[], places: Record<string, QuotePlace | null>) {
    const sections = get().citations.sections[documentId] ?? [];
    const length = sections.at(-1)?.end ?? 0;
    if (length === 0 || length > longestSearch) return false;
    const pages = sections.flatMap(({ kind, start }) => (kind === 'page' ? start : []));
    const open = new Map(quotes.map((quote) => [quote, new QuoteSearch(quote)]));
    let unreadable = 0;
    for (let start = 0; start < length && open.size > 0; start += sliceLength) {
      const end = Math.min(length, start + sliceLength + overlap);
      const slice = await client.call('documents.text', { documentId, start, end }).catch(() => null);
      if (!slice) return false;
      unreadable += slice.text.match(unreadableLetter)?.length ?? 0;
      const stretch = new QuotedText(
        slice.text,
        pages.map((page) => page - start),
      );
      for (const [quote, one] of open) {
        const place = one.look(stretch, start);
        if (place) places[quote] = { documentId, ...place };
        if (place) open.delete(quote);
      }
    }
    const withoutText = sections.filter((one) => one.kind === 'page' && one.end - one.start <= blankPage).length;
    // words that OCR got wrong are not what a true quotation says
    if (sections.some(({ ocr }) => ocr)) return false;
    return unreadable < length / lettersForOneUnreadable && withoutText <= pages.length * mostWithoutText;
  }

  return { learn, seek, findQuotes };
}

function holds(text: QuotedText, quote: string): boolean {
  return new QuoteSearch(quote).look(text, 0) !== null;
}

const none: Readonly<Record<string, QuotePlace | null>> = {};

export const selectCitedSections = (state: AppState) => state.citations.sections;

export function selectQuotes(messageId: string) {
  return (state: AppState) => state.citations.quotes[messageId] ?? none;
}
