/** What this window itself remembers: its theme, its language, the chat that is open, the folders that are shut. */
import { languageSettingSchema } from '../../electron/contract/lib/language';
import type { Settings } from '../../electron/contract/settings';
import { showLanguage } from '../language';
import type { AppStore } from '../state/store';

type Theme = Settings['theme'];
type Language = Settings['language'];

// The theme is a class on <html>. The services know it too; here it is for the first paint.

const themeKey = 'concertina.theme';

export function applyStoredTheme(): void {
  const stored = localStorage.getItem(themeKey);
  applyTheme(stored === 'light' || stored === 'dark' ? stored : 'system');
}

export function applyTheme(theme: Theme): void {
  const dark = theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.classList.toggle('dark', dark);
  localStorage.setItem(themeKey, theme);
}

// The language as well. What was stored by a later version, which speaks more, counts as the one of the system.

const languageKey = 'concertina.language';

export async function applyStoredLanguage(): Promise<void> {
  const { data = 'system' } = languageSettingSchema.safeParse(localStorage.getItem(languageKey));
  await showLanguage(data);
}

export async function applyLanguage(language: Language): Promise<void> {
  localStorage.setItem(languageKey, language);
  await showLanguage(language);
}

// A reload of the page comes back to the chat that was open. Kept for this tab only: a new start begins with a new chat.

const openChatKey = 'concertina.chat';

export function rememberChat({ store, actions }: AppStore, storage: Pick<Storage, 'getItem' | 'setItem'>): () => void {
  const before = storage.getItem(openChatKey);
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
    if ((storage.getItem(openChatKey) ?? '') !== (openId ?? '')) storage.setItem(openChatKey, openId ?? '');
  });
}

// Folders that were shut stay shut: kept by this window, since it is no more than how its list looks.

const shutFoldersKey = 'concertina.shut-folders';

export function rememberFolders(
  { store, actions }: AppStore,
  storage: Pick<Storage, 'getItem' | 'setItem'>,
): () => void {
  actions.chats.setShutFolders(read(storage.getItem(shutFoldersKey)));
  return store.subscribe(({ chats }, before) => {
    if (chats.shutFolders !== before.chats.shutFolders) {
      storage.setItem(shutFoldersKey, JSON.stringify(chats.shutFolders));
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
