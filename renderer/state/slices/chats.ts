import type { ChatSummary } from '../../../electron/contract/chats';
import { createSearchActions } from '../chats/search';
import { createTrashActions } from '../chats/trash';
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

  async function restore(chatId: string): Promise<void> {
    try {
      const chat = await client.call('chats.restore', { chatId });
      const others = get().chats.list?.filter((other) => other.id !== chatId) ?? [];
      patch('chats', { list: [chat, ...others] });
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
