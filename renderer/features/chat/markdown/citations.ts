/** What in the words of an answer points into a document: "[Page 33 (sheet 39)]", "pages 3-4", "p. iv", and quotations. */
import { select, t } from '@lingui/core/macro';
import type { Section } from '../../../../electron/contract/documents';
import { type PageName, pagesOfName, pageWords, unitOf } from '../../../../electron/contract/lib/pages';
import { isSentence } from '../../../../electron/contract/lib/quotes';
import type { QuotePlace } from '../../../state/appState';

export interface CitedDocument {
  documentId: string;
  name: string;
}

export type Citation =
  /** several are led to by the first */
  | ({ kind: 'page' } & PageName)
  /** the words in brackets: the mark of a section, if a document has one of that name */
  | { kind: 'mark'; label: string }
  | {
      kind: 'quote';
      words: string;
      /** they may be the answer's own: nothing is wrong where no document has them */
      own?: true;
    };

export interface Piece {
  text: string;
  cites: Citation | null;
}

/** Where a citation leads. */
export interface CitationTarget extends CitedDocument {
  label: string;
  place: { section: number } | { offset: number; end: number };
}

export const shortestQuote = 20;
const straight = String.raw`(?<![\w"])"(?=\S)(?<straight>[^"\n]{${shortestQuote},2000})(?<=\S)"(?!\w)`;
/** of any length, lest what stands between two short ones is taken for one */
const curved = String.raw`[“„«](?<curved>[^“”„«»\n]{1,2000})[”“»]|»(?<turned>[^“”„«»\n]{1,2000})«`;
const pattern = new RegExp(String.raw`${straight}|${curved}|\[(?<mark>[^\][\n]{2,160})\]|\b${pageWords}`, 'giu');
/** "Page 33", "report.pdf, p. 33"; a mark that names the sheet, too, is as exact as can be */
const onlyPages = new RegExp(
  String.raw`^(?:.{0,120}?[\s,;:(])?${pageWords}(?:[ ,]+\(?sheets? (?<inFile>\d{1,5})[^\])]*\)?)?\)?$`,
  'iu',
);

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
  const quote = groups.straight ?? groups.curved ?? groups.turned;
  if (quote !== undefined) return quote.length < shortestQuote ? null : { kind: 'quote', words: quote };
  if (groups.mark === undefined) return pageOf(groups);
  const inside = onlyPages.exec(groups.mark.trim());
  return inside ? pageOf(inside.groups ?? {}) : { kind: 'mark', label: groups.mark.trim() };
}

function pageOf({ unit, from, other, inFile }: Record<string, string | undefined>): Citation | null {
  const number = inFile ?? other ?? from;
  if (unit === undefined || number === undefined) return null;
  const counted = inFile === undefined ? unitOf(unit) : 'sheet';
  return { kind: 'page', unit: counted, number: number.replace(/^0+(?=\d)/, '') };
}

/**
 * Every place that a citation may mean, in the order of the documents. None: such a page, section or sentence is in no
 * document, and the words stay words.
 */
export function targetsOf(
  cites: Citation,
  documents: readonly CitedDocument[],
  sections: Readonly<Record<string, readonly Section[]>>,
  quotes: Readonly<Record<string, QuotePlace | null>>,
): CitationTarget[] {
  if (cites.kind === 'quote') {
    const place = quotes[cites.words];
    const document = documents.find(({ documentId }) => documentId === place?.documentId);
    if (!place || !document) return [];
    const section = sections[document.documentId]?.findLast(({ start }) => start <= place.start);
    return [{ ...document, label: section?.label ?? '', place: { offset: place.start, end: place.end } }];
  }
  return documents.flatMap((document) => {
    const known = sections[document.documentId] ?? [];
    const section = sectionOf(cites, known);
    return section === -1 ? [] : [{ ...document, label: known[section]?.label ?? '', place: { section } }];
  });
}

/** Its index, or -1. */
function sectionOf(cites: Exclude<Citation, { kind: 'quote' }>, sections: readonly Section[]): number {
  if (cites.kind === 'page') return pagesOfName(sections, cites)[0] ?? -1;
  const wanted = cites.label.toLowerCase();
  return sections.findIndex(({ label }) => label.toLowerCase() === wanted);
}

/** What has to be looked for in the documents before anything can be said of a citation that leads nowhere; null: nothing can be. */
export function doubtfulWords(
  cites: Citation,
  shown: string,
  documents: readonly CitedDocument[],
  sections: Readonly<Record<string, readonly Section[]>>,
): string | null {
  if (cites.kind === 'quote') return !cites.own && isSentence(cites.words) ? cites.words : null;
  // a document without pages has them on paper; and numbers in other letters are too easily words
  const paged = documents.every(({ documentId }) => sections[documentId]?.some(({ kind }) => kind === 'page'));
  return cites.kind === 'page' && cites.unit !== 'slide' && paged && /^\d+$/.test(cites.number) ? shown : null;
}

/** What is wrong with words that have been looked for in vain: of a page, they may be those of the document itself. */
export function doubtText(cites: Citation, documents: readonly CitedDocument[]): string {
  const [only] = documents.length === 1 ? documents : [];
  if (cites.kind !== 'page') return only ? t`Not in ${only.name}` : t`Not in any attached document`;
  const { unit, number } = cites;
  if (!only) {
    return select(unit, {
      page: `No attached document has a page ${number}`,
      sheet: `No attached document has a sheet ${number}`,
      other: `No attached document has a slide ${number}`,
    });
  }
  return select(unit, {
    page: `${only.name} has no page ${number}`,
    sheet: `${only.name} has no sheet ${number}`,
    other: `${only.name} has no slide ${number}`,
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
