/**
 * What a person can ask of the window by a key, in the menu and in the palette: one list, from which the keys, the menu of the
 * desktop, the tooltips and the sheet of shortcuts are made.
 */

interface CommandEntry {
  id: string;
  label: string;
  group: CommandGroup;
  /** parts joined by +, the key last; `Mod` is Ctrl, and Command on a Mac. Left out: it has none */
  keys?: string;
}

export type CommandGroup = 'Chats' | 'Window' | 'Help';

const entries = [
  { id: 'new-chat', label: 'New chat', group: 'Chats', keys: 'Mod+N' },
  { id: 'search', label: 'Search chats', group: 'Chats', keys: 'Mod+K' },
  { id: 'find', label: 'Find in this chat', group: 'Chats', keys: 'Mod+F' },
  { id: 'focus-input', label: 'Write a message', group: 'Chats', keys: 'Mod+L' },
  { id: 'stop', label: 'Stop the answer', group: 'Chats', keys: 'Mod+.' },
  { id: 'palette', label: 'Commands and chats', group: 'Window', keys: 'Mod+Shift+P' },
  { id: 'sidebar', label: 'Show or hide the chats', group: 'Window', keys: 'Mod+B' },
  { id: 'models', label: 'Models', group: 'Window', keys: 'Mod+O' },
  { id: 'compare', label: 'Compare cache types', group: 'Window' },
  { id: 'api', label: 'API for other programs', group: 'Window' },
  { id: 'settings', label: 'Settings', group: 'Window', keys: 'Mod+,' },
  { id: 'shortcuts', label: 'Keyboard shortcuts', group: 'Help', keys: 'Mod+/' },
  { id: 'diagnostics', label: 'Diagnostics', group: 'Help', keys: 'Mod+D' },
  { id: 'third-party-notices', label: 'Third-party notices', group: 'Help' },
  { id: 'about', label: 'About Concertina', group: 'Help' },
] as const satisfies readonly CommandEntry[];

export type CommandId = (typeof entries)[number]['id'];

export interface Command extends CommandEntry {
  id: CommandId;
}

export const commands: readonly Command[] = entries;

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
export const otherKeys: readonly { label: string; keys: string }[] = [
  { label: 'Send; while an answer is written, after it', keys: 'Enter' },
  { label: 'New line', keys: 'Shift+Enter' },
  { label: 'Stop the answer, or close what is open', keys: 'Esc' },
  { label: 'Rename the chat in the list', keys: 'F2' },
  { label: 'Move the chat in the list to the trash', keys: 'Delete' },
  { label: 'This list, outside of text fields', keys: '?' },
];

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
