/** Folders that were shut stay shut: kept by this window, since it is no more than how its list looks. */
import type { App } from '../state/store';

const storageKey = 'concertina.shut-folders';

export function rememberFolders({ store, actions }: App, storage: Pick<Storage, 'getItem' | 'setItem'>): () => void {
  actions.chats.setShutFolders(read(storage.getItem(storageKey)));
  return store.subscribe(({ chats }, before) => {
    if (chats.shutFolders !== before.chats.shutFolders) {
      storage.setItem(storageKey, JSON.stringify(chats.shutFolders));
    }
  });
}

function read(text: string | null): string[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}
