/** What can be done with a chat from the list, the same from a row, a menu and a key. */
import { toast } from 'sonner';
import type { ChatSummary } from '../../../electron/contract/chats';
import { selectChatId } from '../../state/conversation/selectors';
import { useActions, useApp } from '../../state/useApp';

export function useChatActions(onChosen: () => void) {
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
    toast('Chat moved to the trash', {
      description: chat.title,
      duration: 8000,
      action: { label: 'Undo', onClick: () => void undo(chat.id, wasOpen) },
    });
  }

  async function undo(chatId: string, show: boolean): Promise<void> {
    await chats.restore(chatId);
    if (show) await conversation.open(chatId);
  }

  return { open, remove: (chat: ChatSummary) => void remove(chat) };
}
