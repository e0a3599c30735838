// Facts hidden in long text. Each document is the given text up to a length, with facts between its sentences; then each
// fact is asked for. Questions about one document share its prefill: the engine keeps the common prefix.

import { loadTypeScript } from './engine.mjs';

const { forms, names, replyTo } = await loadTypeScript('electron/engine/compare/needles.ts');

export const FACTS = 12;
/** Shorter texts would be little more than the facts. */
export const SHALLOWEST = 512;
/** Room for the chat template, a question and an answer. */
const RESERVED = 128;
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
    const room = depth - RESERVED - count(facts.join(' '));
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
