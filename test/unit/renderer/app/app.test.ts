/** What a key does, what a dropped file is, and what is remembered over a reload. */
import { describe, expect, it, vi } from 'vitest';
import { commands } from '@/electron/contract/lib/commands';
import { sortDropped } from '@/renderer/app/DropZone';
import { commandOfKey, escapeCloses } from '@/renderer/app/keyboard';
import { rememberChat } from '@/renderer/app/stored';
import { paletteEntries } from '@/renderer/features/commands/Palette';
import type { AppStore } from '@/renderer/state/store';

it('dropped files are models and folders, and documents', () => {
  const items = ['a.GGUF', 'b.md', 'c', 'folder'].map((name) => ({
    file: new File([''], name),
    folder: name === 'folder',
  }));
  const { documents, models } = sortDropped(items);
  expect(documents.map((file) => file.name)).toEqual(['b.md', 'c']);
  expect(models.map((file) => file.name)).toEqual(['a.GGUF', 'folder']);
});

it('keys follow the platform', () => {
  const key = (name: string, mods: Partial<KeyboardEvent> = {}) => ({
    key: name,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    shiftKey: false,
    ...mods,
  });

  expect(commandOfKey(key('n', { ctrlKey: true }), false)).toBe('new-chat');
  expect(commandOfKey(key('n', { ctrlKey: true }), true)).toBeNull();
  expect(commandOfKey(key(',', { metaKey: true }), true)).toBe('settings');
  expect(commandOfKey(key('K', { ctrlKey: true }), false)).toBe('search');
  expect(commandOfKey(key('Escape'), false)).toBe('stop');
  const open = { paneOpen: true, inPane: false, answering: false };
  expect(escapeCloses(open)).toBe(true);
  expect(escapeCloses({ ...open, answering: true })).toBe(false);
  expect(escapeCloses({ ...open, inPane: true, answering: true })).toBe(true);
  expect(escapeCloses({ ...open, paneOpen: false })).toBe(false);
  expect(commandOfKey(key('n'), false)).toBeNull();
  expect(commandOfKey(key('n', { ctrlKey: true, shiftKey: true }), false)).toBeNull();
  expect(commandOfKey(key('P', { ctrlKey: true, shiftKey: true }), false)).toBe('palette');
  expect(commandOfKey(key('p', { ctrlKey: true }), false)).toBeNull();
  // on many keyboards it takes Shift
  expect(commandOfKey(key('/', { ctrlKey: true, shiftKey: true }), false)).toBe('shortcuts');
  expect(commandOfKey(key('/', { metaKey: true }), true)).toBe('shortcuts');
  const mark = key('?', { shiftKey: true });
  expect(commandOfKey(mark, false)).toBe('shortcuts');
  expect(commandOfKey(mark, false, true)).toBeNull();
});

it('no two commands have the same keys, and each is found by its own', () => {
  const withKeys = commands.flatMap(({ id, keys }) => (keys ? { id, keys } : []));
  expect(new Set(withKeys.map(({ keys }) => keys)).size).toBe(withKeys.length);
  for (const { id, keys } of withKeys) {
    const press = { ctrlKey: true, metaKey: false, altKey: false, shiftKey: keys.includes('Shift') };
    expect(commandOfKey({ ...press, key: keys.split('+').at(-1) ?? '' }, false)).toBe(id);
  }
});

it('the palette finds commands and chats by parts of their names, chats newest first', () => {
  const chats = ['The blue key', 'Keys of the house', 'Résumé'].map((title, i) => ({ id: title, title, updatedAt: i }));
  const names = (query: string) => {
    const found = paletteEntries(query, chats);
    return [...found.commands.map(({ id }) => id), ...found.chats.map(({ title }) => title)];
  };
  expect(names('KEY')).toEqual(['shortcuts', 'Keys of the house', 'The blue key']);
  expect(names('key blue')).toEqual(['The blue key']);
  expect(names('resume')).toEqual(['Résumé']);
  expect(names('zzz')).toEqual([]);
  expect(names('')).toHaveLength(commands.length - 1 + chats.length);
  const many = Array.from({ length: 50 }, (_, i) => ({ id: `${i}`, title: `Chat ${i}`, updatedAt: i }));
  expect(paletteEntries('chat 4', many).chats[0]?.id).toBe('49');
  expect(paletteEntries('', many).chats).toHaveLength(30);
});

/** As much of the app as is looked at. */
function start(stored: string | null) {
  const items = new Map(stored === null ? [] : [['concertina.chat', stored]]);
  const open = vi.fn();
  let tell: (state: unknown) => void = () => {};
  const app = {
    store: {
      subscribe: (listener: typeof tell) => {
        tell = listener;
      },
    },
    actions: { conversation: { open } },
  } as unknown as AppStore;
  rememberChat(app, { getItem: (key) => items.get(key) ?? null, setItem: (key, value) => void items.set(key, value) });
  const state = (list: string[] | null, openId: string | null) =>
    tell({
      chats: { list: list?.map((id) => ({ id })) ?? null },
      conversation: { chat: openId === null ? null : { id: openId }, openingId: null },
    });
  return { open, state, stored: () => items.get('concertina.chat') };
}

describe('rememberChat', () => {
  it('opens the chat of before the reload when the list is there, once', () => {
    const { open, state, stored } = start('b');
    state(null, null);
    expect(open).not.toHaveBeenCalled();
    state(['a', 'b'], null);
    expect(open).toHaveBeenCalledWith('b');
    state(['a', 'b'], 'b');
    state(['a', 'b'], null);
    expect(open).toHaveBeenCalledTimes(1);
    expect(stored()).toBe('');
  });

  it('forgets a chat that was deleted, and gives way to a person who was faster', () => {
    const gone = start('b');
    gone.state(['a'], null);
    const faster = start('b');
    faster.state(['a', 'b'], 'a');
    faster.state(['a', 'b'], 'a');
    expect(gone.open).not.toHaveBeenCalled();
    expect(faster.open).not.toHaveBeenCalled();
    expect(faster.stored()).toBe('a');
  });
});
