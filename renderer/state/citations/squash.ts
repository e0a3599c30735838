/** Finding a quotation in a text that breaks its lines elsewhere, hyphenates, or has other quotation marks. */

/** Says nothing about the words: white space, hyphens and dashes, soft hyphens, quotation marks. */
const silent = /[\s\u00ad\u2010-\u2015\u200b\ufeff\-'"‘’‚“”„«»]/;
const allSilent = new RegExp(silent.source, 'g');

/** What is left when two spellings of one sentence are to be the same. */
export function squash(text: string): string {
  return text.replace(allSilent, '').toLowerCase();
}

/**
 * Where `quote` stands in `text`, in UTF-16 units; null: nowhere.
 * @param squashed `squash(text)`, which many quotations share
 */
export function findQuote(text: string, squashed: string, quote: string): { start: number; end: number } | null {
  const wanted = squash(quote.replace(/[\s.,;:!?…]+$/, ''));
  const at = wanted === '' ? -1 : squashed.indexOf(wanted);
  if (at === -1) return null;
  const start = unsquash(text, 0, at);
  return { start, end: unsquash(text, start, wanted.length - 1) + 1 };
}

/** The place of the character that has `count` characters that are not silent between `from` and itself. */
function unsquash(text: string, from: number, count: number): number {
  let left = count;
  for (let place = from; place < text.length; place++) {
    if (silent.test(text[place] ?? '')) continue;
    // a few capitals (İ) are two characters in small letters
    left -= (text[place] ?? '').toLowerCase().length;
    if (left < 0) return place;
  }
  return text.length - 1;
}
