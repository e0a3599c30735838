/** All chats: pinned ones, folders, and the rest by date. */

import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import {
  ChevronRight,
  Columns3,
  Download,
  Ellipsis,
  Folder,
  FolderInput,
  FolderX,
  Pencil,
  Pin,
  PinOff,
  Trash2,
} from 'lucide-react';
import { type DragEvent, type MouseEvent, memo, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import type { ChatSummary } from '../../../electron/contract/chats';
import { limits } from '../../../electron/contract/limits';
import { arrangeChats } from '../../state/lib/chatList';
import { selectShutFolders } from '../../state/slices/chats';
import { selectIsAnswering } from '../../state/slices/live';
import { selectShelfFolders } from '../../state/slices/shelf';
import { useActions, useApp } from '../../state/useApp';
import { cx } from '../../ui/cx';
import { Menu, MenuItem } from '../../ui/Menu';
import { FolderDocumentCount, FolderDocumentItems } from './FolderDocumentItems';
import { NameField } from './NameField';

interface ChatListProps {
  list: readonly ChatSummary[];
  openId: string | null;
  on: ChatItemActions;
}

export function ChatList({ list, openId, on }: ChatListProps) {
  const { chats } = useActions();
  const filled = useApp(selectShelfFolders);
  const named = useMemo(() => filled.map(({ name }) => name), [filled]);
  const { pinned, folders, groups } = useMemo(() => arrangeChats(list, new Date(), named), [list, named]);
  const [renamed, setRenamed] = useState<string | null>(null);
  const outside = useDropPlace((chatId) => void chats.setFolder([chatId], null));

  function items(own: readonly ChatSummary[]) {
    return (
      <ul>
        {own.map((chat) => (
          <ChatItem key={chat.id} chat={chat} active={chat.id === openId} on={on} />
        ))}
      </ul>
    );
  }

  if (list.length === 0 && folders.length === 0) {
    return (
      <p className="px-2 py-6 text-sm text-ink-3">
        <Trans>Your chats will be listed here. They stay on this computer.</Trans>
      </p>
    );
  }
  return (
    <>
      {pinned.length > 0 && (
        <section aria-label={t`Pinned`}>
          <Heading>{t`Pinned`}</Heading>
          {items(pinned)}
        </section>
      )}
      {folders.length > 0 && (
        <div className="grid grid-cols-1 pt-3">
          {folders.map((folder) => (
            <FolderSection
              key={folder.name}
              name={folder.name}
              count={folder.chats.length}
              takesFocus={folder.name === renamed}
              onRenamed={setRenamed}
            >
              {items(folder.chats)}
            </FolderSection>
          ))}
        </div>
      )}
      <div
        data-testid="no-folder"
        {...outside.listeners}
        className={cx('min-h-16 rounded-md', outside.over && 'bg-accent-soft')}
      >
        {groups.map((group) => (
          <section key={group.label} aria-label={group.label}>
            <Heading>{group.label}</Heading>
            {items(group.chats)}
          </section>
        ))}
      </div>
    </>
  );
}

function Heading({ children }: { children: string }) {
  return <h2 className="px-2 pt-3 pb-1 text-xs font-medium text-ink-3">{children}</h2>;
}

interface ChatItemActions {
  open: (chatId: string) => void;
  remove: (chat: ChatSummary) => void;
  move: (chat: ChatSummary) => void;
  export: (chat: ChatSummary) => void;
}

interface ChatItemProps {
  chat: ChatSummary;
  active: boolean;
  on: ChatItemActions;
}

const ChatItem = memo(ChatItemBody, (before, after) => before.chat === after.chat && before.active === after.active);

function ChatItemBody({ chat, active, on }: ChatItemProps) {
  const [renaming, setRenaming] = useState(false);
  const menu = useRowMenu();
  const answering = useApp(selectIsAnswering(chat.id));
  const { chats, compare } = useActions();
  const button = useRef<HTMLButtonElement>(null);
  const renamed = useRef(false);
  // The field had the focus; without this it would be nowhere.
  useEffect(() => {
    if (!renaming && renamed.current) button.current?.focus();
    renamed.current = false;
  }, [renaming]);
  function finish(title: string | null, byKey: boolean): void {
    renamed.current = byKey;
    setRenaming(false);
    if (title !== null) void chats.rename(chat.id, title);
  }
  if (renaming) {
    return (
      <li data-testid="chat-item" data-chat-id={chat.id}>
        <NameField
          label={t`Title of the chat`}
          name={chat.title}
          maxLength={limits.maxTitle}
          testId="chat-title-field"
          onDone={finish}
        />
      </li>
    );
  }

  return (
    <li
      data-testid="chat-item"
      data-chat-id={chat.id}
      draggable
      onContextMenu={menu.onContextMenu}
      onDragStart={(event) => startDrag(event, chat.id)}
      className={cx('group relative flex h-8 items-center rounded-md', active ? 'bg-accent-soft' : 'hover:bg-hover')}
    >
      <button
        ref={button}
        type="button"
        dir="auto"
        aria-current={active ? 'page' : undefined}
        title={chat.pinned && chat.folder !== null ? t`${chat.title} (in ${chat.folder})` : chat.title}
        onClick={() => on.open(chat.id)}
        onDoubleClick={() => setRenaming(true)}
        onKeyDown={(event) => {
          if (event.key === 'F2') setRenaming(true);
          if (event.key === 'Delete') on.remove(chat);
        }}
        className={cx(
          'h-full min-w-0 flex-1 truncate rounded-md pe-8 ps-2 text-start text-sm',
          active ? 'font-medium text-ink' : 'text-ink-2',
        )}
      >
        {chat.title}
      </button>
      {answering && (
        // no animation: it would be a frame 60 times a second for as long as an answer takes
        <span className="pointer-events-none absolute end-2.5 size-1.5 rounded-full bg-accent group-hover:hidden [@media(hover:none)]:end-8">
          <span className="sr-only">
            <Trans>An answer is being written</Trans>
          </span>
        </span>
      )}
      <RowMenu label={t`Actions for ${chat.title}`} menu={menu}>
        <MenuItem
          icon={chat.pinned ? <PinOff /> : <Pin />}
          onSelect={() => void chats.setPinned(chat.id, !chat.pinned)}
        >
          {chat.pinned ? t`Unpin` : t`Pin`}
        </MenuItem>
        <MenuItem icon={<FolderInput />} onSelect={() => on.move(chat)}>
          <Trans>Move to a folder</Trans>
        </MenuItem>
        <MenuItem icon={<Pencil />} onSelect={() => setRenaming(true)}>
          <Trans>Rename</Trans>
        </MenuItem>
        <MenuItem
          icon={<Columns3 />}
          onSelect={() => compare.show({ chatId: chat.id, leafId: null, title: chat.title })}
        >
          <Trans>Compare cache types or models</Trans>
        </MenuItem>
        <MenuItem icon={<Download />} onSelect={() => on.export(chat)}>
          <Trans>Export</Trans>
        </MenuItem>
        <MenuItem icon={<Trash2 />} danger onSelect={() => on.remove(chat)}>
          <Trans>Delete</Trans>
        </MenuItem>
      </RowMenu>
    </li>
  );
}

// Chats that are dragged within the list. Files from outside are for the whole window (`app/DropZone`).

const kind = 'application/x-concertina-chat';

function startDrag(event: DragEvent, chatId: string): void {
  event.dataTransfer.setData(kind, chatId);
  event.dataTransfer.effectAllowed = 'move';
}

/** For a place that takes chats: whether one hangs over it, and its listeners. */
function useDropPlace(onDropped: (chatId: string) => void) {
  const [over, setOver] = useState(false);
  const isChat = (event: DragEvent) => event.dataTransfer.types.includes(kind);
  return {
    over,
    listeners: {
      onDragOver(event: DragEvent) {
        if (!isChat(event)) return;
        event.preventDefault();
        setOver(true);
      },
      onDragLeave(event: DragEvent) {
        const to = event.relatedTarget;
        if (!(to instanceof Node && event.currentTarget.contains(to))) setOver(false);
      },
      onDrop(event: DragEvent) {
        if (!isChat(event)) return;
        event.preventDefault();
        setOver(false);
        onDropped(event.dataTransfer.getData(kind));
      },
    },
  };
}

type RowMenuState = ReturnType<typeof useRowMenu>;

/** The menu of a row, which a right click on the row and the keyboard's menu key open too. */
function useRowMenu() {
  const [open, setOpen] = useState(false);
  return {
    open,
    setOpen,
    onContextMenu(event: MouseEvent) {
      event.preventDefault();
      setOpen(true);
    },
  };
}

/** The menu at the right end of a row of the list. */
function RowMenu({ label, menu, children }: { label: string; menu: RowMenuState; children: ReactNode }) {
  return (
    <span className="reveal absolute end-1 has-aria-expanded:opacity-100">
      <Menu
        open={menu.open}
        onOpenChange={menu.setOpen}
        trigger={
          <button
            type="button"
            aria-label={label}
            className="flex size-6 items-center justify-center rounded text-ink-3 hover:bg-hover hover:text-ink"
          >
            <Ellipsis className="size-4" aria-hidden="true" />
          </button>
        }
      >
        {children}
      </Menu>
    </span>
  );
}

interface FolderSectionProps {
  name: string;
  count: number;
  /** it was renamed by keyboard: a folder of another name is another one, and the focus follows it */
  takesFocus: boolean;
  /** null: the name is as it was */
  onRenamed: (name: string | null) => void;
  children: ReactNode;
}

/** A folder and, while it is open, its chats. A chat that is dropped on it moves into it. */
function FolderSection({ name, count, takesFocus, onRenamed, children }: FolderSectionProps) {
  const shut = useApp(selectShutFolders).includes(name);
  const { chats, shelf } = useActions();
  const [renaming, setRenaming] = useState(false);
  const menu = useRowMenu();
  const button = useRef<HTMLButtonElement>(null);
  const { over, listeners } = useDropPlace((chatId) => void chats.setFolder([chatId], name));
  useEffect(() => {
    if (takesFocus && !renaming) button.current?.focus();
  }, [takesFocus, renaming]);
  function finish(next: string | null, byKey: boolean): void {
    setRenaming(false);
    onRenamed(byKey ? next?.trim() || name : null);
    if (next === null) return;
    void chats.renameFolder(name, next);
    void shelf.renameFolder(name, next);
  }

  return (
    <section
      aria-label={t`Folder ${name}`}
      data-testid="folder"
      {...listeners}
      className={cx('rounded-md', over && 'bg-accent-soft')}
    >
      {renaming ? (
        <NameField
          label={t`Name of the folder`}
          name={name}
          maxLength={limits.maxFolderName}
          testId="folder-name-field"
          onDone={finish}
        />
      ) : (
        <h2
          className="group relative flex h-8 items-center rounded-md hover:bg-hover"
          onContextMenu={menu.onContextMenu}
        >
          <button
            ref={button}
            type="button"
            aria-expanded={!shut}
            title={name}
            onClick={() => chats.toggleFolder(name)}
            onDoubleClick={() => setRenaming(true)}
            onKeyDown={(event) => {
              if (event.key === 'F2') setRenaming(true);
            }}
            className="flex h-full min-w-0 flex-1 items-center gap-1.5 rounded-md pe-8 ps-1.5 text-start text-sm font-medium text-ink-2"
          >
            <ChevronRight
              className={cx('size-3.5 shrink-0 text-ink-3 transition-transform', !shut && 'rotate-90')}
              aria-hidden="true"
            />
            <Folder className="size-4 shrink-0 text-ink-3" aria-hidden="true" />
            <bdi className="truncate">{name}</bdi>
            <span className="text-xs font-normal text-ink-3 tabular-nums">
              <span aria-hidden="true">{count}</span>
              <span className="sr-only">{plural(count, { one: '# chat', other: '# chats' })}</span>
            </span>
            <FolderDocumentCount name={name} />
          </button>
          <RowMenu label={t`Actions for the folder ${name}`} menu={menu}>
            <FolderDocumentItems name={name} />
            <MenuItem icon={<Pencil />} onSelect={() => setRenaming(true)}>
              <Trans>Rename</Trans>
            </MenuItem>
            <MenuItem
              icon={<FolderX />}
              onSelect={() => {
                void chats.removeFolder(name);
                void shelf.removeFolder(name);
              }}
            >
              <Trans>Delete the folder, keep its chats</Trans>
            </MenuItem>
          </RowMenu>
        </h2>
      )}
      {!shut && <div className="ps-3.5">{children}</div>}
    </section>
  );
}
