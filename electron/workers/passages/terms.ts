/** The words of a text as passages are found by them. */

import { fold } from '../../contract/lib/textSearch';

const word = /[\p{L}\p{N}\p{M}]+/gu;
/** scripts that are written without blanks between words */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** shorter words are found as they are written only */
export const lettersOfPrefix = 4;
export const lettersOfTypo = 5;
/** of a passage with the very word */
export const weights = { prefix: 0.3, fuzzy: 0.1 };

export function isUnspaced(letters: string): boolean {
  return unspaced.test(letters);
}

/** Words without case and accents; where no blanks stand between them, each two letters that follow each other. */
export function termsOf(text: string): string[] {
  return [...fold(text).matchAll(word)].flatMap(([letters]) => (isUnspaced(letters) ? pairsOf(letters) : [letters]));
}

function pairsOf(letters: string): string[] {
  const each = [...letters];
  return each.length === 1 ? each : each.slice(1).map((letter, index) => `${each[index]}${letter}`);
}

// Cuts a text into passages of about a thousand characters, at the ends of paragraphs where there are some.

const shortest = 500;
const longest = 1400;

/** The best place to end a passage is the last one of the first kind that there is. */
const ends = [/\n[^\S\n]*\n/g, /[.!?。！？]["”’»)]?\s/g, /\n/g, /\s/g];

/** In order, without the blanks around them; they overlap nowhere. */
export function cutPassages(text: string): { start: number; end: number }[] {
  const passages: { start: number; end: number }[] = [];
  for (let at = 0; at < text.length; ) {
    const next = endOf(text, at);
    const piece = text.slice(at, next);
    const start = at + piece.length - piece.trimStart().length;
    const end = at + piece.trimEnd().length;
    if (end > start) passages.push({ start, end });
    at = next;
  }
  return passages;
}

function endOf(text: string, at: number): number {
  if (text.length - at <= longest) return text.length;
  const window = text.slice(at + shortest, at + longest);
  for (const end of ends) {
    const last = [...window.matchAll(end)].at(-1);
    if (last) return at + shortest + last.index + last[0].length;
  }
  const code = text.charCodeAt(at + longest - 1);
  // half of a pair of surrogates is no letter
  return at + longest - (code >= 0xd800 && code <= 0xdbff ? 1 : 0);
}
