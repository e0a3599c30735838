/** Where words stand in a text, whatever their case. */

export interface Stretch {
  start: number;
  end: number;
}

/** In the order of the text, none over another; the longer word wins where two begin at one place. */
export function occurrences(text: string, words: readonly string[]): Stretch[] {
  const sorted = words.filter((word) => word.trim() !== '').sort((a, b) => b.length - a.length);
  if (sorted.length === 0) return [];
  const pattern = new RegExp(sorted.map(escaped).join('|'), 'giu');
  return Array.from(text.matchAll(pattern), ({ index, 0: { length } }) => ({ start: index, end: index + length }));
}

/** As a pattern; any white space stands for any other, because a page breaks lines where the text did not. */
function escaped(word: string): string {
  return word
    .trim()
    .replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
    .replace(/\s+/g, '\\s+');
}
