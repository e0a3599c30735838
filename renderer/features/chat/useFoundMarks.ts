/**
 * Marks the words that a search has found, in the row that it has led to. CSS highlights change nothing in the page, so
 * that React, and an answer that is still being laid out, can go on under them.
 */
import { type RefObject, useEffect } from 'react';
import type { Target } from '../../state/conversation/state';
import { occurrences } from './found';

const name = 'found';
const mostMarks = 500;

export function useFoundMarks(scrollRef: RefObject<HTMLElement | null>, target: Target | null): void {
  useEffect(() => {
    const list = scrollRef.current;
    // Chrome has them from 105 on; without them the row alone is shown.
    if (!list || !target || target.words.length === 0 || !('highlights' in CSS)) return;
    let frame = 0;
    let scrolled = false;

    function mark(): void {
      const row = list?.querySelector(`[data-message-id="${CSS.escape(target?.messageId ?? '')}"]`);
      const parts = row ? [...row.querySelectorAll('.prose-c, [data-words]')] : [];
      const ranges = parts.flatMap((part) => rangesIn(part, target?.words ?? []));
      if (ranges.length > 0) CSS.highlights.set(name, new Highlight(...ranges));
      else CSS.highlights.delete(name);
      if (list && ranges[0] && !scrolled) {
        scrolled = true;
        bringIntoView(list, ranges[0]);
      }
    }
    const observer = new MutationObserver(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(mark);
    });
    observer.observe(list, { childList: true, characterData: true, subtree: true });
    frame = requestAnimationFrame(mark);
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      CSS.highlights.delete(name);
    };
  }, [scrollRef, target]);
}

/** Ranges of the words in an element, over the borders of its parts (a word may be half bold). */
export function rangesIn(element: Element, words: readonly string[]): Range[] {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const nodes: { node: Text; start: number }[] = [];
  let text = '';
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    nodes.push({ node, start: text.length });
    text += node.data;
  }
  const place = (offset: number) => {
    const at = nodes.findLast(({ start }) => start <= offset);
    return at ? ([at.node, Math.min(offset - at.start, at.node.length)] as const) : null;
  };
  return occurrences(text, words)
    .slice(0, mostMarks)
    .flatMap(({ start, end }) => {
      const [from, to] = [place(start), place(end - 1)];
      if (!from || !to) return [];
      const range = document.createRange();
      range.setStart(from[0], from[1]);
      range.setEnd(to[0], to[1] + 1);
      return [range];
    });
}

/** A long message may be in view without its word. */
function bringIntoView(list: HTMLElement, range: Range): void {
  const view = list.getBoundingClientRect();
  const word = range.getBoundingClientRect();
  if (word.top >= view.top && word.bottom <= view.bottom) return;
  list.scrollTop += word.top - (view.top + view.height / 3);
}
