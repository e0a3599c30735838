/** Handlers of what is done with chats as a whole: order, search, trash. */
import type { Handlers } from '../../../shared/contract';
import type { ChatStore } from '../chatStore';
import type { SessionService } from '../sessionService';
import type { ChatSearch } from './chatSearch';

export interface LibraryParts {
  chats: ChatStore;
  search: ChatSearch;
  sessions: SessionService;
}

type Names = 'chats.setPinned' | 'chats.setFolder' | 'chats.search' | 'chats.trash' | 'chats.destroy';

export function createLibraryHandlers({ chats, search, sessions }: LibraryParts): Pick<Handlers, Names> {
  async function destroy(chatIds: string[]): Promise<void> {
    await chats.destroy(chatIds);
    // without an engine they go when the next one starts (`retainSessions`)
    await Promise.allSettled(chatIds.map((chatId) => sessions.remove(chatId)));
  }

  return {
    'chats.setPinned': ({ chatId, pinned }) => chats.setPinned(chatId, pinned),
    'chats.setFolder': ({ chatIds, folder }) => chats.setFolder(chatIds, folder),
    'chats.search': (question) => search.search(question),
    'chats.trash': async () => chats.trashed(),
    'chats.destroy': ({ chatIds }) => destroy(chatIds),
  };
}
