/** What a key does, and what a dropped file is. */
import { describe, expect, it } from 'vitest';
import { sortDropped } from '@/renderer/app/DropZone';
import { commandOfKey, escapeCloses } from '@/renderer/app/keyboard';

describe('dropped files', () => {
  it('are models and folders, and documents', () => {
    const items = ['a.GGUF', 'b.md', 'c', 'folder'].map((name) => ({
      file: new File([''], name),
      folder: name === 'folder',
    }));
    const { documents, models } = sortDropped(items);
    expect(documents.map((file) => file.name)).toEqual(['b.md', 'c']);
    expect(models.map((file) => file.name)).toEqual(['a.GGUF', 'folder']);
  });
});

describe('keys', () => {
  const key = (name: string, mods: Partial<KeyboardEvent> = {}) => ({
    key: name,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    shiftKey: false,
    ...mods,
  });

  it('follow the platform', () => {
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
  });
});
