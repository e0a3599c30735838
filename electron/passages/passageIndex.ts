/** BM25 over the passages of one text. */
import MiniSearch from 'minisearch';
import type { FoundPassage } from '../shared/passageWork';
import { fold } from '../shared/textSearch';
import { cutPassages } from './cutting';

const word = /[\p{L}\p{N}\p{M}]+/gu;
/** scripts that are written without blanks between words */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** shorter words are found as they are written only */
const lettersOfPrefix = 4;
const lettersOfTypo = 5;
/** of a passage with the very word */
const weights = { prefix: 0.3, fuzzy: 0.1 };

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
  search(query: string, limit: number): FoundPassage[] {
    return this.finder
      .search(query)
      .slice(0, limit)
      .flatMap(({ id, score }) => {
        const passage = this.passages[id];
        return passage ? [{ ...passage, score }] : [];
      });
  }

  beginning(limit: number): FoundPassage[] {
    return this.passages.slice(0, limit).map((passage) => ({ ...passage, score: 0 }));
  }
}

/** Words without case and accents; where no blanks stand between them, each two letters that follow each other. */
export function termsOf(text: string): string[] {
  return [...fold(text).matchAll(word)].flatMap(([letters]) => (unspaced.test(letters) ? pairsOf(letters) : [letters]));
}

function pairsOf(letters: string): string[] {
  const each = [...letters];
  return each.length === 1 ? each : each.slice(1).map((letter, index) => `${each[index]}${letter}`);
}
