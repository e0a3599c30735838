/** What passes between a service and the worker that works for it. */

import type { ForeignApp } from './chatOperations';
import type { PagesRead, Section, TextKind } from './documents';
import type { ErrorPayload } from './errors';
import type { VectorLabel } from './lib/vectors';

/** What a worker thread can be for; the registry is electron/workers/main.ts. */
export type WorkerName = 'chatSearch' | 'hashes' | 'imports' | 'passages';

/** To a worker thread: tasks by number, each answered once unless it is canceled. */
export type ToThread<Task> = { id: number; task: Task } | { id: number; cancel: true };

/** `fraction`: 0 to 1, how much of a task that takes longer is done */
export type FromThread<Answer> = { id: number } & ({ answer: Answer } | { error: ErrorPayload } | { fraction: number });

/** What goes to the worker thread that computes hashes. */
export interface HashTask {
  paths: string[];
  /** the first and the last megabyte of each only */
  sample: boolean;
}

/** Files of chats of other apps. */
export interface ImportTask {
  /** `name`: as a person knows the file */
  files: { path: string; name: string }[];
  /** is not there yet; a line of JSON for each chat is written to it */
  outPath: string;
}

export interface ImportAnswer {
  apps: ForeignApp[];
  /** `offset`, `bytes`: of its line */
  chats: { id: string; offset: number; bytes: number }[];
  damaged: number;
  empty: number;
  /** files that could not be read, or have no chats */
  refused: ErrorPayload[];
}

// Finding passages of documents.

export interface PassageTask {
  documentId: string;
  /** UTF-8; what is written there never changes */
  textPath: string;
  /** '': the beginning of the document */
  query: string;
  /** a person chose the words of the query for the search: each counts, those too that every text has */
  chosen?: boolean;
  limit: number;
  /** passages are ranked by what they mean, too */
  meaning?: MeaningTask;
}

export interface MeaningTask {
  /** of the file of vectors (contract/lib/vectors.ts) */
  path: string;
  /** what they have to be of */
  label: VectorLabel;
  /** of the question, of length 1 */
  query: Float32Array;
}

/** UTF-16 units of the text; the best first. */
export interface FoundPassage {
  start: number;
  end: number;
  /** comparable within one answer; 0: of the beginning */
  score: number;
  /** what of the words that were searched for stands in it */
  words?: string[];
  /** its rank by meaning, from 1; absent: it is not among the nearest, or nothing was ranked by meaning */
  meaning?: number;
}

export interface FoundPassages {
  passages: FoundPassage[];
  /** passages with words of the query or near to it in meaning, those beyond the limit among them */
  all: number;
  /** what was searched for of the query; '': nothing, these are of the beginning */
  words: string;
}

// Taking the words out of one file, in a process that ends with it. The reading itself is done by a thread of that process, so that the rest of it can watch what the file costs.

/** Part of a document's id: text that another version took out is not used again. Raise it when the text changes. */
export const extractorVersion = 4;

/** Folders with what the reading opens beside the document. */
export interface ReadingFolders {
  /** character maps of PDFs in Chinese, Japanese and Korean (*.bcmap) */
  cMaps: string;
  /** `pdfium.wasm`, `tesseract.wasm` and the data of languages that come with the app */
  ocr: string;
  /** data of languages for OCR that a person added (*.traineddata, also with .gz); it may be missing */
  languages: string;
}

export interface DocumentTask {
  path: string;
  /** as people know the file, for sentences about it */
  name: string;
  kind: TextKind;
  /** of the file */
  bytes: number;
  /** where the text is written, as UTF-8; the folder is there, the file is not */
  textPath: string;
  folders: ReadingFolders;
  /** null: none was given. It goes to the process that reads, and nowhere else */
  password: string | null;
}

/** Drawing one page of a PDF, in a process of the same kind. */
export interface PageTask {
  path: string;
  /** as people know the file, for sentences about it */
  name: string;
  /** PDFium as WebAssembly */
  pdfiumPath: string;
  /** of the file, counted from 1 */
  sheet: number;
  /** wanted, in pixels */
  width: number;
  /** what is marked on it, as the extraction gave it; '': nothing */
  words: string;
}

/** A rectangle, in shares of the page from its upper left: 0 to 1. */
export interface PageMark {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface PagePicture {
  png: Uint8Array;
  /** pixels */
  width: number;
  height: number;
  marks: PageMark[];
}

/** What one document may cost. Time is that of processors: a busy machine, or one that sleeps, ends nothing. */
export interface ReadingLimits {
  /** resident bytes of the whole process: buffers do not count as part of a JavaScript heap */
  memoryBytes: number;
  /** MiB of the JavaScript heap */
  heapMb: number;
  /** without any progress */
  stallSeconds: number;
  totalSeconds: number;
  /** so many more for each page in whose picture text is recognized */
  ocrPageSeconds: number;
}

/** To the process, once; it ends with its task. */
export interface DocumentOrder {
  task: DocumentTask | PageTask;
  limits: ReadingLimits;
}

/** Exit codes of a process that ended itself: a message might be lost with it. */
export const documentExits = { memory: 70, stalled: 71, late: 72 } as const;

/** UTF-8 bytes before every `markEvery`-th UTF-16 unit of the text (rarely one unit later: a pair is not cut). */
export interface TextMark {
  /** UTF-16 units */
  at: number;
  byte: number;
}

export interface Extraction {
  characters: number;
  textBytes: number;
  /** of the bytes of the text file, in hexadecimal */
  textSha256: string;
  marks: TextMark[];
  pages: number | null;
  sections: Section[];
  notices: string[];
}

/** Sections of one message, and of what is done with them at a time: the main process has windows to serve. */
export const sectionsPerSlice = 1000;

/** `sections`: the next ones; all of them come before `done`. The last four end the work; `crashed`: by a fault of ours. */
export type DocumentWorkMessage =
  | { type: 'progress'; fraction: number; pages: PagesRead | null }
  | { type: 'sections'; sections: Section[] }
  | { type: 'done'; extraction: Omit<Extraction, 'sections'> }
  | { type: 'drawn'; picture: PagePicture }
  | { type: 'failed'; error: ErrorPayload }
  | { type: 'crashed'; reason: string };
