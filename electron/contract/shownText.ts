/**
 * Text of a foreign file as it may be shown, logged and stored: short, and nothing in it that steers a terminal or turns the
 * order of what stands around it. The same rule as native/addon/shownText.h; test/fixtures/shownText.ts holds both to it.
 */

export const shownLength = 200;

/** Control characters, controls of the writing direction, separators, the byte order mark, and what was no UTF-8. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const hidden = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffd\p{Cs}]/gu;

/** At most `most` characters of it, up to a zero, without what is hidden and without spaces around the rest. */
export function shownText(text: string, most = shownLength): string {
  // what is looked at is bounded, too: a character is two units at most, and few of a fair text are left out
  const [whole = ''] = text.split('\0', 1);
  const clean = whole.replace(hidden, '').replace(/^ +/, '');
  return [...clean.slice(0, 2 * most)].slice(0, most).join('').replace(/ +$/, '');
}
