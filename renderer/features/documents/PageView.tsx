/** A page of a document as its file has it, drawn: what text alone does not show. The words that were asked for are marked. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { ChevronLeft, ChevronRight, LoaderCircle, Minus, Plus } from 'lucide-react';
import { type KeyboardEvent, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { PagePicture, Section } from '../../../electron/contract/documents';
import type { ErrorPayload } from '../../../electron/contract/errors';
import { limits } from '../../../electron/contract/limits';
import { i18n } from '../../language';
import type { Panel, Place } from '../../state/appState';
import { sectionLabel } from '../../state/lib/sectionLabel';
import type { PanelDocument } from '../../state/lib/usePanelDocument';
import { useActions } from '../../state/useApp';
import { Banner } from '../../ui/Banner';
import { Button, IconButton } from '../../ui/Button';
import { formatCount } from '../../ui/format';
import { useDebounced } from '../../ui/hooks';

/** 1: as wide as the panel */
const zooms = [0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4];
const fit = zooms.indexOf(1);
/** pixels: a panel that is a little wider needs no other picture */
const widthStep = 100;
const restMs = 150;
/** of a sheet of which nothing is known yet: A4 */
const usualShape = 210 / 297;

export function PageView({ document, panel }: { document: PanelDocument; panel: Panel }) {
  const { info, sections } = document;
  const { place, left, asked } = panel;
  const { documents } = useActions();
  const area = useRef<HTMLElement>(null);
  const room = useDebounced(useWidth(area), restMs);
  const [zoom, setZoom] = useState(fit);
  const sheet = left === null ? sheetOf(place, sections) : left + 1;
  const section = sections[sheet - 1];
  const marked = section && place && standsOn(place, section) ? place : null;
  const label = sectionLabel(section?.label ?? '');
  const name = t`${label} of ${info.name}`;
  const width = room * (zooms[zoom] ?? 1);
  const { picture, error, again } = usePicture(info.id, sheet, width, marked);
  useInView(area, picture, `${asked} ${sheet}`);

  const turn = (to: number) => {
    if (to >= 1 && to <= sections.length) documents.goTo(info.id, asked, to - 1);
  };
  const zoomTo = (to: number) => setZoom(Math.min(zooms.length - 1, Math.max(0, to)));

  function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = keys({ sheet, zoom, turn, zoomTo, element: event.currentTarget })[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  return (
    <>
      <div className="flex h-10 shrink-0 items-center gap-1 border-b border-line px-3">
        <IconButton
          label={t`Previous page`}
          keys="PageUp"
          size="small"
          icon={<ChevronLeft />}
          disabled={sheet <= 1}
          onClick={() => turn(sheet - 1)}
        />
        <p role="status" className="min-w-0 truncate text-xs text-ink-2 tabular-nums" data-testid="page-label">
          {t`${label} of ${formatCount(sections.length)}`}
        </p>
        <IconButton
          label={t`Next page`}
          keys="PageDown"
          size="small"
          icon={<ChevronRight />}
          disabled={sheet >= sections.length}
          onClick={() => turn(sheet + 1)}
        />
        <span className="flex-1" />
        <IconButton
          label={t`Smaller`}
          keys="-"
          size="small"
          icon={<Minus />}
          disabled={zoom === 0}
          onClick={() => zoomTo(zoom - 1)}
        />
        <Button
          tone="quiet"
          size="small"
          title={t`Fit the width (0)`}
          onClick={() => zoomTo(fit)}
          data-testid="page-zoom"
        >
          {zoom === fit ? t`Fit` : zoomText(zooms[zoom] ?? 1)}
        </Button>
        <IconButton
          label={t`Larger`}
          keys="+"
          size="small"
          icon={<Plus />}
          disabled={zoom === zooms.length - 1}
          onClick={() => zoomTo(zoom + 1)}
        />
      </div>
      <section
        ref={area}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which the keyboard has to reach
        tabIndex={0}
        aria-label={name}
        aria-busy={!picture && !error}
        data-testid="document-page"
        onKeyDown={onKeyDown}
        className="relative min-h-0 flex-1 overflow-auto bg-sunken p-3 outline-offset-[-2px] [scrollbar-gutter:stable]"
      >
        {error ? (
          <Banner
            tone="bad"
            title={error.message}
            testId="page-error"
            actions={
              <Button size="small" onClick={again}>
                <Trans>Try again</Trans>
              </Button>
            }
          >
            {error.hint}
          </Banner>
        ) : (
          <Sheet picture={picture} width={width} name={name} />
        )}
      </section>
      {picture && marked && picture.marks.length === 0 && 'offset' in marked && (
        <p className="shrink-0 border-t border-line px-5 py-2 text-xs text-ink-2" role="status">
          <Trans>The words were not found in the picture of this page. The tab Text marks them.</Trans>
        </p>
      )}
    </>
  );
}

interface SheetProps {
  /** null: it is being drawn */
  picture: PagePicture | null;
  /** CSS pixels */
  width: number;
  name: string;
}

/** Paper is white whatever the theme. */
function Sheet({ picture, width, name }: SheetProps) {
  const shape = picture ? picture.width / picture.height : usualShape;
  return (
    <div
      className="relative mx-auto overflow-hidden rounded-xs bg-white shadow-card ring-1 ring-line-strong"
      style={{ width, aspectRatio: shape }}
    >
      {picture ? (
        <img
          src={`data:image/png;base64,${picture.png}`}
          alt={name}
          draggable={false}
          className="absolute inset-0 size-full"
          data-testid="page-picture"
        />
      ) : (
        <p role="status" className="appear-late flex items-center justify-center gap-2 pt-16 text-sm text-[#444]">
          <LoaderCircle className="size-4 animate-spin" aria-hidden="true" />
          <Trans>Drawing the page</Trans>
        </p>
      )}
      {picture?.marks.map(({ x, y, width: across, height }) => (
        <mark
          key={`${x} ${y}`}
          data-testid="page-mark"
          // of the paper, which is white in both themes; the outline tells it from a color of the page
          className="absolute rounded-[1px] bg-[#ffd84d]/50 mix-blend-multiply outline-1 outline-offset-1 outline-[#8a5a00]"
          style={{ left: share(x), top: share(y), width: share(across), height: share(height) }}
        />
      ))}
      {picture && picture.marks.length > 0 && <p className="sr-only">{t`The words are marked on the picture.`}</p>}
    </div>
  );
}

function zoomText(zoom: number): string {
  return new Intl.NumberFormat(i18n.locale, { style: 'percent' }).format(zoom);
}

const share = (part: number) => `${100 * part}%`;

interface Reach {
  sheet: number;
  zoom: number;
  turn: (to: number) => void;
  zoomTo: (to: number) => void;
  element: HTMLElement;
}

/** What keys do; a page that is taller than the panel is scrolled to its end first. */
function keys({ sheet, zoom, turn, zoomTo, element }: Reach): Record<string, (() => void) | undefined> {
  const { scrollTop, scrollHeight, clientHeight } = element;
  const atEnd = scrollTop + clientHeight >= scrollHeight - 2;
  return {
    PageDown: atEnd ? () => turn(sheet + 1) : undefined,
    PageUp: scrollTop <= 2 ? () => turn(sheet - 1) : undefined,
    '+': () => zoomTo(zoom + 1),
    '=': () => zoomTo(zoom + 1),
    '-': () => zoomTo(zoom - 1),
    '0': () => zoomTo(fit),
  };
}

function sheetOf(place: Place | null, sections: readonly Section[]): number {
  if (!place) return 1;
  if ('section' in place) return place.section + 1;
  return Math.max(1, sections.findLastIndex(({ start }) => start <= place.offset) + 1);
}

/** A passage may go on over the next pages. */
function standsOn(place: Place, section: Section): place is Extract<Place, { offset: number }> {
  return 'offset' in place && place.offset < section.end && (place.end ?? place.offset + 1) > section.start;
}

/** Of what is in the element, in CSS pixels; 0 until it is measured. */
function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (!element.current) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

/** The picture of a page; an older one of the same page until a sharper one is there. */
function usePicture(documentId: string, sheet: number, width: number, place: { offset: number; end?: number } | null) {
  const { documents } = useActions();
  const [state, setState] = useState<{ sheet: number; picture: PagePicture | null; error: ErrorPayload | null }>();
  const [tries, setTries] = useState(0);
  const pixels = Math.min(limits.maxPageWidth, Math.ceil((width * window.devicePixelRatio) / widthStep) * widthStep);
  const { offset, end } = place ?? {};
  // biome-ignore lint/correctness/useExhaustiveDependencies: the person may want it tried again
  useEffect(() => {
    if (pixels === 0) return;
    let dropped = false;
    const marked = offset === undefined ? null : { offset, ...(end !== undefined && { end }) };
    void documents.page({ documentId, sheet, width: pixels, place: marked }).then((drawn) => {
      if (dropped) return;
      if (drawn.ok) setState({ sheet, picture: drawn.value, error: null });
      else if (drawn.error.code !== 'cancelled') setState({ sheet, picture: null, error: drawn.error });
    });
    return () => {
      dropped = true;
    };
  }, [documents, documentId, sheet, pixels, offset, end, tries]);
  const shown = state?.sheet === sheet ? state : null;
  const again = () => {
    setState(undefined);
    setTries(tries + 1);
  };
  return { picture: shown?.picture ?? null, error: shown?.error ?? null, again };
}

/** Shows the first mark of a page that was asked for, or its top, once. */
function useInView(area: RefObject<HTMLElement | null>, picture: PagePicture | null, asked: string): void {
  const shown = useRef('');
  useLayoutEffect(() => {
    if (!picture || !area.current || shown.current === asked) return;
    shown.current = asked;
    const mark = area.current.querySelector('mark');
    if (mark) mark.scrollIntoView({ block: 'center', inline: 'nearest' });
    else area.current.scrollTo({ top: 0 });
  }, [area, picture, asked]);
}
