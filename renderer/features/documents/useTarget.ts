import type { Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useLayoutEffect, useRef } from 'react';

/**
 * Keeps the place that was asked for in view while the texts around it come and change their heights, until the person
 * scrolls. `index`: of its block; null: nothing was asked for.
 */
export function useTarget(
  virtual: Virtualizer<HTMLElement, Element>,
  scroller: RefObject<HTMLElement | null>,
  index: number | null,
  asked: number,
) {
  const held = useRef(true);

  const follow = useCallback(() => {
    if (!held.current || index === null) return;
    const area = scroller.current;
    const mark = area?.querySelector('[data-target]');
    if (!area || !mark) return virtual.scrollToIndex(index, { align: 'start' });
    const { top, height } = mark.getBoundingClientRect();
    // a passage that is higher than the window is shown from its beginning
    const above = Math.max(area.clientHeight / 6, (area.clientHeight - height) / 2);
    virtual.scrollToOffset(area.scrollTop + top - area.getBoundingClientRect().top - above);
  }, [virtual, scroller, index]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the same place may be asked for again
  useLayoutEffect(() => {
    held.current = true;
  }, [asked, index]);
  const drawn = virtual.getVirtualItems().map(({ index: row, start, size }) => `${row} ${start} ${size}`);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever moves a row moves the place
  useLayoutEffect(follow, [follow, asked, drawn.join()]);

  return {
    follow,
    letGo: useCallback(() => {
      held.current = false;
    }, []),
  };
}
