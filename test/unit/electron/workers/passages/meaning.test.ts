/** The second ranker: files of vectors, cosines, and how two rankings become one. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { decodeVectors, encodeVectors, type PassageVectors, type VectorLabel } from '@/electron/contract/lib/vectors';
import type { FoundPassages } from '@/electron/contract/workerTasks';
import { fused, nearest } from '@/electron/workers/passages/meaning';
import { PassageIndex, PassageIndexes } from '@/electron/workers/passages/passageIndexes';
import { scanPassages } from '@/electron/workers/passages/passageScan';
import { temporaryFolder } from '@/test/fixtures/temporary';

const label: VectorLabel = { documentId: 'd'.repeat(64), fingerprint: '0f', prefix: 'passage: é', cut: 1 };

function vectorsOf(...list: number[][]): PassageVectors {
  return {
    starts: Uint32Array.from(list, (_, index) => index * 1000),
    ends: Uint32Array.from(list, (_, index) => index * 1000 + 900),
    width: list[0]?.length ?? 0,
    vectors: Float32Array.from(list.flat()),
  };
}

const found = (...starts: number[]): FoundPassages => ({
  passages: starts.map((start) => ({ start, end: start + 900, score: 9, words: ['lm'] })),
  all: starts.length,
  words: 'lm',
});

const flat = { starts: new Uint32Array(), ends: new Uint32Array(), width: 3, vectors: new Float32Array() };

it('reads a file of vectors as it was written', () => {
  for (const vectors of [vectorsOf([1, 0], [0, 1], [0.6, -0.8]), flat]) {
    expect(decodeVectors(encodeVectors(label, vectors), label)).toEqual(vectors);
  }
});

it('takes no file that is damaged, cut off, or of something else', () => {
  const file = encodeVectors(label, vectorsOf([1, 0], [0, 1]));
  for (let at = 0; at < file.length; at++) {
    const damaged = file.slice();
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    expect(decodeVectors(damaged, label), `byte ${at}`).toBeNull();
  }
  for (const length of [0, 3, 16, file.length - 4, file.length - 1]) {
    expect(decodeVectors(file.slice(0, length), label)).toBeNull();
  }
  const others: Partial<VectorLabel>[] = [{ documentId: 'e' }, { fingerprint: '10' }, { prefix: '' }];
  for (const other of others) expect(decodeVectors(file, { ...label, ...other })).toBeNull();
  // a buffer of the file system begins anywhere
  expect(decodeVectors(new Uint8Array([9, ...file]).subarray(1), label)).not.toBeNull();
});

it('puts the nearest first, the 32 of them', () => {
  const vectors = vectorsOf([0, 1], [0.6, 0.8], [1, 0], [-1, 0]);
  const list = nearest(vectors, Float32Array.of(1, 0));
  expect(list.map(({ start }) => start)).toEqual([2000, 1000, 0, 3000]);
  expect(list.map(({ score }) => score)).toEqual([1, expect.closeTo(0.6, 6), 0, -1]);
  expect(nearest(vectorsOf(...Array.from({ length: 50 }, () => [1, 0])), Float32Array.of(1, 0))).toHaveLength(32);
  expect(() => nearest(vectors, Float32Array.of(1))).toThrow('not 2');
});

it('joins the rankings by rank: what both know goes first, then the words', () => {
  const meaning = [4000, 2000, 6000].map((start) => ({ start, end: start + 900, score: 0.5 }));
  const { passages, all, words } = fused(found(1000, 2000, 3000), meaning, 10);
  expect(passages.map(({ start }) => start)).toEqual([2000, 1000, 3000, 4000, 6000]);
  expect(passages[0]?.score).toBeCloseTo(1 / 7 + 0.5 / 7, 10);
  expect(passages.map((one) => [one.words, one.meaning])).toEqual([
    [['lm'], 2],
    [['lm'], undefined],
    [['lm'], undefined],
    [[], 1],
    [[], 3],
  ]);
  expect([all, words]).toEqual([5, 'lm']);
  // what has no word of the question is among the eight that go with one, and upsets no first place
  const many = fused(found(...Array.from({ length: 40 }, (_, index) => index * 100_000)), meaning, 64);
  expect(many.passages.findIndex(({ start }) => start === 4000)).toBe(7);
  expect(fused(found(), meaning, 2)).toMatchObject({ passages: [{ start: 4000 }, { start: 2000 }], all: 3 });
});

const sentence = (i: number) => `The keeper walks along wall ${i} and counts the stones of the old harbour again. `;
const text = Array.from({ length: 200 }, (_, i) => sentence(i).repeat(4)).join('\n\n');

it('finds by meaning what has no word of the question, beside what has', async () => {
  const folder = await temporaryFolder();
  const [textPath, path] = [join(folder, 'text.txt'), join(folder, 'vectors.bin')];
  await writeFile(textPath, text);
  const indexes = new PassageIndexes();
  const search = (task: object) =>
    indexes.search(
      { documentId: 'd', textPath, query: '', limit: 100, ...task },
      new AbortController().signal,
      () => {},
    );
  const { passages = [] } = (await search({})) ?? {};
  expect(passages.length).toBeGreaterThan(10);
  const vectors = vectorsOf(...passages.map((_, index) => (index === 7 ? [1, 0] : [0, 1])));
  vectors.starts.set(passages.map(({ start }) => start));
  vectors.ends.set(passages.map(({ end }) => end));
  await writeFile(path, encodeVectors(label, vectors));
  const meaning = { path, label, query: Float32Array.of(1, 0) };
  const both = await search({ query: 'wall 30', limit: 3, meaning });
  const alone = await search({ query: 'wall 30', limit: 3 });
  expect(alone?.passages[0]).toMatchObject({ words: ['wall', '30'] });
  expect(both?.passages.some(({ start, meaning }) => start === passages[7]?.start && meaning === 1)).toBe(true);
  expect(await search({ query: 'lantern', limit: 1, meaning })).toMatchObject({
    passages: [{ start: passages[7]?.start, words: [], meaning: 1 }],
    all: 32,
  });
  // the same question again: the same answer
  expect(await search({ query: 'wall 30', limit: 3, meaning })).toEqual(both);
  await expect(search({ query: 'a', meaning: { ...meaning, label: { ...label, prefix: '' } } })).rejects.toThrow(
    'damaged',
  );
});

it('says which words of the query a passage has, in an index and in a long text', async () => {
  const whole = `${sentence(1).repeat(10)}\n\nThe lanterns of --max-depth burn.\n\n${sentence(2).repeat(10)}`;
  const query = 'lantern --max-depth keeper';
  const textPath = join(await temporaryFolder(), 'text.txt');
  await writeFile(textPath, whole);
  const scanned = await scanPassages(
    { documentId: 'd', textPath, query, limit: 1 },
    new AbortController().signal,
    () => {},
  );
  for (const answer of [new PassageIndex(whole).search(query, 1), scanned]) {
    expect(answer?.passages[0]?.words).toEqual(expect.arrayContaining(['lantern', '--max-depth']));
  }
});
