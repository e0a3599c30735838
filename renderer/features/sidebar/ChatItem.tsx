import { Ellipsis, Pencil, Trash2 } from 'lucide-react';
import { memo, useEffect, useRef, useState } from 'react';
import type { ChatSummary } from '../../../electron/shared/chats';
import { limits } from '../../../electron/shared/limits';
import { selectIsAnswering } from '../../state/stream/selectors';
import { useActions, useApp } from '../../state/useApp';
import { cx } from '../../ui/cx';
import { Menu, MenuItem } from '../../ui/Menu';

interface ChatItemProps {
  chat: ChatSummary;
  active: boolean;
  onOpen: () => void;
  onRemove: () => void;
}

export const ChatItem = memo(
  ChatItemBody,
  (before, after) => before.chat === after.chat && before.active === after.active,
);

function ChatItemBody({ chat, active, onOpen, onRemove }: ChatItemProps) {
  const [renaming, setRenaming] = useState(false);
  const answering = useApp(selectIsAnswering(chat.id));
  const button = useRef<HTMLButtonElement>(null);
  const renamed = useRef(false);
  // The field had the focus; without this it would be nowhere.
  useEffect(() => {
    if (!renaming && renamed.current) button.current?.focus();
    renamed.current = false;
  }, [renaming]);
  function closeField(byKey: boolean): void {
    renamed.current = byKey;
    setRenaming(false);
  }
  if (renaming) return <RenameField chat={chat} onDone={closeField} />;

  return (
    <li
      data-testid="chat-item"
      data-chat-id={chat.id}
      className={cx('group relative flex h-8 items-center rounded-md', active ? 'bg-accent-soft' : 'hover:bg-hover')}
    >
      <button
        ref={button}
        type="button"
        aria-current={active ? 'page' : undefined}
        title={chat.title}
        onClick={onOpen}
        onDoubleClick={() => setRenaming(true)}
        onKeyDown={(event) => {
          if (event.key === 'F2') setRenaming(true);
          if (event.key === 'Delete') onRemove();
        }}
        className={cx(
          'h-full min-w-0 flex-1 truncate rounded-md pr-8 pl-2 text-left text-sm',
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
      <span className="reveal absolute right-1 has-aria-expanded:opacity-100">
        <Menu
          trigger={
            <button
              type="button"
              aria-label={`Actions for ${chat.title}`}
              className="flex size-6 items-center justify-center rounded text-ink-3 hover:bg-hover hover:text-ink"
            >
              <Ellipsis className="size-4" aria-hidden="true" />
            </button>
          }
        >
          <MenuItem icon={<Pencil />} onSelect={() => setRenaming(true)}>
            Rename
          </MenuItem>
          <MenuItem icon={<Trash2 />} danger onSelect={onRemove}>
            Delete
          </MenuItem>
        </Menu>
      </span>
    </li>
  );
}

function RenameField({ chat, onDone }: { chat: ChatSummary; onDone: (byKey: boolean) => void }) {
  const { chats } = useActions();
  const [title, setTitle] = useState(chat.title);

  function commit(byKey: boolean): void {
    onDone(byKey);
    if (title.trim() !== chat.title) void chats.rename(chat.id, title);
  }

  return (
    <li data-testid="chat-item" data-chat-id={chat.id}>
      <input
        aria-label="Title of the chat"
        data-testid="chat-title-field"
        value={title}
        maxLength={limits.maxTitle}
        // The person asked to rename: the field is what they want next.
        // biome-ignore lint/a11y/noAutofocus: see above
        autoFocus
        onFocus={(event) => event.target.select()}
        onChange={(event) => setTitle(event.target.value)}
        onBlur={() => commit(false)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') commit(true);
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          onDone(true);
        }}
        className="h-8 w-full rounded-md border border-accent bg-field px-2 text-sm outline-none"
      />
    </li>
  );
}
