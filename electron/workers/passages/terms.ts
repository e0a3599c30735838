/** The words of a text as passages are found by them, and where a text is cut into passages. */

import { stemmer } from 'stemmer';
import { fold } from '../../contract/lib/textSearch';

const word = /[\p{L}\p{N}\p{M}]+/gu;
/** scripts that are written without blanks between words */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
/** what an English word may be; the rules cut nothing off that has other letters */
const stemmable = /^[a-z]{3,}$/;

/** shorter words are found as they are written only */
export const lettersOfPrefix = 4;
export const lettersOfTypo = 5;
/** of a passage with the very word */
export const weights = { prefix: 0.3, fuzzy: 0.1 };

export function isUnspaced(letters: string): boolean {
  return unspaced.test(letters);
}

/** Words without case and accents, as they stand there; where no blanks stand between them, each two letters that follow each other. */
export function wordsOf(text: string): string[] {
  return [...fold(text).matchAll(word)].flatMap(([letters]) => (isUnspaced(letters) ? pairsOf(letters) : [letters]));
}

/** What passages are found by: "model" for model, models, modeled and modeling. */
export function termsOf(text: string): string[] {
  return wordsOf(text).map(stemOf);
}

export function stemOf(folded: string): string {
  return stemmable.test(folded) ? stemmer(folded) : folded;
}

function pairsOf(letters: string): string[] {
  const each = [...letters];
  return each.length === 1 ? each : each.slice(1).map((letter, index) => `${each[index]}${letter}`);
}

// Headings, as far as plain text shows them.

const longestHeading = 80;
const numbered = /^(?:\d+|\p{Lu})(?:\.\d+)+\.? +[\p{Lu}\p{Lo}]/u;
/** beginning with a capital, or in a script without case */
const standing = /^(?:\d+\.? +)?[\p{Lu}\p{Lo}].*\p{L}{2}/u;
/** the end of a sentence, of a first part of one, of an example, or a number: of a page, as in running heads and contents */
const noHeadingEnd = /[.;,:=>。，、؛،\d]$/u;
/** "148 CHAPTER 6. MODELS" above each page of a chapter */
const runningHead = /^\d+ [^\p{Ll}]*$/u;

/** `alone`: a blank line, or the end of the text, stands before and behind it. */
function isHeading(line: string, alone: boolean): boolean {
  const text = line.trim();
  if (text.length < 3 || text.length > longestHeading) return false;
  if (/^#{1,6} /.test(text)) return true;
  if (noHeadingEnd.test(text) || runningHead.test(text)) return false;
  return numbered.test(text) || (alone && standing.test(text));
}

/** In order; `at`: where its line begins. */
export function headingsIn(text: string): { at: number; text: string }[] {
  const headings: { at: number; text: string }[] = [];
  let blankBefore = true;
  for (let at = 0; at < text.length; ) {
    const end = lineEnd(text, at);
    const line = text.slice(at, end);
    const blank = line.trim() === '';
    if (!blank && line.length <= 2 * longestHeading) {
      const blankBehind = text.slice(end + 1, lineEnd(text, end + 1)).trim() === '';
      if (isHeading(line, blankBefore && blankBehind)) headings.push({ at, text: line.trim() });
    }
    blankBefore = blank;
    at = end + 1;
  }
  return headings;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

// Cuts a text into passages of about a thousand characters: before a heading, or at the ends of paragraphs where there are some.

const shortest = 500;
const longest = 1400;

/** The best place to end a passage is the last one of the first kind that there is. */
const ends = [/\n[^\S\n]*\n/g, /[.!?。！？]["”’»)]?\s/g, /\n/g, /\s/g];

export interface CutPassage {
  start: number;
  end: number;
  /** the heading that its first words stand below; '': none is known */
  above: string;
}

/** In order, without the blanks around them; they overlap nowhere. `above`: the heading that the text goes on below. */
export function cutPassages(text: string, above = ''): CutPassage[] {
  const passages: CutPassage[] = [];
  const headings = headingsIn(text);
  let heading = above;
  let passed = 0;
  for (let at = 0; at < text.length; ) {
    const next = endOf(text, at, headings, passed);
    const piece = text.slice(at, next);
    const start = at + piece.length - piece.trimStart().length;
    const end = at + piece.trimEnd().length;
    if (end > start) passages.push({ start, end, above: heading });
    for (; passed < headings.length && (headings[passed]?.at ?? next) < next; passed++)
      heading = headings[passed]?.text ?? '';
    at = next;
  }
  return passages;
}

/** `first`: of the headings, none before it lies behind `at`. */
function endOf(text: string, at: number, headings: readonly { at: number }[], first: number): number {
  if (text.length - at <= longest) return text.length;
  let heading = -1;
  for (let n = first; (headings[n]?.at ?? text.length) < at + longest; n++) heading = headings[n]?.at ?? -1;
  // the words below it belong to it
  if (heading > at) return heading;
  const window = text.slice(at + shortest, at + longest);
  for (const end of ends) {
    const last = [...window.matchAll(end)].at(-1);
    if (last) return at + shortest + last.index + last[0].length;
  }
  const code = text.charCodeAt(at + longest - 1);
  // half of a pair of surrogates is no letter
  return at + longest - (code >= 0xd800 && code <= 0xdbff ? 1 : 0);
}
