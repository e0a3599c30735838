/** Which messages have a row, and how high a row is before anyone has seen it. */
import type { Message } from '../../../electron/contract/chats';

const mostSelected = 400;
const lineHeight = 25;
const lineCharacters = 84;
const foldedHeight = 300;

/** Pixels; only the length of the scroll bar hangs on it until the row is measured. */
export function estimateRow({ role, text }: Pick<Message, 'role' | 'text'>): number {
  const words = Math.ceil(text.length / lineCharacters) * lineHeight;
  return role === 'user' ? 56 + Math.min(words, foldedHeight) : 56 + words;
}

/** The rows in view together with those that must stay: sorted, each once, none beyond `count`. */
export function withKept(visible: readonly number[], kept: readonly number[], count: number): number[] {
  const all = new Set([...visible, ...kept.filter((index) => index >= 0 && index < count)]);
  return [...all].sort((a, b) => a - b);
}

/**
 * Rows that must not leave the page although they are out of sight: the one with the keyboard focus, and those of a
 * selection, which would otherwise be copied with holes.
 */
export function keptRows(list: HTMLElement | null): number[] {
  if (!list) return [];
  const focused = rowOf(list, document.activeElement);
  const selection = document.getSelection();
  const kept = focused === null ? [] : [focused];
  if (!selection || selection.isCollapsed) return kept;
  const ends = [rowOf(list, selection.anchorNode), rowOf(list, selection.focusNode)].filter((end) => end !== null);
  return [...kept, ...rowsBetween(ends)];
}

/** All rows from the least to the greatest of `ends`; of a huge selection only the ends. */
export function rowsBetween(ends: readonly number[]): number[] {
  if (ends.length === 0) return [];
  const from = Math.min(...ends);
  const to = Math.max(...ends);
  return to - from > mostSelected ? [from, to] : Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

function rowOf(list: HTMLElement, node: Node | null): number | null {
  const element = node instanceof Element ? node : (node?.parentElement ?? null);
  const row = element && list.contains(element) ? element.closest<HTMLElement>('[data-index]') : null;
  return row ? Number(row.dataset.index) : null;
}
