/** The chats: new, search, open, order, rename, delete with undo, and the trash. */
import { PanelLeftClose, SquarePen } from 'lucide-react';
import { useState } from 'react';
import { toast } from 'sonner';
import type { ChatSummary } from '../../../electron/contract/chats';
import { searchWords } from '../../../electron/contract/textSearch';
import { selectChatList, selectChatQuery, selectTrash } from '../../state/chats/selectors';
import { selectChatId } from '../../state/conversation/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { IconButton } from '../../ui/IconButton';
import { keyLabel } from '../../ui/Kbd';
import { Logo } from '../../ui/Logo';
import { ChatList } from './ChatList';
import { ExportDialog } from './ExportDialog';
import { MoveDialog } from './MoveDialog';
import { SearchField } from './SearchField';
import { SearchResults } from './SearchResults';
import { SidebarFoot } from './SidebarFoot';
import { TrashView } from './TrashView';
import { useChatActions } from './useChatActions';

export function Sidebar({ onChosen }: { onChosen: () => void }) {
  const list = useApp(selectChatList);
  const query = useApp(selectChatQuery);
  const openId = useApp(selectChatId);
  const trash = useApp(selectTrash);
  const { chats, conversation, ui } = useActions();
  const { open, remove } = useChatActions(onChosen);
  const [exporting, setExporting] = useState<readonly ChatSummary[] | null>(null);
  const [moving, setMoving] = useState<ChatSummary | null>(null);

  async function openFirst(): Promise<void> {
    const hit = await chats.firstHit();
    if (hit) openAt(hit.chatId, hit.snippets[0]?.messageId ?? null);
  }

  function openAt(chatId: string, messageId: string | null): void {
    if (messageId === null) void conversation.open(chatId);
    else void conversation.showMessage(chatId, messageId, searchWords(query));
    onChosen();
  }

  function exportAll(): void {
    if (list && list.length > 0) setExporting(list);
    else toast('There are no chats to export.');
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
        {!trash && <SearchField onEnter={() => void openFirst()} />}
      </div>
      {trash && <TrashView trash={trash} onClose={chats.closeTrash} />}
      {!trash && (
        <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-4">
          {list !== null && query.trim() === '' && (
            <ChatList
              list={list}
              openId={openId}
              on={{ open, remove, move: setMoving, export: (chat) => setExporting([chat]) }}
            />
          )}
          {list !== null && query.trim() !== '' && (
            <SearchResults list={list} query={query} openId={openId} onChoose={openAt} />
          )}
        </div>
      )}
      {!trash && <SidebarFoot onExportAll={exportAll} />}
      {moving && <MoveDialog chat={moving} onClose={() => setMoving(null)} />}
      {exporting && <ExportDialog chosen={exporting} onClose={() => setExporting(null)} />}
    </nav>
  );
}
