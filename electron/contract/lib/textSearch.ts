/** Finding words in texts whatever their case and accents; the same in the window (titles) and in the search of all chats. */

import { z } from 'zod';
import { roleSchema } from '../chats';
import { idSchema, limits } from '../limits';

/** From and to, as `String.slice` takes them. */
export type Mark = [start: number, end: number];

const accents = /[\u0300-\u036f]/g;
const asciiOnly = /^[\0-\x7f]*$/;

/** Accents and case taken away. */
export function fold(text: string): string {
  if (asciiOnly.test(text)) return text.toLowerCase();
  return text.normalize('NFD').replace(accents, '').normalize('NFC').toLowerCase();
}

/** What a query asks for, folded: its words, and what stands in quotes as one. */
export function searchWords(query: string): string[] {
  const parts = [...query.matchAll(/"([^"]+)"|[^\s"]+/g)].map(([word, phrase]) => fold((phrase ?? word).trim()));
  return [...new Set(parts.filter((part) => part !== ''))];
}

/** Where the words stand in a short text; in order, without overlaps. */
export function marksIn(text: string, words: readonly string[]): Mark[] {
  const { folded, places } = foldWithPlaces(text);
  const found: Mark[] = [];
  for (const word of words) {
    for (let at = folded.indexOf(word); at !== -1; at = folded.indexOf(word, at + word.length)) {
      found.push([places[at] ?? 0, places[at + word.length] ?? text.length]);
    }
  }
  return merged(found.sort(([a], [b]) => a - b));
}

export interface Snippet {
  /** where in the whole text the longest of the words stands */
  at: number;
  text: string;
  marks: Mark[];
}

/**
 * The words of a text around the first place of a search: on one line, cut between words, with an ellipsis where it was cut.
 * `folded`: the whole text as `fold` gives it.
 */
export function snippetOf(text: string, folded: string, words: readonly string[]): Snippet {
  const word = words.reduce((longest, one) => (one.length > longest.length ? one : longest), '');
  const at = placeOf(text, folded, word);
  const start = Math.max(0, at - charactersBefore);
  const end = Math.min(text.length, at + word.length + charactersAfter);
  // a cut in the middle of a word is moved behind it, but never over what was found
  const head = start === 0 ? '' : (/^\S{0,20}\s+/.exec(text.slice(start, at))?.[0] ?? '');
  const tail = end === text.length ? '' : (/\s+\S{0,20}$/.exec(text.slice(at + word.length, end))?.[0] ?? '');
  const inner = text.slice(start + head.length, end - tail.length).replace(/\s+/g, ' ');
  const shown = `${start === 0 ? '' : '…'}${inner.trim()}${end === text.length ? '' : '…'}`;
  return { at, text: shown, marks: marksIn(shown, words) };
}

const charactersBefore = 40;
const charactersAfter = 120;

function placeOf(text: string, folded: string, word: string): number {
  const at = Math.max(0, folded.indexOf(word));
  // nearly always folding keeps every character in its place
  if (fold(text.slice(at, at + word.length)) === word) return at;
  return foldWithPlaces(text).places[at] ?? 0;
}

/** `places[n]`: where the character n of the folded text comes from. */
function foldWithPlaces(text: string): { folded: string; places: number[] } {
  let folded = '';
  const places: number[] = [];
  let at = 0;
  for (const character of text) {
    const piece = fold(character).replace(accents, '');
    for (let n = 0; n < piece.length; n++) places.push(at);
    folded += piece;
    at += character.length;
  }
  return { folded, places };
}

function merged(marks: readonly Mark[]): Mark[] {
  const result: Mark[] = [];
  for (const [start, end] of marks) {
    const last = result.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else result.push([start, end]);
  }
  return result;
}

// Search over the text of all chats: what a window asks and gets, and what the worker thread that reads them is given.

const markSchema = z.tuple([z.number().int(), z.number().int()]);

const chatHitSchema = z.object({
  chatId: idSchema,
  /** places of the words in the title: from, to */
  titleMarks: z.array(markSchema),
  /** the newest messages with the words, at most `limits.snippetsPerChat` */
  snippets: z.array(z.object({ messageId: idSchema, role: roleSchema, text: z.string(), marks: z.array(markSchema) })),
  /** messages with the words, those without a snippet among them */
  messages: z.number().int(),
});
export type ChatHit = z.infer<typeof chatHitSchema>;

export const chatSearchSchema = z.object({
  query: z.string().trim().min(1).max(limits.maxTitle),
  /** chats at the most */
  limit: z.number().int().min(1).max(500).default(100),
  /** any id of the asking view: its newer question ends the older one with the code `cancelled` */
  asker: idSchema.optional(),
});
export type ChatSearchQuestion = z.infer<typeof chatSearchSchema>;

export const chatSearchAnswerSchema = z.object({
  /** in the order of the chats: latest first */
  hits: z.array(chatHitSchema),
  /** there are more chats with these words than `limit` */
  more: z.boolean(),
});
export type ChatSearchAnswer = z.infer<typeof chatSearchAnswerSchema>;

export interface SearchTask {
  words: string[];
  limit: number;
  /** of the logs */
  folder: string;
  chats: { id: string; title: string }[];
}
