/**
 * What a person can ask of the window by a key, in the menu and in the palette: one list, from which the keys, the menu of the
 * desktop, the tooltips and the sheet of shortcuts are made.
 */

import type { MessageDescriptor } from '@lingui/core';
import { msg } from '@lingui/core/runtime-macro';
import { say } from './language';

interface CommandEntry {
  id: string;
  text: MessageDescriptor;
  group: CommandGroup;
  /** parts joined by +, the key last; `Mod` is Ctrl, and Command on a Mac. Left out: it has none */
  keys?: string;
}

export type CommandGroup = 'Chats' | 'Window' | 'Help';

const entries = [
  { id: 'new-chat', text: msg`New chat`, group: 'Chats', keys: 'Mod+N' },
  { id: 'search', text: msg`Search chats`, group: 'Chats', keys: 'Mod+K' },
  { id: 'find', text: msg`Find in this chat`, group: 'Chats', keys: 'Mod+F' },
  { id: 'focus-input', text: msg`Write a message`, group: 'Chats', keys: 'Mod+L' },
  { id: 'stop', text: msg`Stop the answer`, group: 'Chats', keys: 'Mod+.' },
  { id: 'palette', text: msg`Commands and chats`, group: 'Window', keys: 'Mod+Shift+P' },
  { id: 'sidebar', text: msg`Show or hide the chats`, group: 'Window', keys: 'Mod+B' },
  { id: 'models', text: msg`Models`, group: 'Window', keys: 'Mod+O' },
  { id: 'shelf', text: msg`Shelf of documents`, group: 'Window' },
  { id: 'compare', text: msg`Compare cache types or models`, group: 'Window' },
  { id: 'api', text: msg`API for other programs`, group: 'Window' },
  { id: 'tools', text: msg`Tool servers`, group: 'Window' },
  { id: 'settings', text: msg`Settings`, group: 'Window', keys: 'Mod+,' },
  { id: 'shortcuts', text: msg`Keyboard shortcuts`, group: 'Help', keys: 'Mod+/' },
  { id: 'diagnostics', text: msg`Diagnostics`, group: 'Help', keys: 'Mod+D' },
  { id: 'third-party-notices', text: msg`Third-party notices`, group: 'Help' },
  { id: 'about', text: msg`About Concertina`, group: 'Help' },
] as const satisfies readonly CommandEntry[];

export type CommandId = (typeof entries)[number]['id'];

export interface Command extends CommandEntry {
  id: CommandId;
  /** in the language of this process */
  readonly label: string;
}

export const commands: readonly Command[] = entries.map(labeled);

/** The label is made when it is asked for: the language may have changed. */
function labeled<T extends { text: MessageDescriptor }>(entry: T): T & { readonly label: string } {
  return {
    ...entry,
    get label() {
      return say(entry.text);
    },
  };
}

export function commandById(id: CommandId): Command {
  const found = commands.find((command) => command.id === id);
  if (!found) throw new Error(`There is no command ${id}.`);
  return found;
}

type WithKeys = Extract<(typeof entries)[number], { keys: string }>['id'];

/** As tooltips take them. */
export function keysOf(id: WithKeys): string {
  return commandById(id).keys ?? '';
}

/** Keys that are no commands: what they do depends on what has the focus. */
export const otherKeys: readonly { readonly label: string; keys: string }[] = [
  { text: msg`Send; while an answer is written, after it`, keys: 'Enter' },
  { text: msg`New line`, keys: 'Shift+Enter' },
  { text: msg`Stop the answer, or close what is open`, keys: 'Esc' },
  { text: msg`Rename the chat in the list`, keys: 'F2' },
  { text: msg`Move the chat in the list to the trash`, keys: 'Delete' },
  { text: msg`This list, outside of text fields`, keys: '?' },
].map(labeled);

interface Press {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

/** The command of a key press; null: it is none. Signs may take Shift on some keyboards: they count with and without. */
export function commandOfPress(press: Press, mac: boolean): CommandId | null {
  const mod = mac ? press.metaKey && !press.ctrlKey : press.ctrlKey && !press.metaKey;
  if (!mod || press.altKey) return null;
  const key = press.key.toLowerCase();
  const isLetter = /^\p{L}$/u.test(key);
  const found = commands.find(({ keys = '' }) => {
    const parts = keys.split('+');
    return parts.at(-1)?.toLowerCase() === key && (!isLetter || parts.includes('Shift') === press.shiftKey);
  });
  return found?.id ?? null;
}
