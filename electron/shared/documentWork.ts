/** What passes between the service that keeps documents and the worker thread that takes the words out of one file. */
import type { DocumentKind, Section } from './documents';
import type { ErrorPayload } from './errors';

/** Part of a document's id: text that another version took out is not used again. Raise it when the text changes. */
export const extractorVersion = 1;

/** Handed to the worker when it starts. */
export interface DocumentTask {
  path: string;
  /** as people know the file, for sentences about it */
  name: string;
  kind: DocumentKind;
  /** where the worker writes the text, as UTF-8; the folder is there, the file is not */
  textPath: string;
  /** folder of the character maps of PDFs in Chinese, Japanese and Korean */
  cMapFolder: string;
}

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

export type DocumentWorkMessage =
  | { type: 'progress'; fraction: number; pages: { done: number; all: number } | null }
  | { type: 'done'; extraction: Extraction }
  | { type: 'failed'; error: ErrorPayload };
