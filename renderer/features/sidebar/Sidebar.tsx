/** The chats: new, search, open, order, rename, delete with undo, and the trash. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Library, PanelLeftClose, Search, SquarePen, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { toast } from 'sonner';
import type { ChatSummary } from '../../../electron/contract/chats';
import { keysOf } from '../../../electron/contract/lib/commands';
import { searchWords } from '../../../electron/contract/lib/textSearch';
import { limits } from '../../../electron/contract/limits';
import { folderNames } from '../../state/lib/chatList';
import { selectChatId } from '../../state/lib/openChat';
import { selectChatList, selectChatQuery, selectTrash } from '../../state/slices/chats';
import { selectShelfFolders } from '../../state/slices/shelf';
import { selectFocusSearch } from '../../state/slices/ui';
import { useActions, useApp } from '../../state/useApp';
import { Button, IconButton } from '../../ui/Button';
import { FolderDialog } from '../../ui/Dialog';
import { Logo } from '../../ui/pictures/Bellows';
import { keyLabel } from '../../ui/Tooltip';
import { ChatList } from './ChatList';
import { ExportDialog } from './ExportDialog';
import { SearchResults } from './SearchResults';
import { SidebarFoot } from './SidebarFoot';
import { TrashView } from './TrashView';

export function Sidebar({ onChosen }: { onChosen: () => void }) {
  const list = useApp(selectChatList);
  const query = useApp(selectChatQuery);
  const openId = useApp(selectChatId);
  const trash = useApp(selectTrash);
  const { chats, conversation, shelf, ui } = useActions();
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
    else toast(t`There are no chats to export.`);
  }

  return (
    <nav aria-label={t`Chats`} className="flex h-full w-64 flex-col border-e border-line bg-panel">
      <div className="flex h-12 items-center gap-2 ps-3.5 pe-2">
        <Logo className="size-6" />
        <span className="flex-1 pt-0.5 font-serif text-[1.06rem] leading-none tracking-[-0.01em] text-ink">
          Concertina
        </span>
        <IconButton
          label={t`Hide the chats`}
          keys={keysOf('sidebar')}
          side="right"
          icon={<PanelLeftClose />}
          onClick={() => ui.setSidebar(false)}
        />
      </div>
      <div className="flex flex-col gap-2 px-3 pt-1 pb-2">
        <Button
          data-testid="new-chat"
          title={t`New chat (${keyLabel(keysOf('new-chat'))})`}
          className="justify-start"
          onClick={() => {
            chats.closeTrash();
            conversation.startNew();
            ui.focusComposer();
            onChosen();
          }}
        >
          <SquarePen className="size-4 text-accent" aria-hidden="true" />
          <Trans>New chat</Trans>
        </Button>
        <Button tone="quiet" data-testid="shelf-open" className="justify-start" onClick={shelf.show}>
          <Library className="size-4" aria-hidden="true" />
          <Trans>Shelf</Trans>
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

function MoveDialog({ chat, onClose }: { chat: ChatSummary; onClose: () => void }) {
  const { chats } = useActions();
  const filled = useApp(selectShelfFolders).map(({ name }) => name);
  return (
    <FolderDialog
      title={t`Move to a folder`}
      description={chat.title}
      names={folderNames(useApp(selectChatList) ?? [], filled)}
      current={chat.folder}
      maxLength={limits.maxFolderName}
      onChoose={(folder) => folder !== chat.folder && void chats.setFolder([chat.id], folder)}
      onClose={onClose}
      testId="move-dialog"
    />
  );
}

/** Enter opens the first chat that is found. */
function SearchField({ onEnter }: { onEnter: () => void }) {
  const query = useApp(selectChatQuery);
  const focusRequest = useApp(selectFocusSearch);
  const { chats } = useActions();
  const field = useRef<HTMLInputElement>(null);

  useEffect(() => {
    if (focusRequest > 0) field.current?.select();
  }, [focusRequest]);

  return (
    <div className="relative">
      <Search className="pointer-events-none absolute top-2 start-2.5 size-4 text-ink-3" aria-hidden="true" />
      <input
        dir="auto"
        ref={field}
        type="search"
        data-testid="chat-search"
        aria-label={t`Search all chats`}
        placeholder={t`Search (${keyLabel(keysOf('search'))})`}
        autoComplete="off"
        spellCheck={false}
        value={query}
        onChange={(event) => chats.search(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && query !== '' && !event.nativeEvent.isComposing) onEnter();
          if (event.key === 'Escape' && query !== '') {
            event.stopPropagation();
            chats.search('');
          }
        }}
        className="h-8 w-full rounded-md border border-transparent bg-hover pe-7 ps-8 text-sm outline-none focus:border-accent/60 focus:bg-field"
      />
      {query !== '' && (
        <button
          type="button"
          aria-label={t`Clear the search`}
          onClick={() => chats.search('')}
          className="absolute top-1 end-1 flex size-6 items-center justify-center rounded text-ink-3 hover:text-ink"
        >
          <X className="size-3.5" aria-hidden="true" />
        </button>
      )}
    </div>
  );
}

// What can be done with a chat from the list, the same from a row, a menu and a key.

function useChatActions(onChosen: () => void) {
  const openId = useApp(selectChatId);
  const { chats, conversation } = useActions();

  function open(chatId: string): void {
    void conversation.open(chatId);
    onChosen();
  }

  async function remove(chat: ChatSummary): Promise<void> {
    const wasOpen = chat.id === openId;
    if (!(await chats.remove(chat.id))) return;
    if (wasOpen) conversation.startNew();
    toast(t`Chat moved to the trash`, {
      description: chat.title,
      duration: 8000,
      action: { label: t`Undo`, onClick: () => void undo(chat.id, wasOpen) },
    });
  }

  async function undo(chatId: string, show: boolean): Promise<void> {
    await chats.restore(chatId);
    if (show) await conversation.open(chatId);
  }

  return { open, remove: (chat: ChatSummary) => void remove(chat) };
}
