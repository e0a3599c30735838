/** The pages or headings of a document, with what each costs. Beside a question they can be chosen. */

import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef, useState } from 'react';
import type { DocumentInfo } from '../../../electron/contract/documents';
import type { DraftDocument } from '../../state/appState';
import { countText, parseRanges, rangesText, sectionsName } from '../../state/lib/partText';
import { sectionLabel } from '../../state/lib/sectionLabel';
import type { PanelDocument } from '../../state/lib/usePanelDocument';
import { useActions } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { controlClass } from '../../ui/Field';
import { formatCount } from '../../ui/format';
import { OcrMark } from './Block';
import { ContextMark } from './ContextMark';
import { partOf } from './selection';

const rowHeight = 34;

export function PartsView({ document }: { document: PanelDocument }) {
  const { info, sections, inDraft } = document;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: sections.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
  });

  return (
    <>
      {inDraft && <RangeField document={document} card={inDraft} />}
      <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto px-3 py-2" data-testid="document-parts">
        <ul aria-label={allText(info)} className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => (
            <li
              key={index}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${start}px)`, height: rowHeight }}
            >
              <PartRow document={document} index={index} />
            </li>
          ))}
        </ul>
      </div>
    </>
  );
}

export function allText(info: DocumentInfo): string {
  switch (sectionsName(info)) {
    case 'page':
      return t`All pages`;
    case 'slide':
      return t`All slides`;
    case 'heading':
      return t`All headings`;
    case 'part':
      return t`All parts`;
  }
}

/** "3 of 12 pages" */
export function someText(some: number, all: number, info: DocumentInfo): string {
  const count = formatCount(some);
  switch (sectionsName(info)) {
    case 'page':
      return plural(all, { one: `${count} of # page`, other: `${count} of # pages` });
    case 'slide':
      return plural(all, { one: `${count} of # slide`, other: `${count} of # slides` });
    case 'heading':
      return plural(all, { one: `${count} of # heading`, other: `${count} of # headings` });
    case 'part':
      return plural(all, { one: `${count} of # part`, other: `${count} of # parts` });
  }
}

function PartRow({ document, index }: { document: PanelDocument; index: number }) {
  const { info, sections, tokens, inDraft, sent, chosen } = document;
  const { documents } = useActions();
  const section = sections[index];
  const count = tokens?.sections?.[index];
  if (!section) return null;
  const name = sectionLabel(section.label);

  function toggle(): void {
    if (!inDraft) return;
    const next = new Set(inDraft.part.kind === 'passages' ? [] : chosen);
    if (!next.delete(index)) next.add(index);
    documents.setPart(inDraft.key, partOf(next, sections.length));
  }

  return (
    <div className="flex h-full items-center gap-2.5 rounded-md px-2 text-sm hover:bg-hover">
      {inDraft && (
        <input
          type="checkbox"
          aria-label={name}
          data-testid="part-check"
          checked={inDraft.part.kind !== 'passages' && chosen.has(index)}
          onChange={toggle}
          className="size-4 shrink-0 accent-accent"
        />
      )}
      <button
        type="button"
        dir="auto"
        title={t`Show ${name}`}
        onClick={() => documents.openAt(info.id, { section: index })}
        className="min-w-0 flex-1 truncate text-start text-ink hover:underline"
        style={{ paddingInlineStart: Math.max(0, section.level - 1) * 12 }}
      >
        {name}
        {section.ocr && <OcrMark />}
      </button>
      {sent.has(index) && <ContextMark state="sent" />}
      <span
        className={cx('w-16 shrink-0 text-end text-xs text-ink-3 tabular-nums')}
        title={count === undefined ? undefined : countText(count, 'token')}
        data-testid="part-tokens"
      >
        {count === undefined ? '' : formatCount(count)}
      </span>
    </div>
  );
}

function numbersText(info: DocumentInfo): string {
  if (info.printedPages) {
    return t`Sheet numbers, as in 3-9, 12. The list shows them beside the printed page numbers.`;
  }
  switch (sectionsName(info)) {
    case 'page':
      return t`Numbers of pages, as in 3-9, 12.`;
    case 'slide':
      return t`Numbers of slides, as in 3-9, 12.`;
    case 'heading':
      return t`Numbers of headings, as in 3-9, 12.`;
    case 'part':
      return t`Numbers of parts, as in 3-9, 12.`;
  }
}

/** "3-9, 12" for what goes with the question, in place of many clicks. */
function RangeField({ document, card }: { document: PanelDocument; card: DraftDocument }) {
  const { info, sections, chosen } = document;
  const { documents } = useActions();
  const [typed, setTyped] = useState<string | null>(null);
  const current = card.part.kind === 'passages' ? '' : rangesText([...chosen].sort((a, b) => a - b));
  const invalid = typed !== null && parseRanges(typed, sections.length) === null;
  const choose = (indices: readonly number[]) => documents.setPart(card.key, partOf(new Set(indices), sections.length));

  function type(text: string): void {
    setTyped(text);
    const indices = parseRanges(text, sections.length);
    if (indices) choose(indices);
  }

  return (
    <div className="shrink-0 border-b border-line px-5 py-3">
      <div className="flex items-center gap-2">
        <label htmlFor="document-range" className="text-sm font-medium text-ink">
          <Trans>With the question</Trans>
        </label>
        <input
          id="document-range"
          data-testid="document-range"
          value={typed ?? current}
          placeholder="3-9, 12"
          autoComplete="off"
          spellCheck={false}
          aria-invalid={invalid || undefined}
          aria-describedby="document-range-help"
          onChange={(event) => type(event.target.value)}
          onBlur={() => setTyped(null)}
          className={cx(controlClass, 'min-w-0 flex-1')}
        />
        <Button size="small" tone="quiet" onClick={() => choose([...sections.keys()])}>
          {t({ message: 'All', context: 'parts of a document' })}
        </Button>
        <Button size="small" tone="quiet" onClick={() => choose([])}>
          {t({ message: 'None', context: 'parts of a document' })}
        </Button>
      </div>
      <p id="document-range-help" className={cx('mt-1 text-xs', invalid ? 'text-bad' : 'text-ink-3')}>
        {invalid
          ? t`Numbers from 1 to ${sections.length}, as in 3-9, 12.`
          : card.part.kind === 'passages'
            ? t`It is searched for each question. Choose here to send fixed parts instead.`
            : numbersText(info)}
      </p>
    </div>
  );
}
