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

/** Ids of the messages that hold the words, in their order. */
export function messagesWith(messages: readonly { id: string; text: string }[], words: string): string[] {
  if (words.trim() === '') return [];
  const pattern = new RegExp(escaped(words), 'iu');
  return messages.filter(({ text }) => pattern.test(text)).map(({ id }) => id);
}

/** The next of the ids, round and round. From nowhere the first step back is to the last: the newest message. */
export function stepTo(ids: readonly string[], place: number, step: 1 | -1): string | null {
  const from = place === -1 && step === -1 ? 0 : place;
  return ids[(from + step + ids.length) % ids.length] ?? null;
}
