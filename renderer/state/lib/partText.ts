/** Words for documents and for what of them goes with a question. */

import {
  type Attachment,
  type AttachmentPart,
  type Message,
  releasedOf,
  type SummaryKind,
  withoutReleased,
} from '../../../electron/contract/chats';
import type { DocumentInfo, DocumentKind, Section } from '../../../electron/contract/documents';
import { fold, type Snippet, searchWords, snippetOf } from '../../../electron/contract/lib/textSearch';
import type { FoundPassage } from '../appState';

export const kindNames: Record<DocumentKind, string> = {
  pdf: 'PDF',
  docx: 'Word',
  odt: 'OpenDocument text',
  rtf: 'RTF',
  epub: 'E-book',
  pptx: 'PowerPoint',
  odp: 'OpenDocument slides',
  xlsx: 'Excel',
  ods: 'OpenDocument sheets',
  eml: 'Message',
  html: 'HTML',
  markdown: 'Markdown',
  text: 'Text',
  csv: 'CSV',
  code: 'Code',
  picture: 'Picture, read by OCR',
};

const withHeadings = new Set<DocumentKind>(['docx', 'odt', 'rtf', 'epub', 'html', 'markdown']);

/** What the sections of such a document are to a person. */
export function sectionsName({
  kind,
  pages,
}: Pick<DocumentInfo, 'kind' | 'pages'>): 'page' | 'slide' | 'heading' | 'part' {
  if (pages !== null) return 'page';
  if (kind === 'pptx' || kind === 'odp') return 'slide';
  return withHeadings.has(kind) ? 'heading' : 'part';
}

export function plural(count: number, word: string): string {
  return `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;
}

/** "whole, 60 pages", "pages 3-9, 12", "4 passages". `info` null: its facts are not known yet. */
export function partText(part: AttachmentPart, info: DocumentInfo | null): string {
  if (part.kind === 'passages') {
    return part.passages.length > 0 ? plural(part.passages.length, 'passage') : 'searched for each question';
  }
  const word = info ? sectionsName(info) : 'part';
  if (part.kind === 'sections') {
    if (word !== 'page') return plural(part.sections.length, word);
    return pagesText(part.sections, info?.printedPages ? 'sheet' : 'page');
  }
  return info?.pages ? `whole, ${plural(info.pages, 'page')}` : 'whole';
}

/** The words of a search as they are shown: "lm, function". What stands in quotes is one of them. */
export function wordsText(words: string): string {
  return (words.match(/"[^"]*"|\S+/g) ?? []).join(', ');
}

const longestRanges = 24;

/** Of a file whose pages carry other numbers than its sheets: "sheets 39-44". */
function pagesText(sections: readonly number[], word: 'page' | 'sheet'): string {
  const ranges = rangesText(sections);
  if (ranges.length > longestRanges) return plural(sections.length, 'page');
  return `${word}${sections.length === 1 ? '' : 's'} ${ranges}`;
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
    else {
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
  return withoutReleased(branch, releasedOf(branch)).flatMap(({ attachments, summary }) =>
    (summary ? [] : attachments).filter((one: Attachment) => one.documentId === documentId).map(({ part }) => part),
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
  const one = documents === 1;
  if (kind === 'summary') return `Summarize ${one ? 'this document' : 'these documents'} in a few paragraphs.`;
  return `Give an outline of ${one ? 'this document' : 'these documents'}: what comes in which order, with the page or heading of each part.`;
}

/** Beginnings of questions that the person completes. */
export const beginnings = [
  { id: 'find', label: 'Find …', text: 'Find ' },
  { id: 'about', label: 'What does it say about …', text: 'What does it say about ' },
] as const;
