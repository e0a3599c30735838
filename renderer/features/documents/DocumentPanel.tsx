/** A document beside the chat: its text by page, the list of pages to choose from, and what of it the model sees. */
import { LoaderCircle, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { selectInfo, selectPanel, selectPanelError } from '../../state/documents/selectors';
import type { Panel } from '../../state/documents/state';
import { sectionsName } from '../../state/lib/partText';
import { type PanelDocument, usePanelDocument } from '../../state/lib/usePanelDocument';
import { useActions, useApp } from '../../state/useApp';
import { Banner } from '../../ui/Banner';
import { IconButton } from '../../ui/IconButton';
import { Segmented } from '../../ui/Segmented';
import { DocumentFacts, DocumentNotices } from './DocumentFacts';
import { SearchField } from './DocumentSearchField';
import { PanelFoot } from './PanelFoot';
import { PartsView } from './PartsView';
import { SearchView } from './SearchView';
import { TextView } from './TextView';

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
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);

  return (
    <aside
      aria-labelledby="document-title"
      data-testid="document-panel"
      className="slide-in flex h-full w-[25rem] max-w-[100vw] flex-col border-l border-line bg-panel"
    >
      <div className="flex h-12 shrink-0 items-center gap-2 border-b border-line pr-2 pl-5">
        <h2
          id="document-title"
          ref={heading}
          tabIndex={-1}
          title={info?.name}
          className="min-w-0 flex-1 truncate pt-0.5 font-serif text-[1.06rem] text-ink outline-none"
        >
          {info?.name ?? 'Document'}
        </h2>
        <IconButton
          label="Close the document"
          keys="Esc"
          side="left"
          icon={<X />}
          onClick={documents.close}
          data-testid="document-close"
        />
      </div>
      {error && (
        <Banner tone="bad" title={error.message} className="m-4" testId="document-error">
          {error.hint}
        </Banner>
      )}
      {!document && !error && (
        <p role="status" className="flex items-center gap-2 p-5 text-sm text-ink-2">
          <LoaderCircle className="size-4 animate-spin" aria-hidden="true" />
          Opening the document
        </p>
      )}
      {document && <Body panel={panel} document={document} />}
    </aside>
  );
}

function Body({ panel, document }: { panel: Panel; document: PanelDocument }) {
  const { documents } = useActions();
  const { info } = document;
  // a citation or a page that is clicked ends the search: its place is what was asked for last
  const [search, setSearch] = useState({ query: '', asked: panel.asked });
  const query = search.asked === panel.asked ? search.query : '';
  const setQuery = (words: string) => setSearch({ query: words, asked: panel.asked });
  const word = sectionsName(info);
  const views = [
    { value: 'text', label: 'Text' },
    { value: 'parts', label: `${word[0]?.toUpperCase()}${word.slice(1)}s` },
  ] as const;

  return (
    <>
      <div className="grid shrink-0 gap-2.5 border-b border-line px-5 py-3">
        <DocumentFacts document={document} />
        <DocumentNotices notices={info.notices} />
        <div className="flex items-center gap-2">
          <SearchField query={query} onQuery={setQuery} />
          {info.sections > 1 && (
            <Segmented
              name="document-view"
              label="View"
              value={panel.view}
              options={views}
              onValue={(view) => {
                setQuery('');
                documents.setView(view);
              }}
            />
          )}
        </div>
      </div>
      {query.trim() !== '' ? (
        <SearchView documentId={info.id} query={query} />
      ) : panel.view === 'text' || info.sections < 2 ? (
        <TextView document={document} panel={panel} />
      ) : (
        <PartsView document={document} />
      )}
      <PanelFoot document={document} />
    </>
  );
}
