/** The list of chats: new, search, open, rename, delete with undo. */
import { PanelLeftClose, SquarePen } from 'lucide-react';
import { useMemo } from 'react';
import { toast } from 'sonner';
import type { ChatSummary } from '../../../electron/shared/chats';
import { groupChats, searchChats } from '../../state/chats/list';
import { selectChatList, selectChatQuery } from '../../state/chats/selectors';
import { selectChatId } from '../../state/conversation/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { IconButton } from '../../ui/IconButton';
import { keyLabel } from '../../ui/Kbd';
import { Logo } from '../../ui/Logo';
import { ChatItem } from './ChatItem';
import { SearchField } from './SearchField';

export function Sidebar({ onChosen }: { onChosen: () => void }) {
  const list = useApp(selectChatList);
  const query = useApp(selectChatQuery);
  const openId = useApp(selectChatId);
  const { chats, conversation, ui } = useActions();
  const groups = useMemo(() => groupChats(searchChats(list ?? [], query), new Date()), [list, query]);

  const first = groups[0]?.chats[0];

  function choose(chatId: string): void {
    void conversation.open(chatId);
    onChosen();
  }

  async function remove(chat: ChatSummary): Promise<void> {
    const wasOpen = chat.id === openId;
    if (!(await chats.remove(chat.id))) return;
    if (wasOpen) conversation.startNew();
    toast('Chat deleted', {
      description: chat.title,
      duration: 8000,
      action: { label: 'Undo', onClick: () => void undo(chat.id, wasOpen) },
    });
  }

  async function undo(chatId: string, open: boolean): Promise<void> {
    await chats.restore(chatId);
    if (open) await conversation.open(chatId);
  }

  return (
    <nav aria-label="Chats" className="flex h-full w-64 flex-col border-r border-line bg-panel">
      <div className="flex h-12 items-center gap-2 pr-2 pl-3.5">
        <Logo className="size-6" />
        <span className="flex-1 pt-0.5 font-serif text-[1.06rem] leading-none tracking-[-0.01em] text-ink">
          Concertina
        </span>
        <IconButton
          label="Hide the chats"
          keys="Mod+B"
          side="right"
          icon={<PanelLeftClose />}
          onClick={() => ui.setSidebar(false)}
        />
      </div>
      <div className="flex flex-col gap-2 px-3 pt-1 pb-2">
        <Button
          data-testid="new-chat"
          title={`New chat (${keyLabel('Mod+N')})`}
          className="justify-start"
          onClick={() => {
            conversation.startNew();
            ui.focusComposer();
            onChosen();
          }}
        >
          <SquarePen className="size-4 text-accent" aria-hidden="true" />
          New chat
        </Button>
        <SearchField onEnter={() => first && choose(first.id)} />
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-4">
        {groups.map((group) => (
          <section key={group.label} aria-label={group.label}>
            <h2 className="px-2 pt-3 pb-1 text-xs font-medium text-ink-3">{group.label}</h2>
            <ul>
              {group.chats.map((chat) => (
                <ChatItem
                  key={chat.id}
                  chat={chat}
                  active={chat.id === openId}
                  onOpen={() => choose(chat.id)}
                  onRemove={() => void remove(chat)}
                />
              ))}
            </ul>
          </section>
        ))}
        {list !== null && groups.length === 0 && (
          <p className="px-2 py-6 text-sm text-ink-3">
            {query ? `No chat is called “${query}”.` : 'Your chats will be listed here. They stay on this computer.'}
          </p>
        )}
      </div>
    </nav>
  );
}
