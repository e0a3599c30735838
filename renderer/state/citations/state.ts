import type { Section } from '../../../electron/contract/documents';

/** Where a quotation stands, in UTF-16 units of the text of the document. */
export interface QuotePlace {
  documentId: string;
  start: number;
  end: number;
}

export interface CitationsState {
  /** of documents that answers of the open chat can cite; empty: the document is not there any more */
  sections: Readonly<Record<string, readonly Section[]>>;
  /** by message id, then by the words of the quotation */
  quotes: Readonly<Record<string, Readonly<Record<string, QuotePlace>>>>;
}

export const initialCitations: CitationsState = { sections: {}, quotes: {} };
