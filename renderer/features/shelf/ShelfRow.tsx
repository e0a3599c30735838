import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import {
  BookOpen,
  BookOpenCheck,
  Ellipsis,
  FileText,
  FolderPlus,
  Pencil,
  SquarePen,
  Trash2,
  TriangleAlert,
} from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { ShelfDocument } from '../../../electron/contract/lib/shelf';
import { countText, kindName, sectionsName } from '../../state/lib/partText';
import { selectInfo, selectTokens } from '../../state/slices/documents';
import { selectReadable, selectReadShare, selectShelf } from '../../state/slices/shelf';
import { useActions, useApp } from '../../state/useApp';
import { Button, IconButton } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { controlClass } from '../../ui/Field';
import { formatBytes, formatDay, formatList } from '../../ui/format';
import { Menu, MenuItem } from '../../ui/Menu';
import { Progress } from '../../ui/Progress';

interface ShelfRowProps {
  entry: ShelfDocument;
  chosen: boolean;
  onToggle: () => void;
  /** the view goes, and this is what comes in its place */
  onLeave: (then: () => void) => void;
  /** null: it is missing */
  onFolder: () => void;
}

/** One document: what it is, and what can be done with it. */
export function ShelfRow({ entry, chosen, onToggle, onLeave, onFolder }: ShelfRowProps) {
  const { documentId, name } = entry;
  const missing = useApp(selectShelf).missing.includes(documentId);
  const readable = useApp(selectReadable(documentId));
  const [renaming, setRenaming] = useState(false);
  const { documents, shelf, ui } = useActions();
  const menu = useRef<HTMLButtonElement>(null);
  const renamed = useRef(false);
  // the form had the focus; without this it would be nowhere
  useEffect(() => {
    if (!renaming && renamed.current) menu.current?.focus();
    renamed.current = renaming;
  }, [renaming]);

  return (
    <li
      data-testid="shelf-item"
      data-document-id={documentId}
      data-missing={missing || undefined}
      className={cx('flex items-center gap-3 rounded-lg px-3 py-2', chosen ? 'bg-accent-soft' : 'hover:bg-hover')}
    >
      <input
        type="checkbox"
        aria-label={t`Choose ${name}`}
        data-testid="shelf-choose"
        checked={chosen}
        disabled={missing}
        onChange={onToggle}
        className="size-4 shrink-0 accent-accent"
      />
      {missing ? (
        <TriangleAlert className="size-4 shrink-0 text-warn" aria-hidden="true" />
      ) : (
        <FileText className="size-4 shrink-0 text-accent" aria-hidden="true" />
      )}
      <div className="min-w-0 flex-1">
        {renaming ? (
          <RenameForm
            name={name}
            onDone={(next) => {
              setRenaming(false);
              if (next !== null) void shelf.rename(documentId, next);
            }}
          />
        ) : (
          <button
            type="button"
            dir="auto"
            title={t`Show ${name}`}
            disabled={missing}
            onClick={() => onLeave(() => documents.openAt(documentId))}
            className="block max-w-full truncate text-start text-sm font-medium text-ink enabled:hover:underline"
          >
            {name}
          </button>
        )}
        <Facts entry={entry} missing={missing} />
        <ReadState documentId={documentId} name={name} />
      </div>
      {!missing && (
        <Button
          size="small"
          data-testid="shelf-new-chat"
          aria-label={t`New chat with ${name}`}
          onClick={() => onLeave(() => void shelf.beginChat([documentId]).then(ui.focusComposer))}
        >
          <SquarePen className="size-3.5 text-accent" aria-hidden="true" />
          <Trans>New chat</Trans>
        </Button>
      )}
      <Menu
        trigger={
          <IconButton
            ref={menu}
            label={t`More about ${name}`}
            icon={<Ellipsis />}
            size="small"
            side="left"
            data-testid="shelf-menu"
          />
        }
      >
        {!missing && (
          <MenuItem icon={<BookOpen />} onSelect={() => onLeave(() => documents.openAt(documentId))}>
            <Trans>Show the text</Trans>
          </MenuItem>
        )}
        {!missing && (
          <MenuItem icon={<FolderPlus />} onSelect={onFolder}>
            <Trans>Use in a folder of chats</Trans>
          </MenuItem>
        )}
        {!missing && readable && (
          <MenuItem icon={<BookOpenCheck />} onSelect={() => void shelf.read(documentId)}>
            <Trans>Read now, before a question</Trans>
          </MenuItem>
        )}
        <MenuItem icon={<Pencil />} onSelect={() => setRenaming(true)}>
          <Trans>Rename</Trans>
        </MenuItem>
        <MenuItem icon={<Trash2 />} danger onSelect={() => void shelf.remove([documentId])}>
          <Trans>Remove from the shelf</Trans>
        </MenuItem>
      </Menu>
    </li>
  );
}

/** Whether a chat that begins with it has to read it; nothing where it has. */
function ReadState({ documentId, name }: { documentId: string; name: string }) {
  const { readings, kept } = useApp(selectShelf);
  const reading = readings.find((one) => one.documentId === documentId);
  const share = useApp(selectReadShare(reading?.messageId ?? null));
  const { shelf } = useActions();
  if (!reading) {
    if (!kept.includes(documentId)) return null;
    return (
      <p className="flex items-center gap-1 text-xs text-ink-2" data-testid="shelf-kept">
        <BookOpenCheck className="size-3.5 shrink-0 text-good" aria-hidden="true" />
        <Trans>Read: answers about it begin at once</Trans>
      </p>
    );
  }
  const { state, error } = reading;
  return (
    <div
      className="mt-1 flex max-w-120 flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-2"
      data-testid="shelf-reading"
      data-state={state}
    >
      {state === 'reading' && <Progress label={t`Reading ${name}`} share={share} />}
      {state === 'waiting' && <p className="flex-1">{t`Waits to be read`}</p>}
      {state === 'paused' && (
        <p className="flex-1">
          <Trans>A question goes first; the reading goes on after its answer</Trans>
        </p>
      )}
      {state === 'failed' && (
        <p role="alert" className="flex-1">
          <span className="text-bad">{error?.message}</span> {error?.hint}
        </p>
      )}
      <Button
        size="small"
        tone="quiet"
        aria-label={state === 'failed' ? t`Dismiss reading ${name}` : t`Cancel reading ${name}`}
        onClick={() => void shelf.stopReading(documentId)}
      >
        {state === 'failed' ? t`Dismiss` : t`Cancel`}
      </Button>
    </div>
  );
}

/** Kind, length, size, date, and who uses it: what is known so far. */
function Facts({ entry: { documentId, addedAt }, missing }: { entry: ShelfDocument; missing: boolean }) {
  const info = useApp(selectInfo(documentId));
  const tokens = useApp(selectTokens(documentId))?.tokens ?? null;
  const contextSize = useApp((state) => state.engine.status?.context?.nCtx ?? 0);
  const { chats, folders } = useApp(selectShelf);
  const own = folders.filter(({ documents }) => documents.some((one) => one.documentId === documentId));
  if (missing) {
    return (
      <p className="text-xs text-warn">
        <Trans>Its text is not stored any more. Remove it here, and add the file again.</Trans>
      </p>
    );
  }
  const long = tokens !== null && contextSize > 0 && tokens > contextSize;
  const uses = chats?.[documentId] ?? 0;
  const facts = [
    info && kindName(info.kind),
    info && lengthOf(info),
    info && formatBytes(info.bytes),
    t`added ${formatDay(new Date(addedAt).toISOString())}`,
    chats && plural(uses, { 0: 'in no chat yet', one: 'in # chat', other: 'in # chats' }),
  ];
  return (
    <p className="text-xs text-ink-3 tabular-nums" data-testid="shelf-facts">
      {tokens !== null && (
        <span
          className={cx(long && 'text-warn')}
          title={long ? t`Chats get the passages that fit each question.` : t`In the context`}
        >
          {long ? t`${countText(tokens, 'token')}, longer than the context` : countText(tokens, 'token')}
          {' · '}
        </span>
      )}
      {facts.filter(Boolean).join(' · ')}
      {own.length > 0 && (
        <>
          {' · '}
          <Trans>
            begins new chats in <bdi>{formatList(own.map((folder) => folder.name))}</bdi>
          </Trans>
        </>
      )}
    </p>
  );
}

function lengthOf(info: NonNullable<ReturnType<ReturnType<typeof selectInfo>>>): string | null {
  if (info.pages !== null) return countText(info.pages, 'page');
  const name = sectionsName(info);
  return info.sections > 1 && name !== 'part' ? countText(info.sections, name) : null;
}

export const renameFieldId = 'shelf-name';

/** In the place of the name. Escape leaves it as it is. */
function RenameForm({ name, onDone }: { name: string; onDone: (next: string | null) => void }) {
  const [typed, setTyped] = useState(name);
  const next = typed.trim();
  return (
    <form
      className="flex gap-2 pb-1"
      onSubmit={(event) => {
        event.preventDefault();
        onDone(next === '' || next === name ? null : next);
      }}
    >
      <input
        dir="auto"
        aria-label={t`Name of the document`}
        id={renameFieldId}
        data-testid="shelf-name"
        value={typed}
        maxLength={255}
        // The person asked to rename: the field is what they want next.
        // biome-ignore lint/a11y/noAutofocus: see above
        autoFocus
        onFocus={(event) => event.target.select()}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onDone(null);
        }}
        className={cx(controlClass, 'min-w-0 flex-1')}
      />
      <Button type="submit" tone="primary" disabled={next === ''}>
        <Trans>Rename</Trans>
      </Button>
      <Button onClick={() => onDone(null)}>
        <Trans>Cancel</Trans>
      </Button>
    </form>
  );
}
