/** Words for documents and for what of them goes with a question. */

import type { MessageDescriptor } from '@lingui/core';
import { msg, plural, t } from '@lingui/core/macro';
import { type Message, releasedOf, type SummaryKind, withoutReleased } from '../../../electron/contract/chats';
import type { DocumentInfo, DocumentKind, Section } from '../../../electron/contract/documents';
import type { Attachment, AttachmentPart } from '../../../electron/contract/lib/attachments';
import { fold, type Snippet, searchWords, snippetOf } from '../../../electron/contract/lib/textSearch';
import { givenIn } from '../../../electron/contract/tools/tools';
import { i18n } from '../../language';
import type { FoundPassage } from '../appState';

const kindNames: Record<DocumentKind, MessageDescriptor | string> = {
  pdf: 'PDF',
  docx: 'Word',
  odt: msg`OpenDocument text`,
  rtf: 'RTF',
  epub: msg`E-book`,
  pptx: 'PowerPoint',
  odp: msg`OpenDocument slides`,
  xlsx: 'Excel',
  ods: msg`OpenDocument sheets`,
  eml: msg`Message`,
  html: 'HTML',
  markdown: 'Markdown',
  text: msg`Text`,
  csv: 'CSV',
  code: msg`Code`,
  picture: msg`Picture, read by OCR`,
  image: msg`Image`,
  sound: msg`Sound`,
  file: msg`File`,
};

export function kindName(kind: DocumentKind): string {
  const name = kindNames[kind];
  return typeof name === 'string' ? name : i18n._(name);
}

const withHeadings = new Set<DocumentKind>(['docx', 'odt', 'rtf', 'epub', 'html', 'markdown']);

type SectionsName = 'page' | 'slide' | 'heading' | 'part';

/** What the sections of such a document are to a person. */
export function sectionsName({ kind, pages }: Pick<DocumentInfo, 'kind' | 'pages'>): SectionsName {
  if (pages !== null) return 'page';
  if (kind === 'pptx' || kind === 'odp') return 'slide';
  return withHeadings.has(kind) ? 'heading' : 'part';
}

/** "1 page", "12 headings". */
export function countText(count: number, word: SectionsName | 'passage' | 'character' | 'token'): string {
  switch (word) {
    case 'page':
      return plural(count, { one: '# page', other: '# pages' });
    case 'slide':
      return plural(count, { one: '# slide', other: '# slides' });
    case 'heading':
      return plural(count, { one: '# heading', other: '# headings' });
    case 'part':
      return plural(count, { one: '# part', other: '# parts' });
    case 'passage':
      return plural(count, { one: '# passage', other: '# passages' });
    case 'character':
      return plural(count, { one: '# character', other: '# characters' });
    case 'token':
      return plural(count, { one: '# token', other: '# tokens' });
  }
}

/** On what opens the list of a document's sections. */
export function chooseText(info: Pick<DocumentInfo, 'kind' | 'pages'>): string {
  switch (sectionsName(info)) {
    case 'page':
      return t`Choose pages`;
    case 'slide':
      return t`Choose slides`;
    case 'heading':
      return t`Choose headings`;
    case 'part':
      return t`Choose parts`;
  }
}

/** "whole, 60 pages", "pages 3-9, 12", "4 passages". `info` null: its facts are not known yet. */
export function partText(part: AttachmentPart, info: DocumentInfo | null): string {
  if (part.kind === 'passages') {
    return part.passages.length > 0 ? countText(part.passages.length, 'passage') : t`searched for each question`;
  }
  if (part.kind === 'sound') return t`sound`;
  if (part.kind === 'image') {
    if (!part.pages) return t`image`;
    const pages = pagesText(
      part.pages.map((page) => page - 1),
      info?.printedPages === true,
    );
    return t`${pages} as images`;
  }
  const word = info ? sectionsName(info) : 'part';
  if (part.kind === 'sections') {
    if (word !== 'page') return countText(part.sections.length, word);
    return pagesText(part.sections, info?.printedPages === true);
  }
  return info?.pages ? t`whole, ${countText(info.pages, 'page')}` : t`whole`;
}

/** The words of a search as they are shown: "lm, function". What stands in quotes is one of them. */
export function wordsText(words: string): string {
  return (words.match(/"[^"]*"|\S+/g) ?? []).join(', ');
}

const longestRanges = 24;

/** `printed`: the file's pages carry other numbers than its sheets, as in "sheets 39-44". */
function pagesText(sections: readonly number[], printed: boolean): string {
  const ranges = rangesText(sections);
  if (ranges.length > longestRanges) return countText(sections.length, 'page');
  if (printed) return plural(sections.length, { one: `sheet ${ranges}`, other: `sheets ${ranges}` });
  return plural(sections.length, { one: `page ${ranges}`, other: `pages ${ranges}` });
}

// Pure work on numbers of pages as people write them: "3-9, 12". Numbers begin with 1, indices with 0.

/** @returns indices in ascending order, or null where the text is not such a list or names what is not there */
export function parseRanges(text: string, count: number): number[] | null {
  const chosen = new Set<number>();
  for (const piece of text.split(/[,;]/)) {
    const match = /^\s*(\d+)\s*(?:(?:-|–|\.\.)\s*(\d+)\s*)?$/.exec(piece);
    if (!match) {
      if (piece.trim() === '') continue;
      return null;
    }
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    if (first < 1 || last < first || last > count) return null;
    for (let number = first; number <= last; number++) chosen.add(number - 1);
  }
  return [...chosen].sort((a, b) => a - b);
}

/** The shortest list of these indices, which are in ascending order. */
export function rangesText(indices: readonly number[]): string {
  const pieces: string[] = [];
  for (let at = 0; at < indices.length; ) {
    let end = at;
    while (indices[end + 1] === (indices[end] ?? 0) + 1) end++;
    const first = (indices[at] ?? 0) + 1;
    const last = (indices[end] ?? 0) + 1;
    pieces.push(first === last ? String(first) : `${first}-${last}`);
    at = end + 1;
  }
  return pieces.join(', ');
}

// Which sections of a document a chat has in its context. Pure.

/** Indices of sections that hold something of these parts. Passages mark each section that they touch. */
export function sectionsIn(parts: readonly AttachmentPart[], sections: readonly Section[]): Set<number> {
  const marked = new Set<number>();
  for (const part of parts) {
    if (part.kind === 'whole') for (const index of sections.keys()) marked.add(index);
    else if (part.kind === 'sections') for (const index of part.sections) marked.add(index);
    else if (part.kind === 'image') for (const page of part.pages ?? []) marked.add(page - 1);
    else if (part.kind === 'passages') {
      for (const { start, end } of part.passages) {
        for (const [index, section] of sections.entries()) {
          if (section.start < end && section.end > start) marked.add(index);
        }
      }
    }
  }
  return marked;
}

/** What of a document stands in the prompt of this branch. */
export function partsSent(branch: readonly Message[], documentId: string): AttachmentPart[] {
  // a document that was read part by part is in no prompt of the chat
  return withoutReleased(branch, releasedOf(branch)).flatMap(({ attachments, summary, rounds }) =>
    (summary ? [] : [...attachments, ...givenIn(rounds)])
      .filter((one: Attachment) => one.documentId === documentId)
      .map(({ part }) => part),
  );
}

// What the search of a document shows of a passage.

type Hit = Snippet & Pick<FoundPassage, 'label'>;

/**
 * The words around the longest of the query's that are there (the library finds by other forms of them too), and the page or
 * heading where they stand: a passage may begin pages before. `sections`: null while they are not known.
 */
export function hitOf(passage: FoundPassage, query: string, sections: readonly Section[] | null): Hit {
  const folded = fold(passage.text);
  const words = searchWords(query).filter((word) => folded.includes(word));
  const snippet = snippetOf(passage.text, folded, words);
  const place = passage.start + snippet.at;
  const section = sections?.find(({ start, end }) => start <= place && place < end);
  return { ...snippet, label: section?.label ?? passage.label };
}

// What a person may want of a document before there is a question. Pure.

/** A question that can be sent as it is, about one document or several. */
export function taskQuestion(kind: SummaryKind, documents: number): string {
  if (kind === 'summary') {
    return plural(documents, {
      one: 'Summarize this document in a few paragraphs.',
      other: 'Summarize these documents in a few paragraphs.',
    });
  }
  return plural(documents, {
    one: 'Give an outline of this document: what comes in which order, with the page or heading of each part.',
    other: 'Give an outline of these documents: what comes in which order, with the page or heading of each part.',
  });
}

/** Beginnings of questions that the person completes. */
export const beginnings = [
  { id: 'find', label: msg`Find …`, text: msg({ message: 'Find ', comment: 'a space stands at the end' }) },
  {
    id: 'about',
    label: msg`What does it say about …`,
    text: msg({ message: 'What does it say about ', comment: 'a space stands at the end' }),
  },
] as const;
