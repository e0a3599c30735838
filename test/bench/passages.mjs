// How often the first passage that the app finds for a question, and one of the first three, is a right one: the questions
// and manuals of test/passages, ranked by this tree, through what the app's worker thread does. Then how long a search takes in
// a document of more than 2,400 pages. Of the sealed questions it prints shares only (test/passages/README.md).
// --embedding: an embedding model of yours as the second ranker; the same questions with words alone, and with both. `random`
// stands for a model that says nothing: each text has a direction of its own.
// CLI: node test/bench/passages.mjs [--open | --sealed | --speed] [--embedding FILE|random]     (npm run bench:passages)

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { bundleForNode } from '../../electron/build.mjs';
import { cli, PrepareError } from '../../native/prepare/process.mjs';
import { FOLDER, readManuals } from '../passages/read.mjs';
import { loadEngine, loadTypeScript } from './quality/engine.mjs';

const DEFINITION = `A passage is right when at least half of its characters stand on pages that answer the question, or when
all of the quotation that marks the place stands in it. "quote" asks for the quotation alone, in one of the first three.
Cut where one passage follows another, a quotation can be whole in none.`;
/** passages of the ranking that are looked at; a question gets about eight of them into 2,048 tokens */
const LOOKED_AT = 64;
const PAGES_OF_LONG = 2400;
const ROUNDS = 5;

const percent = (count, all) => `${Math.round((100 * count) / all)}%`.padStart(5);

function isRight(passage, { pages, quote }, { sections, text }) {
  if (holds(passage, quote, text)) return true;
  const onPages = pages
    .map((page) => sections[page - 1])
    .reduce((sum, { start, end }) => sum + Math.max(0, Math.min(end, passage.end) - Math.max(start, passage.start)), 0);
  return onPages >= (passage.end - passage.start) / 2;
}

function holds({ start, end }, quote, text) {
  return text.slice(start, end).replace(/\s+/g, ' ').includes(quote);
}

/** `rank`: of the first right passage, from 1; Infinity: none was found */
async function measured(search, manual, asked) {
  const { passages } = await search(manual.name, manual.textPath, asked.question);
  const rankOf = (fits) => passages.findIndex(fits) + 1 || Number.POSITIVE_INFINITY;
  return {
    rank: rankOf((passage) => isRight(passage, asked, manual)),
    quoted: rankOf((passage) => holds(passage, asked.quote, manual.text)),
    question: asked.question,
    pages: asked.pages,
  };
}

function printShares(name, results) {
  const within = (most) => results.filter(({ rank }) => rank <= most).length;
  const quoted = results.filter((result) => result.quoted <= 3).length;
  const shares = [within(1), within(3), within(8), quoted].map((count) => percent(count, results.length));
  console.log(
    `${name.padEnd(14)}${String(results.length).padStart(6)}${shares.map((one) => one.padStart(9)).join('')}`,
  );
}

async function measureRanking(search, manuals, half, ranking) {
  const ofManuals = [];
  for (const manual of manuals) {
    const results = [];
    for (const asked of manual[half]) results.push(await measured(search, manual, asked));
    ofManuals.push({ name: manual.name, results });
  }
  console.log(`\nThe ${half} half, ranked by ${ranking}:\n\nmanual        asked    first    top 3    top 8    quote`);
  for (const { name, results } of ofManuals) printShares(name, results);
  printShares(
    'all',
    ofManuals.flatMap(({ results }) => results),
  );
  if (half === 'sealed') return;
  console.log('\nNot first, with the rank of the first right passage:');
  for (const { name, results } of ofManuals) {
    for (const { rank, question, pages } of results) {
      if (rank > 1)
        console.log(`${name} ${rank === Infinity ? 'none' : rank}: ${question} (pages ${pages.join(', ')})`);
    }
  }
}

/** The manuals one behind the other, as often as it takes. */
async function measureSpeed(search, manuals) {
  const pages = manuals.reduce((sum, manual) => sum + manual.pages, 0);
  const times = Math.ceil(PAGES_OF_LONG / pages);
  const text = manuals
    .map((manual) => manual.text)
    .join('\n\n')
    .repeat(times);
  const textPath = path.join(FOLDER, 'long.txt');
  fs.writeFileSync(textPath, text);
  const seconds = [];
  for (const [index, { question }] of manuals.flatMap(({ open }) => open.slice(0, ROUNDS)).entries()) {
    const before = performance.now();
    // as if each were asked first: an answer is kept for a while
    await search(`long ${index}`, textPath, question);
    seconds.push((performance.now() - before) / 1000);
  }
  seconds.sort((a, b) => a - b);
  const [median, longest] = [seconds[Math.floor(seconds.length / 2)], seconds.at(-1)].map((one) => one.toFixed(2));
  console.log(
    `A document of ${times * pages} pages (${(text.length / 1e6).toFixed(1)} million characters), ${seconds.length} questions: ` +
      `${median} s in the middle, ${longest} s at the longest, in the worker thread.`,
  );
}

// A second ranker, as the app has it: the vectors of a manual's passages are made once, then ranked by the worker's own code.

/** passages for which one request is made */
const TEXTS_AT_ONCE = 16;
const RANDOM = 'random';

async function openModel(file) {
  const [{ createInspectorHandlers }, { prefixesOf }] = await Promise.all(
    ['electron/engine/server.ts', 'electron/contract/lib/embeddings.ts'].map(loadTypeScript),
  );
  const engine = await loadEngine();
  const { embed, inspect } = createInspectorHandlers(() => engine);
  const { architecture, name } = await inspect({ path: file });
  const { fingerprint } = await embed({ path: file, texts: [] });
  async function vectorsOf(texts) {
    const bytes = Buffer.from((await embed({ path: file, texts })).vectors, 'base64');
    return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  }
  return { prefixes: prefixesOf(architecture, [name, path.basename(file)]), fingerprint, vectorsOf };
}

/** The same directions in each run. */
function randomModel() {
  const width = 64;
  let state = 1;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) / 2 ** 24 - 0.5;
  };
  const vectorsOf = async (texts) => Float32Array.from({ length: width * texts.length }, next);
  return { prefixes: { query: '', passage: '' }, fingerprint: 'random', vectorsOf };
}

/** @returns {Promise<(documentId: string, textPath: string, query: string) => Promise<object>>} what goes with a search */
async function meaningOf(embedding, cut) {
  const { prefixes, fingerprint, vectorsOf } =
    embedding === RANDOM ? randomModel() : await openModel(path.resolve(embedding));
  const { encodeVectors } = await loadTypeScript('electron/contract/lib/vectors.ts');
  const made = new Map();

  async function make(documentId, textPath) {
    const text = fs.readFileSync(textPath, 'utf8');
    const { passages } = await cut(documentId, textPath);
    const pieces = [];
    for (let at = 0; at < passages.length; at += TEXTS_AT_ONCE) {
      const some = passages.slice(at, at + TEXTS_AT_ONCE);
      pieces.push(await vectorsOf(some.map(({ start, end }) => prefixes.passage + text.slice(start, end))));
      console.error(`${documentId}: ${Math.min(at + TEXTS_AT_ONCE, passages.length)} of ${passages.length} passages`);
    }
    const vectors = Float32Array.from(pieces.flatMap((piece) => [...piece]));
    const label = { documentId, fingerprint, prefix: prefixes.passage, cut: 1 };
    const starts = Uint32Array.from(passages, ({ start }) => start);
    const ends = Uint32Array.from(passages, ({ end }) => end);
    const vectorsPath = path.join(FOLDER, `${documentId}.vectors.bin`);
    const width = vectors.length / passages.length;
    fs.writeFileSync(vectorsPath, encodeVectors(label, { starts, ends, width, vectors }));
    return { path: vectorsPath, label };
  }

  return async (documentId, textPath, query) => {
    const file = made.get(documentId) ?? (await make(documentId, textPath));
    made.set(documentId, file);
    return { meaning: { ...file, query: await vectorsOf([prefixes.query + query]) } };
  };
}

function readOptions() {
  const flag = { type: /** @type {const} */ ('boolean') };
  const options = { open: flag, sealed: flag, speed: flag, embedding: { type: /** @type {const} */ ('string') } };
  const { values } = parseArgs({ options });
  const { embedding, ...chosen } = values;
  const [what = 'open', ...rest] = Object.keys(chosen);
  if (rest.length > 0) throw new PrepareError('say one of --open (without anything, this), --sealed and --speed');
  if (embedding && what === 'speed') throw new PrepareError('--speed is about words alone: leave --embedding out');
  if (embedding && embedding !== RANDOM && !fs.existsSync(embedding))
    throw new PrepareError(`--embedding: there is no file ${embedding}`);
  return { what, embedding };
}

await cli(import.meta.url, async () => {
  const { what, embedding } = readOptions();
  await bundleForNode('indexes', 'electron/workers/passages/passageIndexes.ts', FOLDER);
  const { PassageIndexes } = createRequire(import.meta.url)(path.join(FOLDER, 'indexes.cjs'));
  const indexes = new PassageIndexes();
  const signal = new AbortController().signal;
  const find = (task) => indexes.search({ limit: LOOKED_AT, ...task }, signal, () => {});
  const search = (documentId, textPath, query) => find({ documentId, textPath, query });
  const manuals = await readManuals();
  if (what === 'speed') return measureSpeed(search, manuals);
  console.log(DEFINITION);
  await measureRanking(search, manuals, what, 'words');
  if (!embedding) return;
  const cut = (documentId, textPath) => find({ documentId, textPath, query: '', limit: Number.POSITIVE_INFINITY });
  const meaning = await meaningOf(embedding, cut);
  const both = async (documentId, textPath, query) =>
    find({ documentId, textPath, query, ...(await meaning(documentId, textPath, query)) });
  await measureRanking(both, manuals, what, `words and ${path.basename(embedding)}`);
});
