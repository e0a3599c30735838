import type { ChatSummary } from '../../../electron/shared/chats';
import type { Tools } from '../tools';

export function createChatsActions({ client, get, patch, report }: Tools) {
  function receive(list: ChatSummary[]): void {
    const open = get().conversation.chat;
    const renamed = open && list.find((chat) => chat.id === open.id);
    patch('chats', { list });
    if (open && renamed && renamed.title !== open.title) {
      patch('conversation', { chat: { ...open, title: renamed.title } });
    }
  }

  function search(query: string): void {
    patch('chats', { query });
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

  return { receive, search, rename, remove, restore };
}
