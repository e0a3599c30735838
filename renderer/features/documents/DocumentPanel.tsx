/** A document beside the chat: its text by page, the list of pages to choose from, and what of it the model sees. */

import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { ChevronDown, ChevronUp, LoaderCircle, TriangleAlert } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { DocumentInfo, Section } from '../../../electron/contract/documents';
import type { Panel, Place } from '../../state/appState';
import { blockAt, blocksOf, stretchesOf } from '../../state/lib/blocks';
import { countText, kindName, sectionsName } from '../../state/lib/partText';
import { type PanelDocument, usePanelDocument } from '../../state/lib/usePanelDocument';
import { selectBudget, selectBudgetStale } from '../../state/slices/budget';
import { selectInfo, selectPanel, selectPanelError } from '../../state/slices/documents';
import { useActions, useApp } from '../../state/useApp';
import { Banner } from '../../ui/Banner';
import { Button } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { controlClass } from '../../ui/Field';
import { formatCount } from '../../ui/format';
import { Segmented } from '../../ui/Segmented';
import { SidePanel } from '../../ui/SidePanel';
import { PageView } from './PageView';
import { allText, PartsView, someText } from './PartsView';
import { SearchView } from './SearchView';
import { Stretch, turnHeight } from './Stretch';
import { tokensOf } from './selection';

export function DocumentPanel() {
  const panel = useApp(selectPanel);
  if (!panel) return null;
  return <OpenPanel key={panel.documentId} panel={panel} />;
}

function OpenPanel({ panel }: { panel: Panel }) {
  const info = useApp(selectInfo(panel.documentId));
  const error = useApp(selectPanelError);
  const document = usePanelDocument(panel.documentId);
  const { documents } = useActions();

  return (
    <SidePanel
      name="document"
      title={info?.name ?? t`Document`}
      closeLabel={t`Close the document`}
      onClose={documents.close}
      className={cx('w-[25rem]', viewOf(panel, info) === 'page' && 'xl:w-[36rem]')}
    >
      {error && (
        <Banner tone="bad" title={error.message} className="m-4" testId="document-error">
          {error.hint}
        </Banner>
      )}
      {!document && !error && (
        <p role="status" className="flex items-center gap-2 p-5 text-sm text-ink-2">
          <LoaderCircle className="size-4 animate-spin" aria-hidden="true" />
          <Trans>Opening the document</Trans>
        </p>
      )}
      {document && <Body panel={panel} document={document} />}
    </SidePanel>
  );
}

function Body({ panel, document }: { panel: Panel; document: PanelDocument }) {
  const { documents } = useActions();
  const { info } = document;
  // a citation or a page that is clicked ends the search: its place is what was asked for last
  const [search, setSearch] = useState({ query: '', asked: panel.asked });
  const query = search.asked === panel.asked ? search.query : '';
  const setQuery = (words: string) => setSearch({ query: words, asked: panel.asked });
  const view = viewOf(panel, info);
  const parts = info.sections > 1 ? [{ value: 'parts', label: allText(info) } as const] : [];
  const pictures = info.original ? [{ value: 'page', label: t`Page` } as const] : [];
  const views = [{ value: 'text', label: t`Text` } as const, ...pictures, ...parts];

  return (
    <>
      <div className="grid shrink-0 gap-2.5 border-b border-line px-5 py-3">
        <DocumentFacts document={document} />
        <DocumentNotices notices={info.notices} />
        <div className="flex items-center gap-2">
          <SearchField query={query} onQuery={setQuery} />
          {views.length > 1 && (
            <Segmented
              name="document-view"
              label={t`View`}
              value={view}
              options={views}
              onValue={(chosen) => {
                setQuery('');
                documents.setView(chosen);
              }}
            />
          )}
        </div>
      </div>
      {query.trim() !== '' ? (
        <SearchView documentId={info.id} query={query} />
      ) : view === 'parts' ? (
        <PartsView document={document} />
      ) : view === 'page' ? (
        <PageView document={document} panel={panel} />
      ) : (
        <TextView document={document} panel={panel} />
      )}
      <PanelFoot document={document} />
    </>
  );
}

/** What can be shown of it: no list of one part, and pages only of what is kept. */
function viewOf({ view }: Panel, info: DocumentInfo | null): Panel['view'] {
  if (view === 'page') return info?.original ? 'page' : 'text';
  return view === 'parts' && info && info.sections > 1 ? 'parts' : 'text';
}

/** What the document is, and how large. */
function DocumentFacts({ document: { info, tokens, sections } }: { document: PanelDocument }) {
  const word = sectionsName(info);
  const facts = [
    kindName(info.kind),
    info.pages === null
      ? sections.length > 1
        ? countText(sections.length, word)
        : null
      : countText(info.pages, 'page'),
    countText(info.characters, 'character'),
    tokens ? countText(tokens.tokens, 'token') : null,
  ];
  return (
    <p
      className="text-xs text-ink-2 tabular-nums"
      data-testid="document-facts"
      data-tokens={tokens?.tokens}
      title={tokens ? t`Counted by the model’s own tokenizer: ${formatCount(tokens.tokens)}` : undefined}
    >
      {facts.filter(Boolean).join(' · ')}
    </p>
  );
}

/** What was left out of it, or may be wrong. */
function DocumentNotices({ notices }: { notices: readonly string[] }) {
  if (notices.length === 0) return null;
  return (
    <ul className="grid max-h-24 gap-1 overflow-y-auto text-xs text-warn" aria-label={t`Notices`}>
      {notices.map((notice) => (
        <li key={notice} className="flex gap-1.5">
          <TriangleAlert className="mt-0.5 size-3.5 shrink-0" aria-hidden="true" />
          {notice}
        </li>
      ))}
    </ul>
  );
}

/** Escape empties it first, and closes the panel when it is empty. */
function SearchField({ query, onQuery }: { query: string; onQuery: (query: string) => void }) {
  return (
    <input
      dir="auto"
      type="search"
      aria-label={t`Search in the document`}
      data-testid="document-search"
      placeholder={t`Search in the document`}
      maxLength={1000}
      value={query}
      onChange={(event) => onQuery(event.target.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || query === '') return;
        event.stopPropagation();
        event.preventDefault();
        onQuery('');
      }}
      className={cx(controlClass, 'min-w-0 flex-1')}
    />
  );
}

/** What of the document goes with the question, against what is free; or the way to take it along. */
function PanelFoot({ document }: { document: PanelDocument }) {
  const { info, inDraft, sent } = document;
  const { documents } = useActions();

  return (
    <div className="flex min-h-12 shrink-0 items-center justify-between gap-3 border-t border-line bg-raised px-5 py-2 text-xs">
      {inDraft ? (
        <Running document={document} />
      ) : (
        <>
          <p className="text-ink-2" data-testid="document-sent">
            {sent.size > 0 ? sentText(document) : t`Not in the context of this chat.`}
          </p>
          <Button size="small" data-testid="document-attach" onClick={() => void documents.attachStored(info.id)}>
            <Trans>Attach to the question</Trans>
          </Button>
        </>
      )}
    </div>
  );
}

function sentText({ info, sections, sent }: PanelDocument): string {
  if (sent.size === sections.length) return t`In this chat: all of it.`;
  return t`In this chat: ${someText(sent.size, sections.length, info)}.`;
}

function Running({ document: { info, sections, tokens, inDraft, chosen } }: { document: PanelDocument }) {
  const budget = useApp(selectBudget);
  const stale = useApp(selectBudgetStale);
  if (!inDraft) return null;
  if (inDraft.part.kind === 'passages') {
    return (
      <p className="text-ink-2">
        <Trans>It is searched for each question.</Trans>
      </p>
    );
  }
  const own = budget?.byDocument.findLast((one) => !one.inBranch && one.documentId === info.id)?.tokens ?? 0;
  const room = budget ? Math.max(0, budget.contextSize - budget.reserve - budget.total + own) : null;
  // until the block is counted as it will stand in the prompt, its sections are added up
  const about = chosen.size === sections.length ? (tokens?.tokens ?? null) : tokensOf(chosen, tokens?.sections ?? null);
  const sum = budget && !stale ? own : about;
  const over = sum !== null && room !== null && sum > room;
  return (
    <p
      role="status"
      data-testid="document-running"
      data-tokens={sum ?? undefined}
      className={cx('tabular-nums', over ? 'font-medium text-warn' : 'text-ink-2')}
    >
      {chosen.size === sections.length ? wholeText(info) : someText(chosen.size, sections.length, info)}
      {sum !== null && `: ${takenText(sum, room)}`}
    </p>
  );
}

function wholeText({ pages }: DocumentInfo): string {
  return pages ? t`Goes whole, ${countText(pages, 'page')}` : t`Goes whole`;
}

/** `room`: tokens that are free; null: not known */
function takenText(tokens: number, room: number | null): string {
  if (room === null) return countText(tokens, 'token');
  const free = formatCount(room);
  return plural(tokens, { one: `# token of ${free} free`, other: `# tokens of ${free} free` });
}

// The text, of which only what is in sight is read and drawn: a document may have 300 million characters.

/** A very long text is shown stretch by stretch. Which one: where the person was sent, until they turn over. */
function TextView({ document, panel }: { document: PanelDocument; panel: Panel }) {
  const { sections } = document;
  const { place, left, asked } = panel;
  const blocks = useMemo(() => blocksOf(sections), [sections]);
  const stretches = useMemo(() => stretchesOf(blocks), [blocks]);
  const [turned, setTurned] = useState<{ asked: number; to: number } | null>(null);
  // what the person went to while they read text is where they are: only another view brings them elsewhere
  const [gone] = useState(left);
  const isHere = gone === null || left === null || (place && isIn(place, sections[gone], gone));
  const goes = isHere ? place : { section: gone };
  const target = goes ? blocks[blockAt(blocks, goes)] : undefined;
  const sentTo = target ? stretches.findIndex((stretch) => stretch.includes(target)) : 0;
  const at = turned?.asked === asked ? turned.to : Math.max(0, sentTo);
  const last = stretches.length - 1;

  function turn(to: number, from: 'top' | 'bottom') {
    if (to < 0 || to > last) return null;
    const [place, all] = [formatCount(to + 1), formatCount(stretches.length)];
    return (
      <div className="flex items-center justify-center" style={{ height: turnHeight }}>
        <Button
          size="small"
          data-testid={from === 'top' ? 'text-earlier' : 'text-later'}
          onClick={() => setTurned({ asked, to })}
        >
          {from === 'top' ? (
            <ChevronUp className="size-3.5" aria-hidden="true" />
          ) : (
            <ChevronDown className="size-3.5" aria-hidden="true" />
          )}
          {from === 'top' ? t`Earlier text: ${place} of ${all}` : t`The text goes on: ${place} of ${all}`}
        </Button>
      </div>
    );
  }

  return (
    <Stretch
      key={at}
      document={document}
      blocks={stretches[at] ?? []}
      target={turned?.asked === asked ? null : (target ?? null)}
      panel={{ ...panel, place: goes }}
      before={turn(at - 1, 'top')}
      after={turn(at + 1, 'bottom')}
    />
  );
}

function isIn(place: Place, section: Section | undefined, index: number): boolean {
  if ('section' in place) return place.section === index;
  return section !== undefined && section.start <= place.offset && place.offset < section.end;
}
