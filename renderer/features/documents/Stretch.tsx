import { t } from '@lingui/core/macro';
import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useCallback, useEffect, useLayoutEffect, useRef } from 'react';
import type { Panel, Place } from '../../state/appState';
import type { TextBlock } from '../../state/lib/blocks';
import type { PanelDocument } from '../../state/lib/usePanelDocument';
import { useActions } from '../../state/useApp';
import { Block } from './Block';

const charactersOfLine = 48;
const lineHeight = 20;
const labelHeight = 40;
/** pixels of what leads to the text before, or after */
export const turnHeight = 52;

interface StretchProps {
  document: PanelDocument;
  blocks: readonly TextBlock[];
  /** the block to bring into view; null: the beginning */
  target: TextBlock | null;
  panel: Panel;
  /** `turnHeight` high; null: this is the first one */
  before: ReactNode;
  after: ReactNode;
}

/** As much of the text as one scroll area can hold. */
export function Stretch({ document, blocks, target, panel, before, after }: StretchProps) {
  const { info, sections, sent, chosen } = document;
  const { place, asked } = panel;
  const scroller = useRef<HTMLDivElement>(null);
  const texts = useRef(new Map<number, string>());
  const scrollMargin = before ? turnHeight : 0;
  const virtual = useVirtualizer<HTMLElement, Element>({
    count: blocks.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => heightOf(blocks[index]),
    overscan: 2,
    scrollMargin,
  });

  const { follow, letGo, isHeld } = useTarget(virtual, scroller, target ? blocks.indexOf(target) : null, asked);

  const { documents } = useActions();
  const leave = useRef(() => {});
  useEffect(() => {
    leave.current = () => {
      const seen = blocks[virtual.range?.startIndex ?? -1];
      if (seen && !isHeld()) documents.goTo(info.id, asked, seen.section);
    };
  });
  // the other views begin where the person has scrolled to
  useEffect(() => () => leave.current(), []);

  return (
    <section
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which the keyboard has to reach
      tabIndex={0}
      aria-label={t`Text of the document`}
      data-testid="document-text"
      onWheel={letGo}
      onPointerDown={letGo}
      onKeyDown={letGo}
      className="min-h-0 flex-1 overflow-y-auto px-5 outline-offset-[-2px]"
    >
      {before}
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const block = blocks[index];
          const section = block && sections[block.section];
          if (!block || !section) return null;
          return (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className="absolute inset-x-0 top-0 pb-px"
              style={{ transform: `translateY(${start - scrollMargin}px)` }}
            >
              <Block
                documentId={info.id}
                block={block}
                section={section}
                texts={texts.current}
                inContext={sent.has(block.section) ? 'sent' : chosen.has(block.section) ? 'chosen' : null}
                place={target && place && isMarked(block, target, place) ? place : null}
                isTarget={block === target}
                asked={asked}
                onMark={follow}
              />
            </div>
          );
        })}
      </div>
      {after}
    </section>
  );
}

/** A passage may go on over the next pages. */
function isMarked(block: TextBlock, target: TextBlock, place: Place): place is Place & { offset: number } {
  if (!('offset' in place)) return false;
  return block === target || (place.end !== undefined && block.start < place.end && block.end > place.offset);
}

/** Until it is drawn and measured. */
function heightOf(block: TextBlock | undefined): number {
  if (!block) return lineHeight;
  return (block.first ? labelHeight : 0) + Math.ceil((block.end - block.start) / charactersOfLine) * lineHeight;
}

/**
 * Keeps the place that was asked for in view while the texts around it come and change their heights, until the person
 * scrolls. `index`: of its block; null: nothing was asked for.
 */
function useTarget(
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
    isHeld: useCallback(() => held.current, []),
    letGo: useCallback(() => {
      held.current = false;
    }, []),
  };
}
