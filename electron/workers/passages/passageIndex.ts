/** BM25 over the passages of one text. */
import MiniSearch from 'minisearch';
import type { FoundPassages } from '../../contract/passageWork';
import { cutPassages } from './cutting';
import { lettersOfPrefix, lettersOfTypo, termsOf, weights } from './terms';

export class PassageIndex {
  private readonly passages: { start: number; end: number }[];
  private readonly finder = new MiniSearch<{ id: number; text: string }>({
    fields: ['text'],
    tokenize: termsOf,
    processTerm: (term) => term,
    searchOptions: {
      prefix: (term) => term.length >= lettersOfPrefix,
      fuzzy: (term) => term.length >= lettersOfTypo && 1,
      weights,
    },
  });

  constructor(text: string) {
    this.passages = cutPassages(text);
    for (const [id, { start, end }] of this.passages.entries()) this.finder.add({ id, text: text.slice(start, end) });
  }

  /** Those with words of the query, the best first. */
  search(query: string, limit: number): FoundPassages {
    const found = this.finder.search(query);
    const passages = found.slice(0, limit).flatMap(({ id, score }) => {
      const passage = this.passages[id];
      return passage ? [{ ...passage, score }] : [];
    });
    return { passages, all: found.length };
  }
}
