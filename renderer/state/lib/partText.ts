/** Words for documents and for what of them goes with a question. */
import type { AttachmentPart } from '../../../electron/contract/attachments';
import type { DocumentInfo, DocumentKind } from '../../../electron/contract/documents';
import { rangesText } from '../documents/ranges';

export const kindNames: Record<DocumentKind, string> = {
  pdf: 'PDF',
  docx: 'Word',
  html: 'HTML',
  markdown: 'Markdown',
  text: 'Text',
  csv: 'CSV',
  code: 'Code',
};

/** What the sections of such a document are to a person. */
export function sectionsName({ kind, pages }: Pick<DocumentInfo, 'kind' | 'pages'>): 'page' | 'heading' | 'part' {
  if (pages !== null) return 'page';
  return kind === 'docx' || kind === 'html' || kind === 'markdown' ? 'heading' : 'part';
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
    return word === 'page' ? pagesText(part.sections) : plural(part.sections.length, word);
  }
  return info?.pages ? `whole, ${plural(info.pages, 'page')}` : 'whole';
}

const longestRanges = 24;

function pagesText(sections: readonly number[]): string {
  const ranges = rangesText(sections);
  if (ranges.length > longestRanges) return plural(sections.length, 'page');
  return `${sections.length === 1 ? 'page' : 'pages'} ${ranges}`;
}
