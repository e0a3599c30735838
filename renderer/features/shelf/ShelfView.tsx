/** The shelf: documents that are kept for chats to begin with. */
import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { FolderPlus, Library, Paperclip, Search, SquarePen, Undo2 } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { ShelfDocument } from '../../../electron/contract/lib/shelf';
import { countText } from '../../state/lib/partText';
import { searchShelf } from '../../state/lib/shelf';
import { selectArriving, selectShelf } from '../../state/slices/shelf';
import { useActions, useApp } from '../../state/useApp';
import { Banner } from '../../ui/Banner';
import { Button } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { Dialog } from '../../ui/Dialog';
import { controlClass } from '../../ui/Field';
import { formatCount } from '../../ui/format';
import { AddDocuments, Arriving } from './AddDocuments';
import { ChooseFolder } from './FolderDocuments';
import { renameFieldId, ShelfRow } from './ShelfRow';

/** so many rows are made; of more the person searches */
const mostRows = 200;

export function ShelfView() {
  const { open } = useApp(selectShelf);
  const { shelf } = useActions();
  /** what is done when the view is gone: it may move the focus */
  const then = useRef<(() => void) | null>(null);

  function leave(next: () => void): void {
    then.current = next;
    shelf.close();
  }

  return (
    <Dialog
      title={t`Shelf`}
      description={t`Documents that you keep for your chats: added once, used by any of them.`}
      open={open}
      onOpenChange={(next) => !next && shelf.close()}
      onEscape={inFieldThatUsesIt}
      onClosed={() => {
        then.current?.();
        then.current = null;
      }}
      className="w-[min(54rem,calc(100%-2rem))]"
      testId="shelf-view"
    >
      <div className="flex h-[min(44rem,calc(100vh-6.5rem))] min-h-0 flex-col">
        <ShelfBody onLeave={leave} />
      </div>
    </Dialog>
  );
}

/** Another model or context counts and keeps other things. */
function useLookAgain(): void {
  const key = useApp(({ engine: { status } }) => {
    const usable = status?.state === 'ready' || status?.state === 'generating';
    return usable ? JSON.stringify([status.modelId, status.context]) : '';
  });
  const { shelf } = useActions();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the model and its context
  useEffect(() => void shelf.look(), [key, shelf]);
  const holds = useApp((state) => state.engine.status?.contextChat ?? null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is in the context can be gone on from
  useEffect(() => void shelf.askKept(), [holds, shelf]);
}

/** A name that is being changed goes back to what it was, a search ends. */
function inFieldThatUsesIt(): boolean {
  const field = document.activeElement;
  return (
    field instanceof HTMLInputElement && (field.id === renameFieldId || (field.type === 'search' && field.value !== ''))
  );
}

function ShelfBody({ onLeave }: { onLeave: (then: () => void) => void }) {
  const { documents, known, problem, removed, already } = useApp(selectShelf);
  const arriving = useApp(selectArriving);
  const { shelf } = useActions();
  const [query, setQuery] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [placing, setPlacing] = useState<readonly string[]>([]);
  const found = searchShelf(documents, query);
  useLookAgain();
  // what was taken off is not chosen any more
  const there = chosen.filter((id) => documents.some(({ documentId }) => documentId === id));

  function toggle(documentId: string): void {
    setChosen(there.includes(documentId) ? there.filter((id) => id !== documentId) : [...there, documentId]);
  }

  return (
    <>
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-3">
        <SearchField query={query} onQuery={setQuery} />
        <AddDocuments folder={null} tone="primary" />
      </div>
      {problem && (
        <Banner
          tone="bad"
          title={problem.message}
          testId="shelf-problem"
          className="mx-3 mt-3"
          onClose={shelf.closeProblem}
        >
          {problem.hint}
        </Banner>
      )}
      {already && (
        <Banner
          tone="info"
          title={t`${already.name} is on the shelf already`}
          testId="shelf-already"
          className="mx-3 mt-3"
          onClose={shelf.closeAlready}
        >
          {already.as === already.name ? t`It is kept once.` : t`The same file is kept as ${already.as}.`}
        </Banner>
      )}
      {removed && <Removed documents={removed.documents} />}
      <div className="min-h-0 flex-1 overflow-y-auto pb-3">
        <Arriving />
        {known && documents.length === 0 && arriving.length === 0 && <Empty />}
        {documents.length > 0 && (
          <ul
            aria-label={t`Documents on the shelf`}
            className="grid grid-cols-1 gap-0.5 px-2 pt-2"
            data-testid="shelf-list"
          >
            {found.slice(0, mostRows).map((entry) => (
              <ShelfRow
                key={entry.documentId}
                entry={entry}
                chosen={there.includes(entry.documentId)}
                onToggle={() => toggle(entry.documentId)}
                onLeave={onLeave}
                onFolder={() => setPlacing([entry.documentId])}
              />
            ))}
          </ul>
        )}
        <p role="status" className={cx('px-5 pt-3 text-sm text-ink-3', foundText(found, query) === '' && 'sr-only')}>
          {foundText(found, query)}
        </p>
      </div>
      {there.length > 0 && (
        <Chosen ids={there} onLeave={onLeave} onFolder={() => setPlacing(there)} onClear={() => setChosen([])} />
      )}
      {placing.length > 0 && <ChooseFolder documentIds={placing} onClose={() => setPlacing([])} />}
    </>
  );
}

function foundText(found: readonly ShelfDocument[], query: string): string {
  if (found.length > mostRows) {
    return t`${formatCount(found.length - mostRows)} more are not shown. Search for them by name.`;
  }
  return found.length === 0 && query.trim() !== '' ? t`No document on the shelf has this name.` : '';
}

function SearchField({ query, onQuery }: { query: string; onQuery: (query: string) => void }) {
  return (
    <div className="relative min-w-48 flex-1">
      <Search className="pointer-events-none absolute start-2.5 top-2 size-4 text-ink-3" aria-hidden="true" />
      <input
        dir="auto"
        type="search"
        data-first-focus
        data-testid="shelf-search"
        aria-label={t`Search the shelf by name`}
        placeholder={t`Search by name`}
        autoComplete="off"
        spellCheck={false}
        value={query}
        onChange={(event) => onQuery(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onQuery('');
        }}
        className={cx(controlClass, 'w-full ps-8')}
      />
    </div>
  );
}

/** What was taken off last, and what that means. */
function Removed({ documents }: { documents: readonly ShelfDocument[] }) {
  const { shelf } = useActions();
  const name = documents[0]?.name ?? '';
  return (
    <div
      role="status"
      data-testid="shelf-removed"
      className="mx-3 mt-3 flex flex-wrap items-center gap-x-4 gap-y-2 rounded-lg border border-line bg-sunken px-3.5 py-2 text-sm text-ink-2"
    >
      <p className="min-w-48 flex-1 [overflow-wrap:anywhere]">
        {plural(documents.length, {
          one: `${name} is off the shelf. Chats and comparisons that have it keep it; what nothing else uses is deleted later.`,
          other:
            '# documents are off the shelf. Chats and comparisons that have them keep them; what nothing else uses is deleted later.',
        })}
      </p>
      <Button size="small" data-testid="shelf-undo" onClick={() => void shelf.undoRemove()}>
        <Undo2 className="size-3.5" aria-hidden="true" />
        <Trans>Undo</Trans>
      </Button>
    </div>
  );
}

function Empty() {
  return (
    <div
      className="flex h-full flex-col items-center justify-center gap-3 px-8 text-center text-sm text-ink-2"
      data-testid="shelf-empty"
    >
      <Library className="size-8 text-ink-3" aria-hidden="true" />
      <p className="max-w-104">
        <Trans>
          Manuals, contracts, notes: what you ask about again and again. Add a file here once, begin any number of chats
          with it, or give it to a folder of chats. The files stay on this computer.
        </Trans>
      </p>
      <p className="max-w-104 text-xs text-ink-3">
        <Trans>
          Drop files here, add them with the button above, or keep a document that you have attached: it is in the menu
          on its card.
        </Trans>
      </p>
    </div>
  );
}

interface ChosenProps {
  ids: readonly string[];
  onLeave: (then: () => void) => void;
  onFolder: () => void;
  onClear: () => void;
}

/** What can be done with several at once. */
function Chosen({ ids, onLeave, onFolder, onClear }: ChosenProps) {
  const { shelf, ui } = useActions();
  const counts = useApp((state) => state.documents.tokens);
  const modelId = useApp((state) => state.engine.status?.modelId ?? null);
  const tokens = ids.map((id) => (counts[id]?.modelId === modelId ? counts[id].tokens : null));
  const sum = tokens.every((one) => one !== null) ? tokens.reduce((all, one) => all + one, 0) : null;
  return (
    <section
      className="flex flex-wrap items-center gap-2 border-t border-line px-4 py-3"
      aria-label={t`With the chosen documents`}
      data-testid="shelf-chosen"
    >
      <p role="status" className="min-w-40 flex-1 text-sm text-ink-2 tabular-nums">
        {plural(ids.length, { one: '# document', other: '# documents' })}
        {sum !== null && `, ${countText(sum, 'token')}`}{' '}
        <button type="button" className="text-xs font-medium text-accent hover:underline" onClick={onClear}>
          <Trans>Choose none</Trans>
        </button>
      </p>
      <Button onClick={onFolder} data-testid="shelf-chosen-folder">
        <FolderPlus className="size-4" aria-hidden="true" />
        <Trans>Use in a folder</Trans>
      </Button>
      <Button
        data-testid="shelf-chosen-new"
        onClick={() => onLeave(() => void shelf.beginChat(ids).then(ui.focusComposer))}
      >
        <SquarePen className="size-4" aria-hidden="true" />
        <Trans>New chat</Trans>
      </Button>
      <Button
        tone="primary"
        data-testid="shelf-chosen-attach"
        onClick={() => onLeave(() => void shelf.attach(ids).then(ui.focusComposer))}
      >
        <Paperclip className="size-4" aria-hidden="true" />
        <Trans>Attach to the question</Trans>
      </Button>
    </section>
  );
}
