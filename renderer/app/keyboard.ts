/** Key commands of the window. The menu of the main process sends the same ones by name. */

import { type CommandId, commandOfPress } from '../../electron/contract/lib/commands';
import type { Command } from '../state/connect';
import { longPaste, selectChatId } from '../state/lib/openChat';
import { selectIsAnswering } from '../state/slices/live';
import type { AppStore } from '../state/store';
import { isMac } from '../ui/Tooltip';

type Key = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>;

/** `writes`: the key press goes to a field that takes text. */
export function commandOfKey(event: Key, mac: boolean, writes = false): CommandId | null {
  if (event.key === 'Escape') return 'stop';
  if (event.key === '?' && !writes && !event.ctrlKey && !event.metaKey && !event.altKey) return 'shortcuts';
  return commandOfPress(event, mac);
}

const commands: Record<Command, (app: AppStore) => void> = {
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
  palette: ({ actions }) => actions.ui.showDialog('palette'),
  shortcuts: ({ actions }) => actions.ui.showDialog('shortcuts'),
  about: ({ actions }) => actions.ui.showDialog('about'),
  compare: ({ actions }) => actions.compare.show(),
  api: ({ actions }) => actions.api.show(),
  diagnostics: ({ actions }) => actions.ui.setDiagnostics(true),
  'third-party-notices': ({ actions }) => actions.ui.setThirdParty(true),
  quote: quoteSelection,
  models: ({ actions }) => actions.ui.showModels('discover'),
  sidebar: ({ actions }) => actions.ui.toggleSidebar(),
  stop: stopOrClose,
};

export function runCommand(app: AppStore, command: Command): void {
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
    const command = commandOfKey(event, isMac, takesText(event.target));
    if (!command) return;
    // the menu of the desktop has the same keys
    if (event.key !== 'Escape') event.preventDefault();
    runCommand(app, command);
  }
  window.addEventListener('keydown', onKeyDown);
  return () => window.removeEventListener('keydown', onKeyDown);
}

function takesText(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
