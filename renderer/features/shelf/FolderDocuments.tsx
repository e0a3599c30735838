/** The documents of a folder of chats: each new chat in it begins with them. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Plus, SquarePen, X } from 'lucide-react';
import { useRef, useState } from 'react';
import type { FolderDocument } from '../../../electron/contract/lib/shelf';
import { limits } from '../../../electron/contract/limits';
import { folderNames } from '../../state/lib/chatList';
import { countText } from '../../state/lib/partText';
import { searchShelf } from '../../state/lib/shelf';
import { selectChatList } from '../../state/slices/chats';
import { selectTokens } from '../../state/slices/documents';
import {
  selectFolderDocuments,
  selectShelf,
  selectShelfDocuments,
  selectShelfFolder,
  selectShelfFolders,
} from '../../state/slices/shelf';
import { useActions, useApp } from '../../state/useApp';
import { Banner } from '../../ui/Banner';
import { Button, IconButton } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { Dialog, FolderDialog } from '../../ui/Dialog';
import { controlClass } from '../../ui/Field';
import { formatCount } from '../../ui/format';
import { Select } from '../../ui/Select';
import { AddDocuments, Arriving } from './AddDocuments';

export function FolderDocuments() {
  const folder = useApp(selectShelfFolder);
  const { shelf, ui } = useActions();
  const then = useRef<(() => void) | null>(null);

  function begin(name: string): void {
    then.current = () => void shelf.newChatIn(name).then(ui.focusComposer);
    shelf.close();
    shelf.showFolder(null);
  }

  return (
    <Dialog
      title={t`Documents of the folder ${folder ?? ''}`}
      description={t`Each new chat in this folder begins with them. Chats that are there already stay as they are.`}
      open={folder !== null}
      onOpenChange={(open) => !open && shelf.showFolder(null)}
      onClosed={() => {
        then.current?.();
        then.current = null;
      }}
      className="w-[min(40rem,calc(100%-2rem))]"
      testId="folder-documents"
    >
      {folder !== null && <FolderBody name={folder} onBegin={() => begin(folder)} />}
    </Dialog>
  );
}

function FolderBody({ name, onBegin }: { name: string; onBegin: () => void }) {
  const { documents, problem } = useApp(selectShelf);
  const own = useApp(selectFolderDocuments(name));
  const { shelf } = useActions();

  function setPart(documentId: string, part: FolderDocument['part']): void {
    void shelf.setFolder(
      name,
      own.map((one) => (one.documentId === documentId ? { ...one, part } : one)),
    );
  }

  return (
    <>
      <div className="min-h-0 flex-1 overflow-y-auto pb-3">
        {problem && (
          <Banner tone="bad" title={problem.message} className="mx-4 mt-3" onClose={shelf.closeProblem}>
            {problem.hint}
          </Banner>
        )}
        <Arriving />
        {own.length > 0 && (
          <ul aria-label={t`Documents of the folder ${name}`} className="grid grid-cols-1 gap-1 px-4 pt-3">
            {own.map((one) => (
              <OwnRow
                key={one.documentId}
                one={one}
                name={documents.find(({ documentId }) => documentId === one.documentId)?.name ?? ''}
                onPart={(part) => setPart(one.documentId, part)}
                onRemove={() =>
                  void shelf.setFolder(
                    name,
                    own.filter(({ documentId }) => documentId !== one.documentId),
                  )
                }
              />
            ))}
          </ul>
        )}
        {own.length === 0 && (
          <p className="px-5 pt-4 text-sm text-ink-2" data-testid="folder-documents-none">
            <Trans>None yet. Choose from the shelf below, or add files: they go onto the shelf too.</Trans>
          </p>
        )}
        <Others name={name} own={own} />
      </div>
      <div className="flex flex-wrap items-center gap-2 border-t border-line px-4 py-3">
        <Sum own={own} />
        <AddDocuments folder={name} />
        <Button tone="primary" data-testid="folder-new-chat" onClick={onBegin}>
          <SquarePen className="size-4" aria-hidden="true" />
          <Trans>New chat here</Trans>
        </Button>
      </div>
    </>
  );
}

interface OwnRowProps {
  one: FolderDocument;
  name: string;
  onPart: (part: FolderDocument['part']) => void;
  onRemove: () => void;
}

function OwnRow({ one, name, onPart, onRemove }: OwnRowProps) {
  const tokens = useApp(selectTokens(one.documentId))?.tokens ?? null;
  return (
    <li
      data-testid="folder-document"
      className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg border border-line bg-sunken py-1.5 ps-3 pe-1.5"
    >
      <div className="min-w-40 flex-1">
        <p dir="auto" className="truncate text-sm font-medium text-ink" title={name}>
          {name}
        </p>
        {tokens !== null && one.part === 'whole' && (
          <p className="text-xs text-ink-3 tabular-nums">{countText(tokens, 'token')}</p>
        )}
      </div>
      <Select
        aria-label={t`What chats read of ${name}`}
        data-testid="folder-part"
        className="w-56"
        value={one.part}
        onChange={(event) => onPart(event.target.value === 'whole' ? 'whole' : 'passages')}
      >
        <option value="whole">{t`The whole document`}</option>
        <option value="passages">{t`Passages for each question`}</option>
      </Select>
      <IconButton label={t`Take ${name} out of this folder`} icon={<X />} size="small" side="left" onClick={onRemove} />
    </li>
  );
}

/** so many rows are made; of more the person searches */
const mostRows = 100;

/** What else is on the shelf. */
function Others({ name, own }: { name: string; own: readonly FolderDocument[] }) {
  const all = useApp(selectShelfDocuments);
  const { shelf } = useActions();
  const [query, setQuery] = useState('');
  const others = all.filter(({ documentId }) => !own.some((one) => one.documentId === documentId));
  const found = searchShelf(others, query);
  if (others.length === 0) return null;
  return (
    <section aria-labelledby="folder-others" className="px-4 pt-4">
      <div className="flex flex-wrap items-center gap-3 pb-1.5">
        <h3 id="folder-others" className="flex-1 text-xs font-medium text-ink-3">
          <Trans>On the shelf</Trans>
        </h3>
        {others.length > 8 && (
          <input
            dir="auto"
            type="search"
            aria-label={t`Search the shelf by name`}
            placeholder={t`Search by name`}
            autoComplete="off"
            spellCheck={false}
            value={query}
            onChange={(event) => setQuery(event.target.value)}
            className={cx(controlClass, 'w-56')}
          />
        )}
      </div>
      <ul aria-label={t`Other documents on the shelf`} className="grid grid-cols-1 gap-0.5">
        {found.slice(0, mostRows).map((one) => (
          <li key={one.documentId}>
            <button
              type="button"
              data-testid="folder-take"
              aria-label={t`Add ${one.name}`}
              onClick={() => void shelf.addToFolder(name, [one.documentId])}
              className="flex w-full items-center gap-2 rounded-md px-2 py-1.5 text-start text-sm text-ink-2 hover:bg-hover hover:text-ink"
            >
              <Plus className="size-4 shrink-0 text-accent" aria-hidden="true" />
              <span dir="auto" className="truncate" title={one.name}>
                {one.name}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {found.length > mostRows && (
        <p className="px-2 pt-2 text-xs text-ink-3">
          <Trans>{formatCount(found.length - mostRows)} more are not shown. Search for them by name.</Trans>
        </p>
      )}
    </section>
  );
}

/** What the whole documents take of the context. */
function Sum({ own }: { own: readonly FolderDocument[] }) {
  const counts = useApp((state) => state.documents.tokens);
  const status = useApp((state) => state.engine.status);
  const size = status?.context?.nCtx ?? 0;
  const whole = own.filter(({ part }) => part === 'whole').map(({ documentId }) => counts[documentId]);
  const known = whole.flatMap((one) => (one && one.modelId === status?.modelId ? [one.tokens] : []));
  const sum = known.reduce((all, tokens) => all + tokens, 0);
  const text =
    whole.length === 0 || known.length < whole.length || size === 0
      ? ''
      : sum > size
        ? t`${countText(sum, 'token')}, and the context holds ${formatCount(size)}: choose passages for some.`
        : t`${formatCount(sum)} of ${formatCount(size)} tokens of the context`;
  return (
    <p role="status" className={cx('min-w-40 flex-1 text-xs tabular-nums', sum > size ? 'text-warn' : 'text-ink-3')}>
      {text}
    </p>
  );
}

/** Which folder gets these documents. */
export function ChooseFolder({ documentIds, onClose }: { documentIds: readonly string[]; onClose: () => void }) {
  const list = useApp(selectChatList) ?? [];
  const filled = useApp(selectShelfFolders).map(({ name }) => name);
  const { shelf } = useActions();

  function choose(name: string | null): void {
    if (name === null) return;
    void shelf.addToFolder(name, documentIds);
    shelf.showFolder(name);
  }

  return (
    <FolderDialog
      title={t`Use in a folder of chats`}
      description={t`Each new chat in the folder begins with the documents.`}
      names={folderNames(list, filled)}
      maxLength={limits.maxFolderName}
      onChoose={choose}
      onClose={onClose}
      testId="choose-folder"
    />
  );
}
