/** The keyboard: commands of the window, which the menu of the main process sends by name too, and a focus that is never lost. */

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
    actions.chats.closeTrash();
    actions.conversation.startNew();
    actions.ui.focusComposer();
  },
  'focus-input': ({ actions }) => {
    actions.compare.close();
    actions.ui.focusComposer();
  },
  search: ({ actions }) => {
    actions.chats.closeTrash();
    actions.ui.focusSearch();
  },
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
  tools: ({ actions }) => actions.tools.show(),
  diagnostics: ({ actions }) => actions.ui.setDiagnostics(true),
  'third-party-notices': ({ actions }) => actions.ui.setThirdParty(true),
  quote: quoteSelection,
  models: ({ actions }) => actions.ui.showModels('discover'),
  shelf: ({ actions }) => actions.shelf.show(),
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
  if (state.chats.trash && document.activeElement?.closest('[data-testid="trash"]')) {
    actions.chats.closeTrash();
    return;
  }
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

const stops = 'a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, summary, [tabindex="0"]';

/** Dialogs, menus and the field for the next question give the focus a place of their own first. */
const restMs = 50;

const presses = ['keydown', 'pointerdown'] as const;

/** Where something stood that is gone: among the children of `parent`, behind `before`. */
interface Place {
  parent: Element;
  before: Node | null;
}

/**
 * What had the focus and is taken out of the page, or switched off, hands it on: a deleted row to the next one, a button that
 * went with its notice to what follows. Else the focus would be on the page as a whole, and Tab begin anywhere.
 */
export function keepFocus(): () => void {
  let last: HTMLElement | null = null;
  // whoever clicks looks at the pointer, and a button that gets the focus would show its tooltip
  let byKeys = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function onFocusIn({ target }: FocusEvent): void {
    // a dialog takes the focus of what it has lost on itself
    if (last && !last.isConnected && isWhole(target)) return;
    last = target instanceof HTMLElement ? target : null;
  }

  function onChange(records: MutationRecord[]): void {
    if (!last || !byKeys || !(last.matches(':disabled') || isWhole(document.activeElement))) return;
    const gone = last;
    const place = placeOf(gone, records);
    if (!place) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      const now = document.activeElement;
      const lost = now === null || (isWhole(now) && now.contains(place.parent));
      if (lost || (now === gone && gone.matches(':disabled'))) stopAt(gone, place)?.focus();
    }, restMs);
  }

  const onPress = ({ type }: Event) => {
    byKeys = type === 'keydown';
  };
  const observer = new MutationObserver(onChange);
  observer.observe(document.body, { subtree: true, childList: true, attributeFilter: ['disabled'] });
  document.addEventListener('focusin', onFocusIn);
  for (const press of presses) document.addEventListener(press, onPress, true);
  return () => {
    clearTimeout(timer);
    observer.disconnect();
    document.removeEventListener('focusin', onFocusIn);
    for (const press of presses) document.removeEventListener(press, onPress, true);
  };
}

/** The page, or a dialog as one: nothing in it has the focus. */
function isWhole(target: EventTarget | null): boolean {
  return !(target instanceof HTMLElement) || target === document.body || /dialog$/.test(target.role ?? '');
}

/** Null: these changes did not take it away. */
function placeOf(gone: HTMLElement, records: readonly MutationRecord[]): Place | null {
  const removal = (node: Node) =>
    records.find(({ removedNodes }) => [...removedNodes].some((removed) => removed.contains(node)));
  if (gone.isConnected) {
    const changed = removal(gone) ?? records.find(({ target }) => target === gone);
    return changed && gone.parentElement ? { parent: gone.parentElement, before: gone } : null;
  }
  let node: Node = gone;
  for (;;) {
    const record = removal(node);
    if (!record) return null;
    const { target, previousSibling } = record;
    if (target instanceof Element && target.isConnected) return { parent: target, before: previousSibling };
    node = target;
  }
}

/** The first stop of the Tab key behind the place, the last one before it where none follows; of the nearest part that has any. */
function stopAt(gone: HTMLElement, { parent, before }: Place): HTMLElement | null {
  // it was moved, and is there again
  if (gone.isConnected && gone.matches(stops)) return gone;
  let mark = before?.isConnected ? before : null;
  for (let part: Element | null = parent; part; part = part.parentElement) {
    const inside = [...part.querySelectorAll<HTMLElement>(stops)].filter((stop) => stop.checkVisibility());
    const follows = (stop: HTMLElement) =>
      mark === null ||
      (!mark.contains(stop) && (mark.compareDocumentPosition(stop) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0);
    const stop = inside.find(follows) ?? inside.at(-1);
    if (stop) return stop;
    mark = part;
  }
  return null;
}
