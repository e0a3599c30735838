// Runs the evaluations: for each depth the reference once, and every cache type beside it on the same chunks. And facts hidden in
// long text: each document is the given text up to a length, with facts between its sentences; then each fact is asked for.
// Questions about one document share its prefill: the engine keeps the common prefix.

import os from 'node:os';
import { OptionError } from '../command.mjs';
import { CALIBRATION_TEXT, contextOptions, loadTypeScript } from './engine.mjs';
import { isBudget, REFERENCE } from './options.mjs';

const { ensureCalibrated } = await loadTypeScript('electron/engine/calibration.ts');
const { listedTypes } = await loadTypeScript('electron/engine/cacheBudget/budgetTypes.ts');
const { ensurePriced } = await loadTypeScript('electron/engine/cacheBudget/prices.ts');
const { forms, names, replyTo } = await loadTypeScript('electron/engine/compare/needles.ts');

/** Of the free memory: contexts of one round may take this much. */
const MEMORY_SHARE = 0.6;
/** The least that gives a spread, where the text has them. */
const CHUNKS = 2;

/**
 * @typedef {import('../../../electron/engine/native/types')} Native
 * @typedef {{engine: Native.Engine, model: Native.Model, modelFile: string, tokens: Int32Array, folder: string, say: (line: string) => void, threads: number}} Setting
 *   folder: for the constants of centred caches
 */

/**
 * @template [T=number]
 * @typedef {Record<string, T>} ByDepth
 */

/**
 * Figures by depth; KLD in nats, shares from 0 to 1. `bitsAt`: a window of recent tokens takes the more bits a value the shorter the
 * context is, so `bits` are those of the last depth. `centring`: what is centred in truth.
 * @typedef {{bitsAt: ByDepth, ppl: ByDepth, kld: ByDepth, kldError: ByDepth, kld999: ByDepth, sameTop: ByDepth, needles?: ByDepth<{right: number, of: number}>}} Figures
 * @typedef {import('./options.mjs').Pair & Figures & {bits: number, effective: string, reasons: string[], centring: {k: boolean, v: boolean}}} Row
 */

/**
 * @param {Setting} setting
 * @param {Row[]} rows
 * @param {number} depth tokens of a chunk
 * @param {number} chunks
 * @param {(progress: {fraction: number}) => void} onProgress
 * @returns {Promise<number>} scored tokens; the figures go into the rows
 */
export async function evaluateDepth(setting, rows, depth, chunks, onProgress) {
  const tokens = setting.tokens.subarray(0, depth * chunks);
  const others = rows.filter(({ name }) => name !== REFERENCE);
  const groups = others.length > 0 ? groupsOf(await sizesOf(setting, others, depth)) : [];
  let scored = 0;
  for (const [i, group] of groups.entries()) {
    const compared = await compareGroup(setting, group, tokens, depth, (fraction) =>
      onProgress({ fraction: (i + fraction) / groups.length }),
    );
    scored = compared.reference.tokens;
    const own = rows.find(({ name }) => name === REFERENCE);
    if (own) record(own, depth, { ...compared.reference, meanKld: 0, meanKldError: 0, kld999: 0, sameTop: 1 });
    for (const [j, row] of group.entries()) {
      record(row, depth, compared.results[j]);
      row.bitsAt[depth] = row.bits;
    }
  }
  return scored;
}

/** bytes of each row's context at this depth */
async function sizesOf(setting, rows, depth) {
  const { engine, modelFile, threads } = setting;
  const sized = [];
  for (const row of rows) {
    const types = await typesOf(setting, row, depth);
    const { kvK, kvV, compute } = await engine.estimate(
      modelFile,
      { gpuLayers: 0 },
      contextOptions(types, depth, threads),
    );
    sized.push({ row, bytes: kvK + kvV + compute });
  }
  return sized;
}

/** As many at once as memory holds: each group costs one more run of the reference. */
export function groupsOf(sized, budget = MEMORY_SHARE * os.freemem()) {
  const groups = [];
  let left = 0;
  for (const { row, bytes } of sized) {
    if (groups.length === 0 || bytes > left) {
      groups.push([]);
      left = budget;
    }
    groups.at(-1).push(row);
    left -= bytes;
  }
  return groups;
}

async function compareGroup(setting, rows, tokens, depth, onProgress) {
  const open = [];
  const create = async (row) => {
    const context = await createContext(setting, row, depth);
    open.push(context);
    return context;
  };
  try {
    const reference = await create({ typeK: REFERENCE, typeV: REFERENCE, centred: false });
    const contexts = [];
    for (const row of rows) contexts.push(await create(row));
    for (const [i, row] of rows.entries()) Object.assign(row, describe(contexts[i]));
    return await reference.compare(contexts, tokens, { chunk: depth, onProgress });
  } finally {
    for (const context of open) await context.dispose();
  }
}

/** Those of a row; of a budget those of each layer, as the app would choose them. */
async function typesOf({ engine, model, modelFile, folder, say, threads }, row, nCtx) {
  if (!isBudget(row.typeK)) return row;
  const { recent } = row;
  const options = contextOptions({ typeK: 'turbo4', typeV: 'turbo4' }, nCtx, threads);
  const run = {
    ...{ places: { folder, textFile: CALIBRATION_TEXT }, options },
    ...{ onProgress: () => {}, skip: new AbortController().signal },
  };
  await ensureCalibrated(model, run);
  const { prices, notes } = await ensurePriced(model, run);
  for (const note of notes) say(note);
  const plan = (types) =>
    engine.estimate(modelFile, { gpuLayers: 0 }, contextOptions({ ...types, recent }, nCtx, threads));
  return { ...(await listedTypes(row, plan, async () => prices)), recent };
}

/** A context of a row; a centred one with the constants that the app measures at a model's first load. */
export async function createContext(setting, row, nCtx) {
  const { model, folder, say, threads } = setting;
  const options = contextOptions(await typesOf(setting, row, nCtx), nCtx, threads);
  model.attachCalibration(null);
  if (row.centred) {
    const places = { folder, textFile: CALIBRATION_TEXT };
    const run = { places, options, onProgress: () => {}, skip: new AbortController().signal };
    const { calibration } = await ensureCalibrated(model, run);
    if (calibration) say(`${row.name} is not centred: ${calibration}`);
  }
  return model.createContext(options);
}

/** @returns what the engine really made of the types: bits a value, names, reasons */
export function describe(context) {
  const { kvK, kvV, kvF16 } = context.memory().parts;
  const { typeK, typeV, centring, recent } = context.effective;
  const effective = typeK.effective === typeV.effective ? typeK.effective : `${typeK.effective}/${typeV.effective}`;
  const reasons = [...new Set([typeK.reason, typeV.reason, recent.reason].filter(Boolean))];
  return { bits: (16 * (kvK + kvV)) / kvF16, effective, reasons, centring: { k: centring.k, v: centring.v } };
}

function record(row, depth, { perplexity, meanKld, meanKldError, kld999, sameTop }) {
  row.ppl[depth] = perplexity;
  row.kld[depth] = meanKld;
  row.kldError[depth] = meanKldError;
  row.kld999[depth] = kld999;
  row.sameTop[depth] = sameTop;
}

/** @returns {Row} without figures yet */
export function newRow(pair) {
  return {
    ...pair,
    bits: 16,
    bitsAt: {},
    effective: pair.name,
    reasons: [],
    centring: { k: false, v: false },
    ppl: {},
    kld: {},
    kldError: {},
    kld999: {},
    sameTop: {},
  };
}

/**
 * @param {Pick<import('./options.mjs').Settings, 'depths' | 'chunks' | 'read'>} settings
 * @param {number} available tokens of the text
 * @param {number} longest the model's context
 * @returns {{depth: number, chunks: number}[]}
 * @throws {OptionError} when a depth is beyond the model or the text
 */
export function plan({ depths, chunks, read }, available, longest) {
  return depths.map((depth) => {
    if (depth > longest)
      throw new OptionError(`--depths: ${depth} is more than this model's context of ${longest} tokens.`);
    if (depth > available) throw new OptionError(`--depths: ${depth} is more than the text's ${available} tokens.`);
    const wanted = chunks ?? Math.max(CHUNKS, Math.floor(read / depth));
    return { depth, chunks: Math.min(wanted, Math.floor(available / depth)) };
  });
}

/** A token of a chunk this long costs about this much more than one of a short chunk (concertina-tiny, 2 cores). */
const slowdown = (depth) => 1 + depth / 8192;

/**
 * Cuts what is still to come so that it ends in time, but for one chunk of each depth.
 * @param {{depth: number, chunks: number}[]} done
 * @param {{depth: number, chunks: number}[]} ahead
 * @param {number} spent seconds that `done` took
 * @param {number} left seconds
 */
export function fitInto(done, ahead, spent, left) {
  const cost = (steps) => steps.reduce((sum, { depth, chunks }) => sum + depth * chunks * slowdown(depth), 0);
  const expected = (spent * cost(ahead)) / cost(done);
  if (expected <= left) return ahead;
  return ahead.map((step) => ({
    ...step,
    chunks: Math.max(1, Math.floor((step.chunks * Math.max(left, 0)) / expected)),
  }));
}

export const FACTS = 12;
/** Shorter texts would be little more than the facts. */
export const SHALLOWEST_NEEDLES = 512;
/** Room for the chat template, a question and an answer. */
const NEEDLE_ROOM = 128;
const ANSWER_TOKENS = 24;

/**
 * @param {string} text filler
 * @param {(text: string) => number} count tokens of a text
 * @param {number} depth tokens that document, question and answer take at most
 * @param {number} documents
 * @returns {{text: string, items: {question: string, answer: string}[]}[]}
 * @throws {Error} when the text is too short
 */
export function makeDocuments(text, count, depth, documents) {
  const sentences = text.split(/(?<=[.!?])\s+/).filter(Boolean);
  return Array.from({ length: documents }, (_, i) => {
    const random = randomFrom(1000 * depth + i);
    const items = makeItems(random);
    const facts = items.map(({ fact }) => fact);
    const room = depth - NEEDLE_ROOM - count(facts.join(' '));
    const filler = takeSentences(sentences, random.below(Math.floor(sentences.length / 2)), room, count);
    return { text: hide(filler, facts), items: items.map(({ question, answer }) => ({ question, answer })) };
  });
}

function makeItems(random) {
  const subjects = forms.map((form) => random.shuffled(form.subjects));
  const items = Array.from({ length: FACTS }, (_, i) => {
    const form = forms[i % forms.length];
    const subject = subjects[i % forms.length][Math.floor(i / forms.length)];
    const answer = form.answer(random.below);
    return { fact: form.fact(subject, answer), question: form.question(subject), answer };
  });
  return random.shuffled(items);
}

/** From `start` on, round the end of the text, as many as fit in. */
function takeSentences(sentences, start, room, count) {
  const taken = [];
  for (let used = 0, i = 0; i < sentences.length; i++) {
    const sentence = sentences[(start + i) % sentences.length];
    used += count(` ${sentence}`);
    if (used > room) return taken;
    taken.push(sentence);
  }
  throw new Error('The text is too short to hide needles in at this depth: give a longer one, or --documents 0.');
}

/** Facts at even distances, none at the very ends. */
function hide(sentences, facts) {
  const parts = [];
  for (const [i, fact] of facts.entries()) {
    const [from, to] = [i, i + 1].map((n) => Math.round((n * sentences.length) / (facts.length + 1)));
    parts.push(...sentences.slice(from, to), fact);
  }
  return [...parts, ...sentences.slice(Math.round((facts.length * sentences.length) / (facts.length + 1)))].join(' ');
}

/**
 * @param {import('../../../electron/engine/native/types').Context} context
 * @returns {Promise<boolean[]>} for each question whether it was answered, greedy
 */
export async function ask(context, documents, onItem = () => {}) {
  const answered = [];
  for (const { text, items } of documents) {
    for (const { question, answer } of items) {
      answered.push(names(await replyTo(context, text, question, { maxTokens: ANSWER_TOKENS }), answer));
      onItem();
    }
  }
  return answered;
}

/** Random numbers that are the same in every run (mulberry32). */
function randomFrom(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit) => Math.floor(next() * limit);
  const shuffled = (values) => {
    const list = [...values];
    for (let i = list.length - 1; i > 0; i--) {
      const j = below(i + 1);
      [list[i], list[j]] = [list[j], list[i]];
    }
    return list;
  };
  return { below, shuffled };
}
