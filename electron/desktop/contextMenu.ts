/**
 * The menu of a right click, and of the keyboard's menu key: what can be done with a text field, a selected text or a link.
 * Rows that have a menu of their own show that instead, and the page keeps the event from coming here.
 */

import { msg } from '@lingui/core/runtime-macro';
import {
  app,
  type BrowserWindow,
  type ContextMenuParams,
  clipboard,
  Menu,
  type MenuItemConstructorOptions,
  session,
} from 'electron';
import { channels } from './channels';
import { shown } from './language';

const mostSuggestions = 5;

export function setUpContextMenu(window: BrowserWindow): void {
  const { webContents } = window;
  webContents.on('context-menu', (_event, params) => {
    const items = contextMenuOf(params, {
      replace: (word) => webContents.replaceMisspelling(word),
      learn: (word) => webContents.session.addWordToSpellCheckerDictionary(word),
      open: (url) => webContents.send(channels.event, 'onOpenLink', { url }),
      copy: (text) => clipboard.writeText(text),
      quote: () => webContents.send(channels.event, 'onCommand', { command: 'quote' }),
    });
    if (items.length === 0) return;
    // with the keyboard the mouse may be anywhere
    const at = params.menuSourceType === 'keyboard' ? { x: params.x, y: params.y } : {};
    Menu.buildFromTemplate(items).popup({ window, ...at });
  });
}

type Facts = Pick<
  ContextMenuParams,
  'isEditable' | 'editFlags' | 'selectionText' | 'linkURL' | 'misspelledWord' | 'dictionarySuggestions'
>;

interface Actions {
  /** puts a word in the place of the misspelled one */
  replace(word: string): void;
  learn(word: string): void;
  /** after the question of the page */
  open(url: string): void;
  copy(text: string): void;
  /** puts what is selected into the question */
  quote(): void;
}

/** Empty: there is nothing to do here. */
export function contextMenuOf(facts: Facts, actions: Actions): MenuItemConstructorOptions[] {
  const groups = [
    spelling(facts, actions),
    link(facts, actions),
    facts.isEditable ? editing(facts) : selected(facts, actions),
  ];
  return groups
    .filter((group) => group.length > 0)
    .flatMap((group, index) => (index > 0 ? [{ type: 'separator' } as const, ...group] : group));
}

function spelling({ isEditable, misspelledWord, dictionarySuggestions }: Facts, { replace, learn }: Actions) {
  if (!isEditable || misspelledWord === '') return [];
  const words = dictionarySuggestions.slice(0, mostSuggestions);
  return [
    ...words.map((word) => ({ label: word, click: () => replace(word) })),
    ...(words.length === 0 ? [{ label: shown(msg`No spelling suggestions`), enabled: false }] : []),
    { label: shown(msg`Add to dictionary`), click: () => learn(misspelledWord) },
  ];
}

/** Only addresses that the app would open; citations are none. */
function link({ linkURL }: Facts, { open, copy }: Actions): MenuItemConstructorOptions[] {
  if (!linkURL.startsWith('https://')) return [];
  return [
    { label: shown(msg`Open link`), click: () => open(linkURL) },
    { label: shown(msg`Copy link address`), click: () => copy(linkURL) },
  ];
}

function editing({ editFlags }: Facts): MenuItemConstructorOptions[] {
  return [
    { role: 'cut', label: shown(msg`Cut`), enabled: editFlags.canCut },
    { role: 'copy', label: shown(msg`Copy`), enabled: editFlags.canCopy },
    { role: 'paste', label: shown(msg`Paste`), enabled: editFlags.canPaste },
    { role: 'selectAll', label: shown(msg`Select all`), enabled: editFlags.canSelectAll },
  ];
}

function selected({ selectionText }: Facts, { quote }: Actions): MenuItemConstructorOptions[] {
  if (selectionText.trim() === '') return [];
  return [
    { role: 'copy', label: shown(msg`Copy`) },
    { label: shown(msg`Quote in question`), click: quote },
  ];
}

// Spell check. Chromium fetches the dictionary of a language as soon as it knows the language: none is named while it is off.

let checking: boolean | null = null;

/** Before the first window, and when settings change. */
export function followSpellCheck(on: boolean): void {
  if (on === checking) return;
  checking = on;
  const { defaultSession } = session;
  defaultSession.setSpellCheckerEnabled(on);
  // macOS checks with its own dictionaries, in the languages that it finds
  if (process.platform === 'darwin') return;
  const languages = on
    ? dictionariesFor(app.getPreferredSystemLanguages(), defaultSession.availableSpellCheckerLanguages)
    : [];
  defaultSession.setSpellCheckerLanguages(languages);
}

/** For languages as the system names them ("de-AT", "en_US"), the dictionaries that there are; English where there is none. */
export function dictionariesFor(languages: readonly string[], available: readonly string[]): string[] {
  const found = languages.flatMap((name) => {
    const language = name.replace('_', '-');
    const [base = ''] = language.split('-');
    return [language, base].find((one) => available.includes(one)) ?? [];
  });
  return found.length > 0 ? [...new Set(found)] : available.filter((one) => one === 'en-US');
}
