/** A reload of the page comes back to the chat that was open. Kept for this tab only: a new start begins with a new chat. */
import type { App } from '../state/store';

const storageKey = 'concertina.chat';

export function rememberChat({ store, actions }: App, storage: Pick<Storage, 'getItem' | 'setItem'>): () => void {
  const before = storage.getItem(storageKey);
  // Not before the list is there: a chat that was deleted meanwhile is no error.
  let waiting = before !== null && before !== '';
  return store.subscribe(({ chats, conversation }) => {
    const openId = conversation.chat?.id ?? conversation.openingId;
    if (waiting && openId === null) {
      if (chats.list === null) return;
      waiting = false;
      if (chats.list.some((chat) => chat.id === before)) void actions.conversation.open(before ?? '');
      return;
    }
    waiting = false;
    if ((storage.getItem(storageKey) ?? '') !== (openId ?? '')) storage.setItem(storageKey, openId ?? '');
  });
}
