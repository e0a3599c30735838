/** Ranks passages by what they mean: the cosine of their vectors and the question's, joined with the ranking by words. */

import { readFile } from 'node:fs/promises';
import { decodeVectors, type PassageVectors } from '../../contract/lib/vectors';
import type { FoundPassage, FoundPassages, MeaningTask } from '../../contract/workerTasks';

/**
 * Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): each ranking gives a passage its weight / (a constant + its
 * rank), and the sums decide. Ranks and not scores are joined, because BM25 and cosines have no common measure. The ranking by
 * words is known to be right in most of its first places (test/passages), a person's model is not known at all. With the paper's
 * constant of 60 and equal weights one that says nothing would upset most of them; with 5 and a half it costs few (`npm run
 * bench:passages -- --embedding random` says how many), and what is nearest in meaning and has no word of the question still comes
 * in eighth place: about eight passages go with a question.
 */
const constant = 5;
const meaningWeight = 0.5;
/** passages that count as found by meaning: each has a cosine, and far down it says nothing */
const mostByMeaning = 32;
/** passages by words that take part, as many as a search is ever asked for */
export const mostByWords = 64;

export class Meanings {
  /** of the document that was asked about last */
  private last: { key: string; vectors: PassageVectors } | null = null;

  /** `found`: by words. Throws when the file of the vectors is damaged. */
  async join(found: FoundPassages, task: MeaningTask, limit: number): Promise<FoundPassages> {
    const vectors = await this.vectorsOf(task);
    return fused(found, nearest(vectors, task.query), limit);
  }

  private async vectorsOf({ path, label }: MeaningTask): Promise<PassageVectors> {
    const key = JSON.stringify([path, label]);
    if (this.last?.key === key) return this.last.vectors;
    const vectors = decodeVectors(await readFile(path), label);
    if (!vectors) throw new Error('The vectors of the document are damaged.');
    this.last = { key, vectors };
    return vectors;
  }
}

/** The best first. All vectors have the length 1: their product is the cosine. */
export function nearest({ starts, ends, width, vectors }: PassageVectors, query: Float32Array): FoundPassage[] {
  if (query.length !== width) throw new Error(`A vector of the question has ${query.length} numbers, not ${width}.`);
  const cosines = Array.from(starts, (start, passage) => {
    let score = 0;
    for (let at = 0; at < width; at++) score += (query[at] ?? 0) * (vectors[passage * width + at] ?? 0);
    return { start, end: ends[passage] ?? start, score };
  });
  return cosines.sort((a, b) => b.score - a.score).slice(0, mostByMeaning);
}

export function fused(words: FoundPassages, meaning: readonly FoundPassage[], limit: number): FoundPassages {
  const byStart = new Map<number, FoundPassage>();
  for (const [rank, one] of words.passages.entries()) {
    byStart.set(one.start, { ...one, score: share(rank) });
  }
  for (const [rank, { start, end }] of meaning.entries()) {
    const known = byStart.get(start) ?? { start, end, score: 0, words: [] };
    byStart.set(start, { ...known, score: known.score + meaningWeight * share(rank), meaning: rank + 1 });
  }
  // a stable sort: those by words come before those by meaning alone
  const passages = [...byStart.values()].sort((a, b) => b.score - a.score);
  const all = words.all + byStart.size - words.passages.length;
  return { ...words, passages: passages.slice(0, limit), all };
}

/** @param rank counted from 0 */
function share(rank: number): number {
  return 1 / (constant + rank + 1);
}
