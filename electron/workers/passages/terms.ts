/** The words of a text as passages are found by them. */
import { fold } from '../../contract/textSearch';

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
