import type { AttachmentPart, Passage } from '../../../electron/contract/attachments';
import type { DocumentInfo, DocumentJob, Section } from '../../../electron/contract/documents';
import type { ErrorPayload } from '../../../electron/contract/errors';

/** How a document came into the draft, which says how it is tried again. */
export type Origin =
  | { kind: 'file'; file: File }
  | { kind: 'text'; text: string }
  /** chosen in the native dialog: the window has neither the file nor its path */
  | { kind: 'dialog' }
  /** already read: from a former question, or attached again in the panel */
  | { kind: 'stored' };

/** A document beside the question that is being written. It is ready when it has its `info`. */
export interface DraftDocument {
  /** of this card, for ever */
  key: string;
  name: string;
  origin: Origin;
  /** 0 to 1: how much of the file has been handed over; null: that is done */
  sent: number | null;
  jobId: string | null;
  info: DocumentInfo | null;
  part: AttachmentPart;
  error: ErrorPayload | null;
}

/** A place in a document: a section by its index, or characters of its text; without an end, the line. */
export type Place = { section: number } | { offset: number; end?: number };

export interface Panel {
  documentId: string;
  view: 'text' | 'parts';
  /** where to go; null: the beginning */
  place: Place | null;
  /** grows when the same place is asked for again */
  asked: number;
}

export interface TokenCount {
  modelId: string | null;
  tokens: number;
  /** of each section; null: they were not counted */
  sections: readonly number[] | null;
}

/** A passage that was found, with its words. */
export interface FoundPassage extends Passage {
  text: string;
}

export interface Found {
  /** the best, the best first */
  passages: readonly FoundPassage[];
  /** with words of the query, those that are not among `passages` too */
  all: number;
}

export interface DocumentsState {
  jobs: readonly DocumentJob[];
  infos: Readonly<Record<string, DocumentInfo>>;
  sections: Readonly<Record<string, readonly Section[]>>;
  tokens: Readonly<Record<string, TokenCount>>;
  /** the document that is shown beside the chat */
  panel: Panel | null;
  /** how much of it the search has read, 0 to 1, when it takes longer */
  searched: number | null;
  /** why its facts could not be had */
  panelError: ErrorPayload | null;
}

export const initialDocuments: DocumentsState = {
  jobs: [],
  infos: {},
  sections: {},
  tokens: {},
  panel: null,
  searched: null,
  panelError: null,
};
