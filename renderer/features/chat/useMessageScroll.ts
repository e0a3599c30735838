/**
 * The rows of a long chat that are near the view, and where the view stands: at the end while text arrives, until the
 * person scrolls up; at a message that was asked for.
 */

import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Message } from '../../../electron/contract/chats';
import type { Target } from '../../state/appState';

/** Closer to the end than this, in pixels, the list keeps to it: less than one step of any way to scroll. */
const endThreshold = 8;
/** From here on a button leads back to the end. */
const farFromEnd = 70;
const paddingStart = 20;
const paddingEnd = 12;

/** as the page has it now, which the list learns of later */
function standsAtEnd(view: HTMLElement | null): boolean {
  return view !== null && view.scrollHeight - view.clientHeight - view.scrollTop <= endThreshold;
}

export function useMessageScroll(
  messages: readonly Message[],
  scrollRef: RefObject<HTMLElement | null>,
  target: Target | null,
) {
  const [atEnd, setAtEnd] = useState(true);
  const keeps = useRef(true);
  const seen = useRef({ height: 0, offset: 0 });

  const list = useVirtualizer<HTMLElement, HTMLLIElement>({
    count: messages.length,
    getScrollElement: () => scrollRef.current,
    getItemKey: (index) => messages[index]?.id ?? index,
    estimateSize: (index) => estimateRow(messages[index] ?? { role: 'user', text: '' }),
    // Rows lie in the flow of the page: rounded heights would add up to a jump.
    measureElement: (element, entry) => entry?.borderBoxSize[0]?.blockSize ?? element.getBoundingClientRect().height,
    rangeExtractor: (range) => withKept(defaultRangeExtractor(range), keptRows(scrollRef.current), range.count),
    overscan: 6,
    paddingStart,
    paddingEnd,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: endThreshold,
    onChange: (instance) => {
      const now = { height: instance.scrollRect?.height ?? 0, offset: instance.scrollOffset ?? 0 };
      const { height, offset } = seen.current;
      seen.current = now;
      // A view of another height, a row that grew, or one that shrank and let the browser move the view with the end is not a
      // person who scrolls: the observer below brings the end back.
      if (standsAtEnd(scrollRef.current)) keeps.current = true;
      else if (!instance.isAtEnd(endThreshold) && now.height === height && now.offset < offset) keeps.current = false;
      setAtEnd(instance.isAtEnd(farFromEnd));
    },
  });

  useLayoutEffect(() => list.scrollToEnd(), [list]);

  // The composer grows, the window shrinks, rows grow meanwhile: what was at the end stays there.
  useEffect(() => {
    const element = scrollRef.current;
    if (!element) return;
    const observer = new ResizeObserver(() => keeps.current && !standsAtEnd(element) && list.scrollToEnd());
    for (const watched of [element, ...element.children]) observer.observe(watched);
    return () => observer.disconnect();
  }, [list, scrollRef]);

  // Who asks wants to see the answer, wherever they were reading.
  const last = messages.at(-1);
  const openAnswer = last?.role === 'assistant' && last.stopReason === null ? last.id : null;
  useEffect(() => {
    if (openAnswer) list.scrollToEnd();
  }, [openAnswer, list]);

  const messagesRef = useRef(messages);
  messagesRef.current = messages;
  useEffect(() => {
    const index = messagesRef.current.findIndex((message) => message.id === target?.messageId);
    if (index === -1) return;
    list.scrollToIndex(index, { align: 'center' });
    // rows that grow on the way there do not lead back to the end
    keeps.current = standsAtEnd(scrollRef.current);
  }, [target, list, scrollRef]);

  return { list, atEnd };
}

// Which messages have a row, and how high a row is before anyone has seen it.

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
function keptRows(list: HTMLElement | null): number[] {
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
