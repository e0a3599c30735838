/** What in the words of an answer points into a document: "[Page 12]", "pages 3-4", "p. 7", and quotations. */
import type { Section } from '../../../../electron/contract/documents';
import type { QuotePlace } from '../../../state/appState';

export interface CitedDocument {
  documentId: string;
  name: string;
}

export type Citation =
  | { kind: 'pages'; from: number; to: number }
  /** the words in brackets: the mark of a section, if a document has one of that name */
  | { kind: 'mark'; label: string }
  | { kind: 'quote'; words: string };

export interface Piece {
  text: string;
  cites: Citation | null;
}

/** Where a citation leads. */
export interface CitationTarget extends CitedDocument {
  label: string;
  place: { section: number } | { offset: number; end: number };
}

const shortestQuote = 20;
const pages = String.raw`(?:pages?|pp?\.)[ \u00a0]{0,2}(?<from>\d{1,5})(?:\s?(?:[-–—&]|to|and)\s?(?<to>\d{1,5}))?(?!\d)`;
const straight = String.raw`(?<![\w"])"(?=\S)(?<straight>[^"\n]{${shortestQuote},2000})(?<=\S)"(?!\w)`;
const curved = String.raw`[“„«](?<curved>[^“”„«»\n]{${shortestQuote},2000})[”“»]`;
const pattern = new RegExp(String.raw`${straight}|${curved}|\[(?<mark>[^\][\n]{2,160})\]|\b${pages}`, 'giu');
const onlyPages = new RegExp(`^${pages}$`, 'iu');

/** The text in its order, in pieces. */
export function citationsIn(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const found of text.matchAll(pattern)) {
    const cites = citationOf(found.groups ?? {});
    if (!cites) continue;
    if (found.index > end) pieces.push({ text: text.slice(end, found.index), cites: null });
    pieces.push({ text: found[0], cites });
    end = found.index + found[0].length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), cites: null });
  return pieces;
}

function citationOf(groups: Record<string, string | undefined>): Citation | null {
  const quote = groups.straight ?? groups.curved;
  if (quote !== undefined) return { kind: 'quote', words: quote };
  if (groups.mark === undefined) return pagesOf(groups);
  const inside = onlyPages.exec(groups.mark.trim());
  return inside ? pagesOf(inside.groups ?? {}) : { kind: 'mark', label: groups.mark.trim() };
}

function pagesOf({ from, to }: Record<string, string | undefined>): Citation | null {
  if (from === undefined) return null;
  return { kind: 'pages', from: Number(from), to: Number(to ?? from) };
}

/**
 * Every place that a citation may mean, in the order of the documents. None: such a page, section or sentence is in no
 * document, and the words stay words.
 */
export function targetsOf(
  cites: Citation,
  documents: readonly CitedDocument[],
  sections: Readonly<Record<string, readonly Section[]>>,
  quotes: Readonly<Record<string, QuotePlace>>,
): CitationTarget[] {
  if (cites.kind === 'quote') {
    const place = quotes[cites.words];
    const document = documents.find(({ documentId }) => documentId === place?.documentId);
    if (!place || !document) return [];
    const section = sections[document.documentId]?.findLast(({ start }) => start <= place.start);
    return [{ ...document, label: section?.label ?? '', place: { offset: place.start, end: place.end } }];
  }
  const wanted = (cites.kind === 'pages' ? `Page ${cites.from}` : cites.label).toLowerCase();
  return documents.flatMap((document) => {
    const known = sections[document.documentId] ?? [];
    const section = known.findIndex(
      ({ kind, label }) => label.toLowerCase() === wanted && (cites.kind === 'mark' || kind === 'page'),
    );
    return section === -1 ? [] : [{ ...document, label: known[section]?.label ?? '', place: { section } }];
  });
}

/** Which of the documents is named nearest to a place of the text; null: none is named. */
export function namedNearest(text: string, place: number, names: readonly string[]): number | null {
  const lower = text.toLowerCase();
  let nearest: { index: number; distance: number } | null = null;
  for (const [index, name] of names.entries()) {
    const stem = name.toLowerCase().replace(/\.[a-z0-9]{1,8}$/, '');
    for (let at = lower.indexOf(stem); stem.length > 2 && at !== -1; at = lower.indexOf(stem, at + 1)) {
      // "the report says on page 2, the diary on page 3": what stands before counts double
      const distance = at <= place ? place - at - stem.length : 2 * (at - place);
      if (!nearest || distance < nearest.distance) nearest = { index, distance };
    }
  }
  return nearest?.index ?? null;
}
