import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef } from 'react';
import type { TextBlock } from '../../state/documents/blocks';
import type { Panel } from '../../state/documents/state';
import type { PanelDocument } from '../../state/documents/usePanelDocument';
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
  const virtual = useVirtualizer({
    count: blocks.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => heightOf(blocks[index]),
    overscan: 2,
    scrollMargin,
  });

  // biome-ignore lint/correctness/useExhaustiveDependencies: the same place may be asked for again
  useEffect(() => {
    if (target) virtual.scrollToIndex(blocks.indexOf(target), { align: 'start' });
  }, [asked, target]);

  return (
    <section
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which the keyboard has to reach
      tabIndex={0}
      aria-label="Text of the document"
      data-testid="document-text"
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
                place={block === target && place && 'offset' in place ? place : null}
                asked={asked}
              />
            </div>
          );
        })}
      </div>
      {after}
    </section>
  );
}

/** Until it is drawn and measured. */
function heightOf(block: TextBlock | undefined): number {
  if (!block) return lineHeight;
  return (block.first ? labelHeight : 0) + Math.ceil((block.end - block.start) / charactersOfLine) * lineHeight;
}
