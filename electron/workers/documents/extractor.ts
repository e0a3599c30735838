/** The shape of every extractor: one file in, its text into the sink, and what is known about its parts. */
import type { Extraction } from '../../contract/documentWork';
import type { TextSink } from './textSink';

export interface Source {
  path: string;
  /** for sentences about the file */
  name: string;
  /** folder of pdf.js's character maps */
  cMapFolder: string;
}

/** fraction: 0 to 1 */
export type OnProgress = (fraction: number, pages?: { done: number; all: number }) => void;

export type Extracted = Pick<Extraction, 'pages' | 'sections' | 'notices'>;

/** Rejects with a `ConcertinaError` that says what to do. */
export type Extractor = (source: Source, sink: TextSink, onProgress: OnProgress) => Promise<Extracted>;
