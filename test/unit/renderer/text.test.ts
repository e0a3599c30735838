import { describe, expect, it } from 'vitest';
import { sortDropped } from '@/renderer/app/DropZone';
import { commandOfKey, escapeCloses } from '@/renderer/app/keyboard';
import { highlight } from '@/renderer/features/chat/markdown/highlight';
import { foldedPart, lastPart, textBlocks } from '@/renderer/features/chat/UserMessage';

describe('highlight', () => {
  const kinds = (code: string, language: string) =>
    highlight(code, language)
      .filter((token) => token.kind !== 'plain')
      .map((token) => `${token.kind}:${token.text}`);

  it('loses nothing of the code, whatever it is', () => {
    const odd = 'a = "unclosed\n\'x /* open `t $1} \\ # -- <!-- 0x1F 1e9 ünïcode 𝕏';
    for (const language of ['js', 'python', 'sql', 'html', 'json', '', 'made-up']) {
      expect(
        highlight(odd, language)
          .map((token) => token.text)
          .join(''),
      ).toBe(odd);
    }
  });

  it('knows comments, strings, numbers, keywords and calls', () => {
    expect(kinds('def f(x): # note', 'python')).toEqual(['keyword:def', 'name:f', 'comment:# note']);
    expect(kinds('return "a\\"b" + 1.5 // end', 'ts')).toEqual([
      'keyword:return',
      'string:"a\\"b"',
      'number:1.5',
      'comment:// end',
    ]);
    expect(kinds('SELECT 1 -- x', 'sql')).toEqual(['keyword:SELECT', 'number:1', 'comment:-- x']);
  });

  it('leaves plain and very long text alone', () => {
    expect(highlight('if x', 'text')).toEqual([{ kind: 'plain', text: 'if x' }]);
    expect(highlight('if '.repeat(30_000), 'js')).toHaveLength(1);
  });
});

describe('long questions', () => {
  it('folds by characters and by lines, with some slack', () => {
    expect(foldedPart('short')).toBeNull();
    expect(foldedPart('x'.repeat(1500))).toBeNull();
    expect(foldedPart('x'.repeat(5000))).toHaveLength(1200);
    expect(foldedPart('l\n'.repeat(40))?.split('\n')).toHaveLength(14);
  });

  it('shows the question at the end of a pasted text', () => {
    expect(lastPart(`${'text '.repeat(900)}\n\nWho is it?\n`)).toBe('Who is it?');
    const rows = lastPart('word '.repeat(900));
    expect(rows).toMatch(/^… word word .* word$/);
    expect(lastPart('x'.repeat(2000))).toBe(`… ${'x'.repeat(400)}`);
  });

  it('cuts a book into blocks at line ends and loses nothing', () => {
    const book = `${'A line of the book.\n'.repeat(4000)}${'x'.repeat(20_000)}`;
    const blocks = textBlocks(book);
    expect(blocks.join('')).toBe(book);
    expect(Math.max(...blocks.map((block) => block.length))).toBeLessThanOrEqual(8001);
  });
});

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
