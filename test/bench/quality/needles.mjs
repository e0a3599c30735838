// Facts hidden in long text. Each document is the given text up to a length, with facts between its sentences; then each
// fact is asked for. Questions about one document share its prefill: the engine keeps the common prefix.

import { randomFrom } from './random.mjs';

export const FACTS = 12;
/** Shorter texts would be little more than the facts. */
export const SHALLOWEST = 512;
/** Room for the chat template, a question and an answer. */
const RESERVED = 128;
const ANSWER_TOKENS = 24;

const CITIES =
  'Fresno Omaha Valencia Seoul Helsinki Geneva Lima Dakar Bogota Dublin Malmo Lyon Oxford Busan Prague Milan'.split(
    ' ',
  );
const PEOPLE =
  'Larsen Okafor Tanaka Novak Rossi Dubois Kowalski Haddad Silva Petrov Nash Ferreira Lindgren Moreau Weber Khan'.split(
    ' ',
  );
const DISHES = [
  'rice pudding',
  'onion soup',
  'apple pie',
  'fried noodles',
  'lentil stew',
  'pea soup',
  'plum cake',
  'baked cod',
  'goat cheese',
  'corn bread',
  'egg salad',
  'beef stew',
  'pumpkin soup',
  'lemon tart',
  'black beans',
  'roast duck',
];
const PROJECTS =
  'Zoologist Lantern Harvest Compass Falcon Juniper Granite Meadow Orchid Pioneer Quartz Saffron Tundra Velvet Willow Zephyr'.split(
    ' ',
  );

/** Forms of facts; several of one form stand in each document, so that a wrong one can be picked. */
const FORMS = [
  {
    subjects: CITIES,
    answer: (random) => String(random.below(9_000_000) + 1_000_000),
    fact: (city, number) => `One of the special magic numbers for ${city} is: ${number}.`,
    question: (city) => `What is the special magic number for ${city}?`,
  },
  {
    subjects: PEOPLE,
    answer: (random) => DISHES[random.below(DISHES.length)],
    fact: (name, dish) => `Dr. ${name}'s favorite dish is ${dish}.`,
    question: (name) => `What is Dr. ${name}'s favorite dish?`,
  },
  {
    subjects: PROJECTS,
    answer: (random) => `${letters(random, 4)}${random.below(90) + 10}`,
    fact: (project, serial) => `It was agreed that the serial number of Project ${project} would be ${serial}.`,
    question: (project) => `According to the text, what is the serial number of Project ${project}?`,
  },
];

const letters = (random, count) =>
  Array.from({ length: count }, () => 'ABCDEFGHJKLMNPQRSTUVWXYZ'[random.below(24)]).join('');

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
  const subjects = FORMS.map((form) => random.shuffled(form.subjects));
  const items = Array.from({ length: FACTS }, (_, i) => {
    const form = FORMS[i % FORMS.length];
    const subject = subjects[i % FORMS.length][Math.floor(i / FORMS.length)];
    const answer = form.answer(random);
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

/** Whether the reply names the answer, as a word of its own. */
export function names(reply, answer) {
  const escaped = answer.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(^|[^\\p{L}\\p{N}])${escaped}($|[^\\p{L}\\p{N}])`, 'iu').test(reply);
}

/**
 * @param {import('../../../electron/engine/native/types').Context} context
 * @returns {Promise<boolean[]>} for each question whether it was answered, greedy
 */
export async function ask(context, documents, onItem = () => {}) {
  const sampling = { temperature: 0, topK: 1, topP: 1, minP: 0, repeatPenalty: 1, seed: 1 };
  const answered = [];
  for (const { text, items } of documents) {
    for (const { question, answer } of items) {
      const chat = [{ role: /** @type {const} */ ('user'), content: `${text}\n\n${question}` }];
      const stream = context.generate(chat, { sampling, stop: [], maxTokens: ANSWER_TOKENS });
      let step = await stream.next();
      while (!step.done) step = await stream.next();
      answered.push(names(step.value.text, answer));
      onItem();
    }
  }
  return answered;
}
