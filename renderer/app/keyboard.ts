/** Key commands of the window. The menu of the main process sends the same ones by name. */

import type { Command } from '../state/connect';
import { longPaste, selectChatId } from '../state/lib/openChat';
import { selectIsAnswering } from '../state/slices/live';
import type { AppStore } from '../state/store';
import { isMac } from '../ui/Tooltip';

export type KeyCommand = Command | 'sidebar' | 'find' | 'models';

type Key = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>;

const letters: Record<string, KeyCommand> = {
  n: 'new-chat',
  l: 'focus-input',
  k: 'search',
  f: 'find',
  b: 'sidebar',
  d: 'diagnostics',
  o: 'models',
  ',': 'settings',
};

export function commandOfKey(event: Key, mac: boolean): KeyCommand | null {
  if (event.key === 'Escape') return 'stop';
  const mod = mac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
  if (!mod || event.altKey || event.shiftKey) return null;
  return letters[event.key.toLowerCase()] ?? null;
}

const commands: Record<KeyCommand, (app: AppStore) => void> = {
  'new-chat': ({ actions }) => {
    actions.compare.close();
    actions.conversation.startNew();
    actions.ui.focusComposer();
  },
  'focus-input': ({ actions }) => {
    actions.compare.close();
    actions.ui.focusComposer();
  },
  search: ({ actions }) => actions.ui.focusSearch(),
  find: ({ actions }) => {
    actions.compare.close();
    actions.ui.openFind();
  },
  settings: ({ actions }) => actions.ui.toggleSettings(),
  diagnostics: ({ actions }) => actions.ui.setDiagnostics(true),
  'third-party-notices': ({ actions }) => actions.ui.setThirdParty(true),
  quote: quoteSelection,
  models: ({ actions }) => actions.ui.showModels('discover'),
  sidebar: ({ actions }) => actions.ui.toggleSidebar(),
  stop: stopOrClose,
};

export function runCommand(app: AppStore, command: KeyCommand): void {
  commands[command](app);
}

/** What is selected anywhere in the window. */
function quoteSelection({ actions }: AppStore): void {
  const text = getSelection()?.toString().trim() ?? '';
  if (text === '') return;
  actions.compare.close();
  if (text.length > longPaste) void actions.documents.attachText(text);
  else actions.conversation.quote(text);
  actions.ui.focusComposer();
}

/** With the focus in the pane on the right, or with nothing to stop, Escape closes it; else it stops the answer. */
export function escapeCloses(facts: { paneOpen: boolean; inPane: boolean; answering: boolean }): boolean {
  return facts.paneOpen && (facts.inPane || !facts.answering);
}

function stopOrClose({ actions, store }: AppStore): void {
  const state = store.getState();
  const { settingsOpen } = state.ui;
  const pane = settingsOpen ? 'settings-panel' : 'document-panel';
  const closes = escapeCloses({
    paneOpen: settingsOpen || state.documents.panel !== null,
    inPane: document.activeElement?.closest(`[data-testid="${pane}"]`) != null,
    answering: selectIsAnswering(selectChatId(state))(state),
  });
  if (!closes) {
    void actions.conversation.stop();
    return;
  }
  if (settingsOpen) actions.ui.setSettings(false);
  else actions.documents.close();
  actions.ui.focusComposer();
}

/** Keys that something nearer has used (a menu that closes, a field that gives up) are left alone. */
export function listenForKeys(app: AppStore): () => void {
  function onKeyDown(event: KeyboardEvent): void {
    if (event.defaultPrevented) return;
    const command = commandOfKey(event, isMac);
    if (!command) return;
    if (command !== 'stop') event.preventDefault();
    runCommand(app, command);
  }
  window.addEventListener('keydown', onKeyDown);
  return () => window.removeEventListener('keydown', onKeyDown);
}
