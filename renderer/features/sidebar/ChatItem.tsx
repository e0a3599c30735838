import { Columns3, Download, FolderInput, Pencil, Pin, PinOff, Trash2 } from 'lucide-react';
import { memo, useEffect, useRef, useState } from 'react';
import type { ChatSummary } from '../../../electron/contract/chats';
import { limits } from '../../../electron/contract/limits';
import { selectIsAnswering } from '../../state/stream/selectors';
import { useActions, useApp } from '../../state/useApp';
import { cx } from '../../ui/cx';
import { MenuItem } from '../../ui/Menu';
import { startDrag } from './dragged';
import { NameField } from './NameField';
import { RowMenu } from './RowMenu';

export interface ChatItemActions {
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

export const ChatItem = memo(
  ChatItemBody,
  (before, after) => before.chat === after.chat && before.active === after.active,
);

function ChatItemBody({ chat, active, on }: ChatItemProps) {
  const [renaming, setRenaming] = useState(false);
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
          label="Title of the chat"
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
      onDragStart={(event) => startDrag(event, chat.id)}
      className={cx('group relative flex h-8 items-center rounded-md', active ? 'bg-accent-soft' : 'hover:bg-hover')}
    >
      <button
        ref={button}
        type="button"
        dir="auto"
        aria-current={active ? 'page' : undefined}
        title={chat.pinned && chat.folder !== null ? `${chat.title} (in ${chat.folder})` : chat.title}
        onClick={() => on.open(chat.id)}
        onDoubleClick={() => setRenaming(true)}
        onKeyDown={(event) => {
          if (event.key === 'F2') setRenaming(true);
          if (event.key === 'Delete') on.remove(chat);
        }}
        className={cx(
          'h-full min-w-0 flex-1 truncate rounded-md pr-8 pl-2 text-start text-sm',
          active ? 'font-medium text-ink' : 'text-ink-2',
        )}
      >
        {chat.title}
      </button>
      {answering && (
        <span className="pointer-events-none absolute right-2.5 size-1.5 animate-pulse rounded-full bg-accent group-hover:hidden [@media(hover:none)]:right-8">
          <span className="sr-only">An answer is being written</span>
        </span>
      )}
      <RowMenu label={`Actions for ${chat.title}`}>
        <MenuItem
          icon={chat.pinned ? <PinOff /> : <Pin />}
          onSelect={() => void chats.setPinned(chat.id, !chat.pinned)}
        >
          {chat.pinned ? 'Unpin' : 'Pin'}
        </MenuItem>
        <MenuItem icon={<FolderInput />} onSelect={() => on.move(chat)}>
          Move to a folder
        </MenuItem>
        <MenuItem icon={<Pencil />} onSelect={() => setRenaming(true)}>
          Rename
        </MenuItem>
        <MenuItem
          icon={<Columns3 />}
          onSelect={() => compare.show({ chatId: chat.id, leafId: null, title: chat.title })}
        >
          Compare cache types
        </MenuItem>
        <MenuItem icon={<Download />} onSelect={() => on.export(chat)}>
          Export
        </MenuItem>
        <MenuItem icon={<Trash2 />} danger onSelect={() => on.remove(chat)}>
          Delete
        </MenuItem>
      </RowMenu>
    </li>
  );
}
