/** All chats: pinned ones, folders, and the rest by date. */
import { useMemo, useState } from 'react';
import type { ChatSummary } from '../../../electron/contract/chats';
import { arrangeChats } from '../../state/lib/chatList';
import { useActions } from '../../state/useApp';
import { cx } from '../../ui/cx';
import { ChatItem, type ChatItemActions } from './ChatItem';
import { useDropPlace } from './dragged';
import { FolderSection } from './FolderSection';

interface ChatListProps {
  list: readonly ChatSummary[];
  openId: string | null;
  on: ChatItemActions;
}

export function ChatList({ list, openId, on }: ChatListProps) {
  const { chats } = useActions();
  const { pinned, folders, groups } = useMemo(() => arrangeChats(list, new Date()), [list]);
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

  if (list.length === 0) {
    return <p className="px-2 py-6 text-sm text-ink-3">Your chats will be listed here. They stay on this computer.</p>;
  }
  return (
    <>
      {pinned.length > 0 && (
        <section aria-label="Pinned">
          <Heading>Pinned</Heading>
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
