import type { ChatSummary } from '../../../electron/contract/chats';
import type { EventPayload } from '../../../electron/contract/contract';
import type { ChatHit } from '../../../electron/contract/lib/textSearch';
import { errorPayloadOf } from '../../bridge/client';
import type { AppState } from '../appState';
import { createTransferActions } from '../lib/chatTransfer';
import type { Tools } from '../slice';

export function createChatsActions(tools: Tools) {
  const { client, get, patch, report } = tools;
  const trash = createTrashActions(tools);

  function receive(list: ChatSummary[]): void {
    const open = get().conversation.chat;
    const renamed = open && list.find((chat) => chat.id === open.id);
    patch('chats', { list });
    if (open && renamed && renamed.title !== open.title) {
      patch('conversation', { chat: { ...open, title: renamed.title } });
    }
    if (get().chats.trash) void trash.openTrash();
  }

  async function rename(chatId: string, title: string): Promise<void> {
    const trimmed = title.trim();
    const { list } = get().chats;
    if (trimmed === '' || !list) return;
    receive(list.map((chat) => (chat.id === chatId ? { ...chat, title: trimmed } : chat)));
    try {
      await client.call('chats.rename', { chatId, title: trimmed });
    } catch (error) {
      patch('chats', { list });
      report(error);
    }
  }

  /** Off the list at once; the services keep it in the trash until `restore`. */
  async function remove(chatId: string): Promise<boolean> {
    const { list } = get().chats;
    patch('chats', { list: list?.filter((chat) => chat.id !== chatId) ?? null });
    try {
      await client.call('chats.remove', { chatId });
      return true;
    } catch (error) {
      patch('chats', { list });
      report(error);
      return false;
    }
  }

  /** The list comes with the event: the chat may be in the trash again before this is answered. */
  async function restore(chatId: string): Promise<void> {
    try {
      await client.call('chats.restore', { chatId });
    } catch (error) {
      report(error);
    }
  }

  /** Shown at once; a refusal puts the old list back. */
  async function place(chatIds: readonly string[], change: Partial<ChatSummary>, call: () => Promise<unknown>) {
    const { list } = get().chats;
    const moved = list?.map((chat) => (chatIds.includes(chat.id) ? { ...chat, ...change } : chat)) ?? null;
    patch('chats', { list: moved });
    try {
      await call();
    } catch (error) {
      patch('chats', { list });
      report(error);
    }
  }

  function setPinned(chatId: string, pinned: boolean): Promise<void> {
    return place([chatId], { pinned }, () => client.call('chats.setPinned', { chatId, pinned }));
  }

  /** null: out of their folder */
  function setFolder(chatIds: string[], folder: string | null): Promise<void> {
    return place(chatIds, { folder }, () => client.call('chats.setFolder', { chatIds, folder }));
  }

  function inFolder(name: string): string[] {
    return (get().chats.list ?? []).filter((chat) => chat.folder === name).map((chat) => chat.id);
  }

  /** With the name of another folder the two become one. */
  async function renameFolder(from: string, to: string): Promise<void> {
    const name = to.trim();
    if (name !== '' && name !== from) await setFolder(inFolder(from), name);
  }

  /** Its chats stay. */
  function removeFolder(name: string): Promise<void> {
    return setFolder(inFolder(name), null);
  }

  function setShutFolders(shutFolders: readonly string[]): void {
    patch('chats', { shutFolders });
  }

  function toggleFolder(name: string): void {
    const { shutFolders } = get().chats;
    const others = shutFolders.filter((one) => one !== name);
    setShutFolders(others.length < shutFolders.length ? others : [...others, name]);
  }

  return {
    receive,
    rename,
    remove,
    restore,
    setPinned,
    setFolder,
    renameFolder,
    removeFolder,
    setShutFolders,
    toggleFolder,
    ...createSearchActions(tools),
    ...createTransferActions(tools),
    ...trash,
  };
}

// Search of all chats while a person types: asked when the typing rests, and only the newest answer counts.

const restMs = 150;

function createSearchActions({ client, get, patch, report }: Tools) {
  // another window may search for something else at the same time
  const asker = `search-${Math.random().toString(36).slice(2)}`;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function search(query: string): void {
    clearTimeout(timer);
    const blank = query.trim() === '';
    if (blank && get().chats.searching) void client.call('chats.cancelSearch', { asker }).catch(() => undefined);
    patch('chats', { query, searching: !blank, ...(blank ? { found: null, searched: null } : {}) });
    if (!blank) timer = setTimeout(() => void ask(query), restMs);
  }

  function receiveProgress(progress: EventPayload<'onSearch'>): void {
    if (progress.asker === asker && get().chats.searching) patch('chats', { searched: progress.fraction });
  }

  async function ask(query: string): Promise<void> {
    clearTimeout(timer);
    patch('chats', { searched: null });
    try {
      const answer = await client.call('chats.search', { query, asker });
      if (get().chats.query === query) patch('chats', { found: { query, answer }, searching: false, searched: null });
    } catch (error) {
      // of one question asked twice, as by Enter while the typing has just rested, the second answers
      if (get().chats.query !== query || errorPayloadOf(error).code === 'cancelled') return;
      patch('chats', { searching: false, searched: null });
      report(error);
    }
  }

  /** The first chat that is found, without waiting for the typing to rest. */
  async function firstHit(): Promise<ChatHit | null> {
    const { query } = get().chats;
    if (get().chats.found?.query !== query) await ask(query);
    const { found } = get().chats;
    return found?.query === query ? (found.answer.hits[0] ?? null) : null;
  }

  return { search, firstHit, receiveProgress };
}

// The trash while it is looked at.

function createTrashActions({ client, get, patch, report }: Tools) {
  async function openTrash(): Promise<void> {
    try {
      patch('chats', { trash: await client.call('chats.trash', undefined) });
    } catch (error) {
      report(error);
    }
  }

  function closeTrash(): void {
    patch('chats', { trash: null });
  }

  /** For good. */
  async function destroy(chatIds: string[]): Promise<void> {
    try {
      await client.call('chats.destroy', { chatIds });
    } catch (error) {
      report(error);
    }
    if (get().chats.trash) await openTrash();
  }

  return { openTrash, closeTrash, destroy };
}

export const selectChatList = (state: AppState) => state.chats.list;
export const selectChatQuery = (state: AppState) => state.chats.query;
export const selectFound = (state: AppState) => state.chats.found;
export const selectSearching = (state: AppState) => state.chats.searching;
export const selectSearched = (state: AppState) => state.chats.searched;
export const selectTrash = (state: AppState) => state.chats.trash;
export const selectShutFolders = (state: AppState) => state.chats.shutFolders;
export const selectTransfer = (state: AppState) => state.chats.transfer;
