import './styles.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { startState } from '../state/connect';
import type { AppStore } from '../state/store';
import { AppContext } from '../state/useApp';
import { App } from './App';
import { ErrorBoundary } from './ErrorBoundary';
import { runCommand } from './keyboard';
import { applyStoredTheme } from './theme';

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

applyStoredTheme();

const app = await startState(runCommand);
rememberChat(app, sessionStorage);
rememberFolders(app, localStorage);
if (new URLSearchParams(location.search).get('meter') === 'off') app.actions.meter.turnOff();
const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root.');

createRoot(root).render(
  <StrictMode>
    <ErrorBoundary what="The window">
      <AppContext value={app}>
        <App app={app} />
      </AppContext>
    </ErrorBoundary>
  </StrictMode>,
);
