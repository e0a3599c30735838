/**
 * Facts hidden in a person's own text, and asked for: whether a cache still finds one thing far back. All facts stand in
 * one text, so that it is read once; those beside the one that is asked for are there to be mistaken for it.
 */

import type { Needles } from '../../contract/compare/figures';
import type { Context, GenerateOptions } from '../native/types';

/** room for the chat template, a question and an answer */
export const needleRoom = 160;
const answerTokens = 32;

const cities =
  'Fresno Omaha Valencia Seoul Helsinki Geneva Lima Dakar Bogota Dublin Malmo Lyon Oxford Busan Prague Milan';
const people =
  'Larsen Okafor Tanaka Novak Rossi Dubois Kowalski Haddad Silva Petrov Nash Ferreira Lindgren Moreau Weber Khan';
const projects =
  'Zoologist Lantern Harvest Compass Falcon Juniper Granite Meadow Orchid Pioneer Quartz Saffron Tundra Velvet Willow Zephyr';
const dishes =
  'rice pudding,onion soup,apple pie,fried noodles,lentil stew,pea soup,plum cake,baked cod,goat cheese,corn bread,egg salad,beef stew,pumpkin soup,lemon tart,black beans,roast duck';

/** Facts of one form; several of it stand in each text, so that a wrong one can be picked. */
export interface Form {
  subjects: readonly string[];
  /** `below(n)`: the next number from 0 to n - 1 */
  answer(below: (limit: number) => number): string;
  fact(subject: string, answer: string): string;
  question(subject: string): string;
}

export const forms: readonly Form[] = [
  {
    subjects: cities.split(' '),
    answer: (below) => String(below(9_000_000) + 1_000_000),
    fact: (city, number) => `One of the special magic numbers for ${city} is: ${number}.`,
    question: (city) => `What is the special magic number for ${city}?`,
  },
  {
    subjects: people.split(' '),
    answer: (below) => dishes.split(',')[below(16)] ?? '',
    fact: (name, dish) => `Dr. ${name}'s favorite dish is ${dish}.`,
    question: (name) => `What is Dr. ${name}'s favorite dish?`,
  },
  {
    subjects: projects.split(' '),
    answer: (below) => `${Array.from({ length: 4 }, () => letters[below(24)]).join('')}${below(90) + 10}`,
    fact: (project, serial) => `It was agreed that the serial number of Project ${project} would be ${serial}.`,
    question: (project) => `According to the text, what is the serial number of Project ${project}?`,
  },
];
const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZ';

export interface Planted {
  text: string;
  tokens: number;
  items: { depth: number; fact: string; question: string; answer: string }[];
  /** the text is only the beginning of the person's */
  cut: boolean;
}

/** `room`: tokens that the text may take. `count`: of a text. The same text and depths always give the same facts. */
export function plant(text: string, depths: readonly number[], room: number, count: (text: string) => number): Planted {
  const items = [...new Set(depths)].sort((a, b) => a - b).map((depth, i) => ({ depth, ...itemFor(text, i) }));
  const facts = count(items.map(({ fact }) => ` ${fact}`).join(''));
  const kept = cutTo(text, room - facts, count);
  const planted = hide(kept, items);
  return { text: planted, tokens: count(planted), items, cut: kept.length < text.length };
}

/** A subject that the text does not speak of. */
function itemFor(text: string, index: number): Omit<Planted['items'][number], 'depth'> {
  const form = forms[index % forms.length] as Form;
  const free = form.subjects.filter((subject) => !text.includes(subject));
  const subjects = free.length > index ? free : form.subjects;
  const subject = subjects[Math.floor(index / forms.length) % subjects.length] ?? '';
  const answer = form.answer(numbersFrom(index + text.length));
  return { fact: form.fact(subject, answer), question: form.question(subject), answer };
}

/** The beginning of a text, to the end of a sentence, that has at most so many tokens. */
function cutTo(text: string, room: number, count: (text: string) => number): string {
  let kept = text;
  for (let tokens = count(kept); tokens > room; tokens = count(kept)) {
    // a little less than in proportion, so that this ends
    const shorter = kept.slice(0, Math.floor((kept.length * Math.max(0, room)) / tokens) - 1);
    kept = shorter.slice(0, boundaries(shorter).at(-1) ?? shorter.length);
    if (kept === '') throw new Error('the context is too short for a text with facts in it');
  }
  return kept;
}

function hide(text: string, items: Planted['items']): string {
  const places = [0, ...boundaries(text), text.length];
  const parts: string[] = [];
  let from = 0;
  for (const { depth, fact } of items) {
    const wanted = depth * text.length;
    const place = places.reduce((best, one) => (Math.abs(one - wanted) < Math.abs(best - wanted) ? one : best), from);
    parts.push(text.slice(from, place), fact, ' ');
    from = place;
  }
  return [...parts, text.slice(from)].join('');
}

/** Where sentences and lines begin, the first one left out. */
function boundaries(text: string): number[] {
  return [...text.matchAll(/[.!?]\s+|\n+/g)].map((found) => found.index + found[0].length);
}

/** Whether the reply names the answer, as a word of its own. */
export function names(reply: string, answer: string): boolean {
  const escaped = answer.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(^|[^\\p{L}\\p{N}])${escaped}($|[^\\p{L}\\p{N}])`, 'iu').test(reply);
}

/** The greedy reply to a question about a text; rejects with the reason of `signal` when that was aborted. */
export async function replyTo(
  context: Pick<Context, 'generate'>,
  text: string,
  question: string,
  options: Pick<GenerateOptions, 'signal' | 'onPrefill' | 'thinking'> & { maxTokens?: number } = {},
): Promise<string> {
  const generator = context.generate([{ role: 'user', content: `${text}\n\n${question}` }], {
    sampling: { temperature: 0, topK: 1, topP: 1, minP: 0, repeatPenalty: 1, seed: 0 },
    ...{ stop: [], maxTokens: answerTokens, ...options },
  });
  let next = await generator.next();
  while (!next.done) next = await generator.next();
  options.signal?.throwIfAborted();
  return next.value.text.trim();
}

/** Questions about one text share its reading: the engine keeps the common beginning. */
export async function askNeedles(
  context: Context,
  planted: Planted,
  signal: AbortSignal,
  onProgress: (fraction: number) => void,
): Promise<Needles> {
  const results: Needles['results'] = [];
  for (const item of planted.items) {
    const reply = await replyTo(context, planted.text, item.question, {
      signal,
      // a thought would be longer than the answer may be
      thinking: false,
      onPrefill: ({ promptTokens, cachedTokens, done }) =>
        onProgress((results.length + (cachedTokens + done) / promptTokens) / (planted.items.length + 1)),
    });
    results.push({ ...item, reply, found: names(reply, item.answer) });
  }
  return { tokens: planted.tokens, found: results.filter(({ found }) => found).length, results };
}

/** Plain integer hashes, one of the other: facts need no secret, only variety. */
function numbersFrom(seed: number): (limit: number) => number {
  let value = seed;
  return (limit) => {
    value = (value + 0x9e37_79b9) >>> 0;
    for (const shift of [16, 13, 16]) value = Math.imul(value ^ (value >>> shift), 0x45d9_f3b) >>> 0;
    return value % limit;
  };
}
