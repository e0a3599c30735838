/** What passes between the main process and the worker thread that finds passages of documents. */

export interface PassageTask {
  documentId: string;
  /** UTF-8; what is written there never changes */
  textPath: string;
  /** '': the beginning of the document */
  query: string;
  limit: number;
}

/** UTF-16 units of the text; the best first. */
export interface FoundPassage {
  start: number;
  end: number;
  /** BM25; 0: of the beginning */
  score: number;
}

export interface FoundPassages {
  passages: FoundPassage[];
  /** passages with words of the query, those beyond the limit among them */
  all: number;
}
