/** Words that two answers do not share. */
import { diffWordsWithSpace } from 'diff';

export interface Piece {
  text: string;
  /** not in the other answer */
  own: boolean;
}

export interface Compared {
  left: Piece[];
  right: Piece[];
}

/** Longer than this nobody waits; two long answers without a common word would take minutes. */
const longestMs = 400;

/** Null: the two are too different to be compared in the time. */
export function compareWords(left: string, right: string): Compared | null {
  const changes = diffWordsWithSpace(left, right, { timeout: longestMs });
  if (!changes) return null;
  return {
    left: changes.filter(({ added }) => !added).map(({ value, removed }) => ({ text: value, own: removed })),
    right: changes.filter(({ removed }) => !removed).map(({ value, added }) => ({ text: value, own: added })),
  };
}
