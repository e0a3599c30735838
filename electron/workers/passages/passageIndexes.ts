/** Indexes of the documents that were asked about last; a text too long for one is read for each query. */

import { readFile, stat } from 'node:fs/promises';
import MiniSearch from 'minisearch';
import type { FoundPassages, PassageTask } from '../../contract/workerTasks';
import { Meanings, mostByWords } from './meaning';
import { firstPassages, scanPassages } from './passageScan';
import { queryOf } from './question';
import { mostRanked, rank } from './ranking';
import { type CutPassage, cutPassages, lettersOfPrefix, lettersOfTypo, termsOf, weights } from './terms';

/** bytes of a text that gets an index: to make one takes about 0.3 s a megabyte, to read a text 0.01 s */
const mostIndexed = 2_000_000;
/** characters of the texts of all indexes; one takes about ten bytes for each */
const mostCharacters = 20_000_000;
/** a question is looked up while it is counted, and again when it is sent */
const mostAnswers = 8;

export class PassageIndexes {
  private readonly kept = new Map<string, { index: PassageIndex; characters: number }>();
  /** of texts without an index, by what was asked; the oldest first */
  private readonly answers = new Map<string, FoundPassages>();
  private readonly meanings = new Meanings();

  /** Null: `signal` fired. */
  async search(
    task: PassageTask,
    signal: AbortSignal,
    report: (fraction: number) => void,
  ): Promise<FoundPassages | null> {
    const { meaning, ...byWords } = task;
    if (!meaning) return this.byWords(byWords, signal, report);
    const found = await this.byWords({ ...byWords, limit: mostByWords }, signal, report);
    return found && this.meanings.join(found, meaning, task.limit);
  }

  private async byWords(
    task: PassageTask,
    signal: AbortSignal,
    report: (fraction: number) => void,
  ): Promise<FoundPassages | null> {
    const { documentId, textPath, query, chosen, limit } = task;
    const { size } = await stat(textPath);
    const isLong = size > mostIndexed;
    if (query === '')
      return isLong ? firstPassages(textPath, limit) : (await this.indexOf(documentId, textPath)).first(limit);
    if (isLong) return this.scan(task, signal, report);
    return (await this.indexOf(documentId, textPath)).search(query, limit, chosen);
  }

  private async scan(
    task: PassageTask,
    signal: AbortSignal,
    report: (fraction: number) => void,
  ): Promise<FoundPassages | null> {
    const key = JSON.stringify([task.documentId, task.query, task.chosen, task.limit]);
    const answer = this.answers.get(key) ?? (await scanPassages(task, signal, report));
    if (!answer) return null;
    this.answers.delete(key);
    this.answers.set(key, answer);
    const [oldest] = this.answers.keys();
    if (this.answers.size > mostAnswers && oldest !== undefined) this.answers.delete(oldest);
    return answer;
  }

  private async indexOf(documentId: string, textPath: string): Promise<PassageIndex> {
    const known = this.kept.get(documentId) ?? (await make(textPath));
    this.kept.delete(documentId);
    this.kept.set(documentId, known);
    let sum = 0;
    for (const [id, { characters }] of [...this.kept].reverse()) {
      sum += characters;
      if (sum > mostCharacters && id !== documentId) this.kept.delete(id);
    }
    return known.index;
  }
}

async function make(textPath: string) {
  const text = await readFile(textPath, 'utf8');
  return { index: new PassageIndex(text), characters: text.length };
}

// BM25 over the passages of one text.

export class PassageIndex {
  private readonly passages: CutPassage[];
  private readonly finder = new MiniSearch<{ id: number; text: string }>({
    fields: ['text'],
    tokenize: termsOf,
    processTerm: (term) => term,
    searchOptions: {
      // terms, with blanks between them
      tokenize: (terms) => terms.split(' '),
      prefix: (term) => term.length >= lettersOfPrefix,
      fuzzy: (term) => term.length >= lettersOfTypo && 1,
      weights,
    },
  });

  constructor(private readonly text: string) {
    this.passages = cutPassages(text);
    for (const [id, { start, end }] of this.passages.entries()) this.finder.add({ id, text: text.slice(start, end) });
  }

  /** In the order of the text. */
  first(limit: number): FoundPassages {
    const passages = this.passages.slice(0, limit).map(({ start, end }) => ({ start, end, score: 0 }));
    return { passages, all: this.passages.length, words: '' };
  }

  /** Those with words of the query, the best first. */
  search(query: string, limit: number, chosen?: boolean): FoundPassages {
    const asked = queryOf(query, chosen);
    const found = this.finder.search(asked.terms.join(' '));
    const candidates = found
      // the library multiplies by how many of the words a passage has: too much where a question has many
      .map(({ id, score, queryTerms }) => ({
        number: Number(id),
        score: score / Math.sqrt(queryTerms.length),
        terms: queryTerms,
      }))
      .sort((a, b) => b.score - a.score)
      .slice(0, mostRanked)
      .flatMap(({ number, score, terms }) => {
        const passage = this.passages[number];
        return passage ? [{ ...passage, number, score, terms, text: this.text.slice(passage.start, passage.end) }] : [];
      });
    return { passages: rank(asked, candidates).slice(0, limit), all: found.length, words: asked.words };
  }
}
