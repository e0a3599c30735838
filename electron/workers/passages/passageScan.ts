/**
 * Passages of a text that is too long for an index: it is read from its file again for each query. They are ranked as those
 * of the index are, but a word is found as it is written and as the beginning of longer ones, not with a typo.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { fold } from '../../contract/lib/textSearch';
import type { FoundPassage, FoundPassages, PassageTask } from '../../contract/workerTasks';
import { cutPassages, isUnspaced, lettersOfPrefix, termsOf, weights } from './terms';

/** of a query; in a hundred megabytes each takes 50 ms, and 300 ms when most words have it inside */
const mostTerms = 24;
const blockBytes = 1024 * 1024;
/** of BM25+, as the library of the index has them */
const bm25 = { k: 1.2, b: 0.7, d: 0.5 };

interface Candidate {
  start: number;
  end: number;
  /** how often each term stands there; the beginning of a longer word counts less */
  counts: number[];
}

/** Null: `signal` fired. */
export async function scanPassages(
  { textPath, query, limit }: PassageTask,
  signal: AbortSignal,
  report: (fraction: number) => void,
): Promise<FoundPassages | null> {
  const { size } = await stat(textPath);
  const terms = queryTerms(query);
  const candidates: Candidate[] = [];
  const sums = { passages: 0, characters: 0 };
  for await (const { text, at, bytes } of blocksOf(textPath)) {
    if (signal.aborted) return null;
    report(bytes / size);
    for (const { start, end } of cutPassages(text)) {
      sums.passages++;
      sums.characters += end - start;
      const folded = fold(text.slice(start, end));
      const counts = terms.map((term) => countOf(folded, term));
      if (counts.some((count) => count > 0)) candidates.push({ start: at + start, end: at + end, counts });
    }
  }
  return { passages: ranked(candidates, sums).slice(0, limit), all: candidates.length };
}

export async function firstPassages(textPath: string, limit: number): Promise<FoundPassages> {
  const passages: FoundPassage[] = [];
  for await (const { text, at } of blocksOf(textPath)) {
    for (const { start, end } of cutPassages(text)) passages.push({ start: at + start, end: at + end, score: 0 });
    if (passages.length >= limit) break;
  }
  return { passages: passages.slice(0, limit), all: passages.length };
}

/** The longest: in a long question they are the rarest. */
function queryTerms(query: string): string[] {
  const terms = [...new Set(termsOf(query))];
  return terms.sort((a, b) => b.length - a.length).slice(0, mostTerms);
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

function countOf(folded: string, term: string): number {
  const unspaced = isUnspaced(term);
  let count = 0;
  for (let at = folded.indexOf(term); at !== -1; at = folded.indexOf(term, at + term.length)) {
    if (unspaced) count++;
    else if (isInWord(folded, at - 1)) continue;
    else if (!isInWord(folded, at + term.length)) count++;
    else if (term.length >= lettersOfPrefix) count += weights.prefix;
  }
  return count;
}

const wordCharacter = /[\p{L}\p{N}\p{M}]/u;

function isInWord(text: string, at: number): boolean {
  return wordCharacter.test(text.charAt(at));
}

/** As the index ranks them: a passage with more of the words goes before one that has a word more often. */
function ranked(candidates: Candidate[], sums: { passages: number; characters: number }): FoundPassage[] {
  const passagesWith = candidates[0]?.counts.map((_, term) => candidates.filter(({ counts }) => counts[term]).length);
  const rarities = (passagesWith ?? []).map((n) => Math.log(1 + (sums.passages - n + 0.5) / (n + 0.5)));
  const average = sums.characters / sums.passages;
  return candidates
    .map(({ start, end, counts }) => {
      const length = 1 - bm25.b + (bm25.b * (end - start)) / average;
      const scores = counts.map((count, term) =>
        count === 0 ? 0 : (rarities[term] ?? 0) * (bm25.d + (count * (bm25.k + 1)) / (count + bm25.k * length)),
      );
      const score = scores.reduce((sum, one) => sum + one, 0) * counts.filter((count) => count > 0).length;
      return { start, end, score };
    })
    .sort((a, b) => b.score - a.score);
}
