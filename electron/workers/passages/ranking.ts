/**
 * Orders the passages that have words of a question. How rare the words are has been weighed already (BM25); here counts what
 * only the text shows: words that stand together as in the question, names as they are written, the heading, the neighbors.
 */

import { fold } from '../../contract/lib/textSearch';
import type { FoundPassage } from '../../contract/workerTasks';
import { isCommon, type Query } from './question';
import { headingsIn, stemOf, termsOf, wordsOf } from './terms';

/** Whose text is looked at. More of them cost time (0.1 ms each) and bring nothing up to the first places. */
export const mostRanked = 200;

/** What each adds to a passage that has all of it, as a share of its score. Tried on the open questions of test/passages. */
const gains = { exact: 1, pairs: 0.5, heading: 1, headingAbove: 0.7, neighbor: 0.2 };
/** what is left of the score of a table of contents, or of an index: they have every word and say nothing */
const ofLists = 0.3;

export interface Candidate {
  /** counts the passages of the text: neighbors follow each other */
  number: number;
  start: number;
  end: number;
  /** heading that it begins below */
  above: string;
  text: string;
  /** BM25 */
  score: number;
  /** of the query, that it has */
  terms: readonly string[];
}

export function rank(query: Query, candidates: readonly Candidate[]): FoundPassage[] {
  const scores = new Map(candidates.map((one) => [one.number, one.score * gainOf(query, one)]));
  const scoreAt = (number: number) => scores.get(number) ?? 0;
  return candidates
    .map(({ number, start, end, terms }) => {
      const beside = Math.max(scoreAt(number - 1), scoreAt(number + 1));
      return { start, end, score: scoreAt(number) + gains.neighbor * beside, words: wordsIn(query, terms) };
    })
    .sort((a, b) => b.score - a.score);
}

/** As they are shown: those of the query all of whose terms are there. */
function wordsIn({ shown }: Query, terms: readonly string[]): string[] {
  return shown.filter((one) => one.terms.every((term) => terms.includes(term))).map(({ word }) => word);
}

function gainOf(query: Query, { text, above }: Candidate): number {
  const folded = fold(text);
  const gain =
    1 +
    gains.exact * share(query.exact, (name) => standsIn(folded, name)) +
    gains.pairs * pairsIn(query.pairs, termsOf(text)) +
    Math.max(
      gains.headingAbove * fitOf(above, query.terms),
      ...headingsIn(text).map((heading) => gains.heading * fitOf(heading.text, query.terms)),
    );
  return isList(text) ? gain * ofLists : gain;
}

function share<T>(all: readonly T[], has: (one: T) => boolean): number {
  return all.length === 0 ? 0 : all.filter(has).length / all.length;
}

/** One word may stand between the two. */
function pairsIn(pairs: Query['pairs'], terms: readonly string[]): number {
  if (pairs.length === 0) return 0;
  const places = new Map<string, number[]>();
  for (const [at, term] of terms.entries()) places.set(term, [...(places.get(term) ?? []), at]);
  return share(pairs, ([one, other]) => {
    const ats = places.get(other) ?? [];
    return ats.some((at) => terms[at - 1] === one || terms[at - 2] === one);
  });
}

/** Of a heading: how many of its words are asked for, and how many of those that are asked for it has. */
function fitOf(heading: string, asked: readonly string[]): number {
  const terms = wordsOf(heading).filter((word) => !isCommon(word) && !/^\p{N}+$/u.test(word));
  const own = new Set(terms.map(stemOf));
  if (own.size === 0) return 0;
  const both = asked.filter((term) => own.has(term)).length;
  return (both / own.size + both / asked.length) / 2;
}

const wordCharacter = /[\p{L}\p{N}\p{M}_]/u;

/** Not inside of a longer word or name. */
function standsIn(folded: string, name: string): boolean {
  const bounds = [/^[-\p{L}\p{N}_]/u.test(name), /[\p{L}\p{N}_]$/u.test(name)];
  for (let at = folded.indexOf(name); at !== -1; at = folded.indexOf(name, at + 1)) {
    const inside =
      (bounds[0] && wordCharacter.test(folded.charAt(at - 1))) ||
      (bounds[1] && wordCharacter.test(folded.charAt(at + name.length)));
    if (!inside) return true;
  }
  return false;
}

/** "Exit status . . . 44", "HISTSIZE, 78, 140" */
const entry = /(?:\. ?){4,}\s*\d+$|,\s+\d{1,4}(?:,\s*\d{1,4})*$/;

function isList(text: string): boolean {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.filter((line) => entry.test(line.trim())).length > lines.length / 2;
}
