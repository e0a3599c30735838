/** What of a question is searched for: its words without those that every question and every text has. */

import {
  ara,
  ces,
  dan,
  deu,
  ell,
  eng,
  fin,
  fra,
  hun,
  ita,
  kor,
  nld,
  nob,
  pol,
  por,
  ron,
  rus,
  spa,
  swe,
  tur,
  ukr,
} from 'stopword';
import { fold } from '../../contract/lib/textSearch';
import { stemOf, wordsOf } from './terms';

export interface Query {
  /** as they are shown and can be edited: words, and in quotes what is looked for as it stands */
  words: string;
  /** each of them with its terms */
  shown: { word: string; terms: string[] }[];
  /** none twice */
  terms: string[];
  /** terms that follow each other in the question, with nothing but words of no weight between them */
  pairs: [string, string][];
  /** folded: names with signs in them (`--option`, `$VAR`, `a_b`) and phrases in quotes */
  exact: string[];
}

/** words of a long question that are searched for: the longest, which are the rarest */
const mostWords = 24;
/** a query as short as this is made of words that were chosen */
const fewWords = 2;

/** Questions of people, beside the words of the list: what they ask with, and what they are asked for */
const asking =
  'does did doing done don doesn didn isn wasn shouldn know tell show explain mean means meaning want need needs please help find given going goes get use used using why whose whom let lets without again happen happens thing things something anything nothing whether around just really actually one way ways s t m re ve ll';

const foldedSet = (words: readonly string[]) => new Set(words.map(fold));
const english = foldedSet([...eng, ...asking.split(' ')]);
const languages = [
  english,
  ...[deu, fra, spa, por, ita, nld, swe, dan, nob, fin, pol, ces, hun, ron, ell, rus, ukr, tur, ara, kor].map(
    foldedSet,
  ),
];

const quoted = /"([^"\n]{2,})"|`([^`\n]+)`|“([^”\n]{2,})”/g;
const signsAround = /^[([{“‘'«„¿¡]+|[\])}.,;:!?”’'»…。、？！؟،؛]+$/gu;
const plainWord = /^[\p{L}\p{M}]+(?:['’-][\p{L}\p{M}]+)*$/u;

/** `chosen`: a person has written these words for the search, and means each of them. */
export function queryOf(question: string, chosen = false): Query {
  const pieces = chosen ? piecesOf(question) : withoutCommon(piecesOf(question));
  const kept = longest(pieces.length > 0 ? pieces : piecesOf(question));
  const terms = kept.flatMap(({ words }) => words.map(stemOf));
  const pairs = terms.slice(1).map((term, index): [string, string] => [terms[index] ?? '', term]);
  const shown = new Map(kept.map((piece) => [piece.shown, piece.words.map(stemOf)]));
  return {
    words: [...shown.keys()].join(' '),
    shown: [...shown].map(([word, its]) => ({ word, terms: its })),
    terms: [...new Set(terms)],
    pairs: pairs.filter(([one, other]) => one !== other),
    exact: [...new Set(kept.filter(({ isExact }) => isExact).map(({ text }) => fold(text)))],
  };
}

/** Whether a word says as little in a heading as in a question. */
export function isCommon(folded: string): boolean {
  return english.has(folded);
}

interface Piece {
  text: string;
  /** folded */
  words: string[];
  shown: string;
  isExact: boolean;
}

/** What stands in quotes, and what stands between blanks. */
function piecesOf(question: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of question.matchAll(quoted)) {
    pieces.push(...between(question.slice(at, match.index)), phrase(match[1] ?? match[2] ?? match[3] ?? ''));
    at = match.index + match[0].length;
  }
  pieces.push(...between(question.slice(at)));
  return pieces.filter(({ words }) => words.length > 0);
}

function phrase(text: string): Piece {
  return { text: text.trim(), words: wordsOf(text), shown: `"${text.trim()}"`, isExact: true };
}

function between(part: string): Piece[] {
  return part.split(/\s+/).flatMap((each) => {
    const text = each.replace(signsAround, '');
    const words = wordsOf(text);
    const isName = words.length > 0 && !plainWord.test(text) && /[\p{L}$]/u.test(text) && text.length > 1;
    if (isName || words.length < 2) return [{ text, words, shown: text, isExact: isName }];
    // it's, Wi-Fi: each word for itself
    return [{ text, words, shown: text, isExact: false }];
  });
}

/** The list of the language that has most of the words; English unless another one has more, and at least two. */
function withoutCommon(pieces: readonly Piece[]): Piece[] {
  if (pieces.length <= fewWords) return [...pieces];
  const plain = pieces.filter(({ isExact }) => !isExact).flatMap(({ words }) => words);
  const counts = languages.map((list) => plain.filter((one) => list.has(one)).length);
  const most = Math.max(...counts);
  const list = (most > (counts[0] ?? 0) && most > 1 ? languages[counts.indexOf(most)] : english) ?? english;
  return pieces.filter(({ words, isExact }) => isExact || words.some((one) => !list.has(one)));
}

function longest(pieces: readonly Piece[]): Piece[] {
  if (pieces.length <= mostWords) return [...pieces];
  const chosen = new Set([...pieces].sort((a, b) => b.text.length - a.text.length).slice(0, mostWords));
  return pieces.filter((piece) => chosen.has(piece));
}
