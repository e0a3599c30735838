/**
 * Passages of a text that is too long for an index: it is read from its file again for each query. They are ranked as those
 * of the index are, but a word is found as it is written and as the beginning of longer ones, not with a typo.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { fold } from '../../contract/lib/textSearch';
import type { FoundPassage, FoundPassages, PassageTask } from '../../contract/workerTasks';
import { queryOf } from './question';
import { type Candidate, mostRanked, rank } from './ranking';
import { cutPassages, headingsIn, isUnspaced, lettersOfPrefix, stemOf, weights } from './terms';

/** of a query; in a hundred megabytes each takes 50 ms, and 300 ms when most words have it inside */
const mostTerms = 24;
const blockBytes = 1024 * 1024;
/** of BM25+, as the library of the index has them */
const bm25 = { k: 1.2, b: 0.7, d: 0.5 };

/** A passage with words of the query. */
interface Counted extends Candidate {
  /** how often each term stands there; the beginning of a longer word counts less */
  counts: number[];
}

/** Null: `signal` fired. */
export async function scanPassages(
  { textPath, query, chosen, limit }: PassageTask,
  signal: AbortSignal,
  report: (fraction: number) => void,
): Promise<FoundPassages | null> {
  const { size } = await stat(textPath);
  const asked = queryOf(query, chosen);
  const seeks = asked.terms.slice(0, mostTerms).map(seekOf);
  const sums = { passages: 0, characters: 0, found: 0, with: seeks.map(() => 0) };
  let best: Counted[] = [];
  let above = '';
  for await (const { text, at, bytes } of blocksOf(textPath)) {
    if (signal.aborted) return null;
    report(bytes / size);
    const passages = cutPassages(text, above);
    for (const { start, end, above: heading } of passages) {
      const number = sums.passages++;
      sums.characters += end - start;
      const words = text.slice(start, end);
      const folded = fold(words);
      const counts = seeks.map((seek) => countOf(folded, seek));
      if (!counts.some((count) => count > 0)) continue;
      sums.found++;
      for (const [term, count] of counts.entries()) if (count > 0) sums.with[term] = (sums.with[term] ?? 0) + 1;
      best.push({ number, start: at + start, end: at + end, above: heading, text: words, counts, terms: [], score: 0 });
    }
    const last = passages.at(-1);
    if (last) above = headingsIn(text.slice(last.start, last.end)).at(-1)?.text ?? last.above;
    // how rare the words are is known better with each block, and after the first well enough to let go of the others
    best = scored(best, sums)
      .slice(0, 2 * mostRanked)
      .map(detached);
  }
  const candidates = scored(best, sums)
    .slice(0, mostRanked)
    .map((one) => ({
      ...one,
      terms: seeks.flatMap(({ term }, index) => ((one.counts[index] ?? 0) > 0 ? [term] : [])),
    }));
  return { passages: rank(asked, candidates).slice(0, limit), all: sums.found, words: asked.words };
}

function detached(one: Counted): Counted {
  return { ...one, text: copied(one.text), above: copied(one.above) };
}

/** A piece of a block would keep the block in memory. */
function copied(piece: string): string {
  return Buffer.from(piece).toString();
}

export async function firstPassages(textPath: string, limit: number): Promise<FoundPassages> {
  const passages: FoundPassage[] = [];
  for await (const { text, at } of blocksOf(textPath)) {
    for (const { start, end } of cutPassages(text)) passages.push({ start: at + start, end: at + end, score: 0 });
    if (passages.length >= limit) break;
  }
  return { passages: passages.slice(0, limit), all: passages.length, words: '' };
}

/** The text in pieces that end with a line, or else with a word. `bytes`: read so far. */
async function* blocksOf(path: string): AsyncGenerator<{ text: string; at: number; bytes: number }> {
  const stream = createReadStream(path, { encoding: 'utf8', highWaterMark: blockBytes });
  let rest = '';
  let at = 0;
  for await (const chunk of stream) {
    const text: string = rest + chunk;
    // no line may be as long as the text
    const end = text.lastIndexOf('\n') + 1 || (rest.length < blockBytes ? 0 : text.lastIndexOf(' ') + 1 || text.length);
    rest = text.slice(end);
    if (end > 0) yield { text: text.slice(0, end), at, bytes: stream.bytesRead };
    at += end;
  }
  yield { text: rest, at, bytes: stream.bytesRead };
}

interface Seek {
  term: string;
  /** what all words with this stem begin with: "copi" is the stem of copy and of copies */
  beginning: string;
  unspaced: boolean;
  /** whether words with this beginning have the stem, as far as they were seen */
  same: Map<string, boolean>;
}

function seekOf(term: string): Seek {
  return { term, beginning: term.replace(/(?<=..)i$/, ''), unspaced: isUnspaced(term), same: new Map() };
}

function countOf(folded: string, { term, beginning, unspaced, same }: Seek): number {
  let count = 0;
  for (let at = folded.indexOf(beginning); at !== -1; at = folded.indexOf(beginning, at + beginning.length)) {
    if (unspaced) {
      count++;
      continue;
    }
    if (isInWord(folded, at - 1)) continue;
    let end = at + beginning.length;
    while (isInWord(folded, end)) end++;
    const word = folded.slice(at, end);
    let isSame = same.get(word);
    if (isSame === undefined) {
      isSame = stemOf(word) === term;
      same.set(copied(word), isSame);
    }
    if (isSame) count++;
    else if (term.length >= lettersOfPrefix && word.startsWith(term)) count += weights.prefix;
  }
  return count;
}

const wordCharacter = /[\p{L}\p{N}\p{M}]/u;

function isInWord(text: string, at: number): boolean {
  return wordCharacter.test(text.charAt(at));
}

/** As the index scores them, the best first: a passage with more of the words goes before one that has a word more often. */
function scored(
  candidates: readonly Counted[],
  sums: { passages: number; characters: number; with: readonly number[] },
): Counted[] {
  const rarities = sums.with.map((n) => Math.log(1 + (sums.passages - n + 0.5) / (n + 0.5)));
  const average = sums.characters / sums.passages;
  return candidates
    .map((candidate) => {
      const { start, end, counts } = candidate;
      const length = 1 - bm25.b + (bm25.b * (end - start)) / average;
      const scores = counts.map((count, term) =>
        count === 0 ? 0 : (rarities[term] ?? 0) * (bm25.d + (count * (bm25.k + 1)) / (count + bm25.k * length)),
      );
      const sum = scores.reduce((all, one) => all + one, 0);
      return { ...candidate, score: sum * Math.sqrt(counts.filter((count) => count > 0).length) };
    })
    .sort((a, b) => b.score - a.score);
}
