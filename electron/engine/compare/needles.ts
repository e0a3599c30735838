/**
 * Facts hidden in a person's own text, and asked for: whether a cache still finds one thing far back. All facts stand in
 * one text, so that it is read once; those beside the one that is asked for are there to be mistaken for it.
 */

import type { Needles } from '../../contract/compareFigures';
import type { ChatMessage, Context } from '../native/types';

/** room for the chat template, a question and an answer */
export const needleRoom = 160;
const answerTokens = 32;

const cities = 'Fresno Omaha Valencia Seoul Helsinki Geneva Lima Dakar Bogota Dublin Malmo Lyon Oxford Busan'.split(
  ' ',
);
const people = 'Larsen Okafor Tanaka Novak Rossi Dubois Kowalski Haddad Silva Petrov Nash Ferreira'.split(' ');
const projects = 'Lantern Harvest Compass Falcon Juniper Granite Meadow Orchid Quartz Saffron Tundra Velvet'.split(' ');
const dishes = ['rice pudding', 'onion soup', 'apple pie', 'lentil stew', 'plum cake', 'corn bread', 'lemon tart'];

interface Form {
  subjects: readonly string[];
  answer(number: number): string;
  fact(subject: string, answer: string): string;
  question(subject: string): string;
}

const forms: readonly Form[] = [
  {
    subjects: cities,
    answer: (number) => String(1_000_000 + (number % 9_000_000)),
    fact: (city, number) => `One of the special magic numbers for ${city} is: ${number}.`,
    question: (city) => `What is the special magic number for ${city}?`,
  },
  {
    subjects: people,
    answer: (number) => dishes[number % dishes.length] ?? '',
    fact: (name, dish) => `Dr. ${name}'s favorite dish is ${dish}.`,
    question: (name) => `What is Dr. ${name}'s favorite dish?`,
  },
  {
    subjects: projects,
    answer: (number) => `${letter(number)}${letter(number >> 5)}${letter(number >> 10)}${10 + (number % 90)}`,
    fact: (project, serial) => `It was agreed that the serial number of Project ${project} would be ${serial}.`,
    question: (project) => `According to the text, what is the serial number of Project ${project}?`,
  },
];

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
  const answer = form.answer(scramble(index + text.length));
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

/** Questions about one text share its reading: the engine keeps the common beginning. */
export async function askNeedles(
  context: Context,
  planted: Planted,
  signal: AbortSignal,
  onProgress: (fraction: number) => void,
): Promise<Needles> {
  const results: Needles['results'] = [];
  for (const item of planted.items) {
    const chat: ChatMessage[] = [{ role: 'user', content: `${planted.text}\n\n${item.question}` }];
    const generator = context.generate(chat, {
      sampling: { temperature: 0, topK: 1, topP: 1, minP: 0, repeatPenalty: 1, seed: 0 },
      ...{ stop: [], maxTokens: answerTokens, signal },
      onPrefill: ({ promptTokens, cachedTokens, done }) =>
        onProgress((results.length + (cachedTokens + done) / promptTokens) / (planted.items.length + 1)),
    });
    let next = await generator.next();
    while (!next.done) next = await generator.next();
    signal.throwIfAborted();
    const reply = next.value.text.trim();
    results.push({ ...item, reply, found: names(reply, item.answer) });
  }
  return { tokens: planted.tokens, found: results.filter(({ found }) => found).length, results };
}

/** Plain integer hash: facts need no secret, only variety. */
function scramble(seed: number): number {
  let value = (seed + 0x9e37_79b9) >>> 0;
  for (const shift of [16, 13, 16]) value = Math.imul(value ^ (value >>> shift), 0x45d9_f3b) >>> 0;
  return value;
}

function letter(number: number): string {
  return 'ABCDEFGHJKLMNPQRSTUVWXYZ'[number % 24] ?? 'A';
}
