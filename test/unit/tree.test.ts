// biome-ignore-all lint/suspicious/noTemplateCurlyInString: sources that are looked at stand in strings
/** The checks of the tree, on small trees: layers, which must say what is allowed where a rule is broken, figures, and texts. */
import { describe, expect, test } from 'vitest';
import { physicalSides } from '../directions.mjs';
import { figuresOf, LEAST_MEDIAN, LIMITS, outOfBounds } from '../figures.mjs';
import { checkFile } from '../layers.mjs';
import { untranslated, untranslatedErrors, wrongTranslations } from '../texts.mjs';

describe('imports', () => {
  const allowed: [string, string][] = [
    [
      'electron/desktop/windows.ts',
      `import { app } from 'electron'; import path from 'node:path'; import '../contract/limits';`,
    ],
    ['renderer/features/chat/Chat.tsx', `import { useChat } from '../../state/chat'; import './parts/Bubble';`],
    ['renderer/state/chat.ts', `import { create } from 'zustand/vanilla';`],
    ['electron/engine/entry.ts', `import { load } from './native/load';`],
    ['renderer/ui/a.ts', `// import '../state/chat'\nconst text = "import '../state/chat'";`],
    // owners of names
    ['electron/desktop/gate.ts', `import { ipcMain } from 'electron';`],
    ['renderer/bridge/socket.ts', `new WebSocket('ws://127.0.0.1');`],
  ];
  test.each(allowed)('%s: allowed', (file, source) => {
    expect(checkFile(file, source)).toEqual([]);
  });

  const refused: [string, string][] = [
    ['electron/contract/a.ts', `import type { A } from '../desktop/a';`],
    ['electron/desktop/a.ts', `export * from '../engine/a';`],
    ['electron/services/a.ts', `import { app } from 'electron';`],
    ['electron/desktop/a.ts', `const a = await import('../engine/native/load');`],
    ['renderer/features/chat/a.ts', `import { b } from '../models/b';`],
    ['renderer/ui/a.ts', `type A = import('../../electron/contract/chats').Chat;`],
    ['renderer/app/a.ts', `import fs from 'fs';`],
    ['renderer/app/a.ts', `new Worker(new URL('../bridge/worker.ts', import.meta.url));`],
    ['renderer/app/a.ts', `const bridge = require('../bridge/a');`],
    ['renderer/state/a.ts', `import lodash from 'lodash/get';`],
    ['renderer/state/a.ts', `import { outside } from '../../../outside';`],
  ];
  test.each(refused)('%s: refuses %s', (file, source) => {
    expect(checkFile(file, source)).toEqual([expect.stringMatching(/^\S+:1: imports \S+; \S+ may import /)]);
  });

  test('names the line and what is allowed, and a folder that the table does not know', () => {
    expect(checkFile('renderer/bridge/a.ts', `\n\nimport '../state/chat';`)).toEqual([
      'renderer/bridge/a.ts:3: imports renderer/state/chat; renderer/bridge may import renderer/language, electron/contract, npm @lingui/core.',
    ]);
    expect(checkFile('renderer/misc/a.ts', '')).toEqual([expect.stringContaining('has no layer')]);
  });
});

describe('names with one owner', () => {
  test.each([
    ['electron/desktop/windows.ts', `import { ipcMain } from 'electron';`, 'electron/desktop/gate.ts'],
    ['renderer/state/a.ts', `window.concertina.call('app.info');`, 'renderer/bridge'],
    ['renderer/state/a.ts', `new WebSocket('ws://127.0.0.1');`, 'renderer/bridge'],
  ])('%s: %s', (file, source, owner) => {
    expect(checkFile(file, source)).toEqual([expect.stringContaining(`only ${owner} may touch`)]);
  });
});

interface Part {
  lines?: number;
  imports?: string[];
  types?: string[];
}

const tree = (parts: Record<string, Part>) =>
  new Map(
    Object.entries(parts).map(([file, { lines = 50, imports = [], types = [] }]) => [
      file,
      { lines, imports: [...imports, ...types], values: imports },
    ]),
  );

describe('figures', () => {
  test('count small files that one other file imports, but no entries', () => {
    const files = tree({
      'electron/main.ts': { imports: ['electron/a.ts', 'electron/b.ts'] },
      'electron/a.ts': { types: ['electron/b.ts', 'electron/long.ts'] },
      'electron/b.ts': {},
      'electron/long.ts': { lines: 120 },
      'electron/x/main.ts': { types: ['electron/x/y.ts', 'electron/x/y.ts'] },
      'electron/x/y.ts': {},
    });
    expect(figuresOf(files)).toMatchObject({ files: 6, longest: 120, smallWithOneImporter: 0.333 });
  });

  test('count what is in the fullest folder, a folder in it as one', () => {
    const files = tree({ 'a/b/1.ts': {}, 'a/b/2.ts': {}, 'a/b/c/3.ts': {}, 'a/b/c/4.ts': {}, 'a/d.ts': {} });
    expect(figuresOf(files).entriesOfFolder).toBe(3);
  });

  test('follow values, not types, and come out of a circle', () => {
    const files = tree({
      'a.ts': { imports: ['b.ts'] },
      'b.ts': { imports: ['c.ts'], types: ['d.ts'] },
      'c.ts': { imports: ['b.ts'] },
      'd.ts': { imports: ['e.ts'] },
      'e.ts': {},
    });
    expect(figuresOf(files)).toMatchObject({ longestChain: 3, filesInCircles: 2 });
  });

  test('find circles that types close', () => {
    const files = tree({ 'a.ts': { imports: ['b.ts'] }, 'b.ts': { types: ['a.ts'] }, 'c.ts': { imports: ['a.ts'] } });
    expect(figuresOf(files).filesInCircles).toBe(2);
  });

  test('let the shape of the state be long, to a limit', () => {
    const longestWith = (lines: number) =>
      figuresOf(tree({ 'renderer/state/appState.ts': { lines }, 'a.ts': { lines: 90 } })).longest;
    expect([650, 651].map(longestWith)).toEqual([90, 651]);
  });

  test('are refused above a limit', () => {
    const figures = figuresOf(tree({ 'a.ts': { lines: LIMITS.longest + 1 } }));
    expect(outOfBounds(figures)).toEqual([
      `longest is ${LIMITS.longest + 1}, and may be at most ${LIMITS.longest} (test/figures.mjs).`,
    ]);
    expect(outOfBounds({ ...figures, longest: LIMITS.longest })).toEqual([]);
    expect(outOfBounds({ ...figures, longest: 1, median: LEAST_MEDIAN - 1 })).toEqual([
      `median is ${LEAST_MEDIAN - 1}, and must be at least ${LEAST_MEDIAN} (test/figures.mjs).`,
    ]);
  });
});

describe('sides of the screen', () => {
  const found = (source: string, file = 'a.tsx') => physicalSides(file, source).map(({ text }) => text);

  test.each([
    ['<p className="pl-2 text-left sm:-mr-1" />', ['pl-2', 'text-left', 'sm:-mr-1']],
    [
      "<p className={cx('flex', wide ? 'rounded-tl-md' : 'border-l', `left-${n}`)} />",
      ['rounded-tl-md', 'border-l', 'left-'],
    ],
    ["const chipClass = 'ml-auto';", ['ml-auto']],
    ['<p style={{ left: 0, top: 0, paddingRight: 4 }} />', ['left', 'paddingRight']],
  ])('are found: %s', (source, texts) => expect(found(source)).toEqual(texts));

  test.each([
    '<p className="ps-2 text-start left-1/2 -translate-x-1/2" title="left-over" style={{ insetInlineStart: 0 }} />',
    'const side = place === "left-0"; const menu = { left: 0 };',
  ])('are not: %s', (source) => expect(found(source)).toEqual([]));

  test('in a style sheet', () => {
    const css = '.a {\n  margin-left: 1px;\n  text-align: start;\n  inset-inline-end: 0;\n  right: 0;\n}';
    expect(found(css, 'a.css')).toEqual(['margin-left: 1px;', 'right: 0;']);
  });
});

describe('texts', () => {
  const found = (source: string) => untranslated('a.tsx', source).map(({ text }) => text);

  test.each([
    ['<p>Load a model</p>', ['Load a model']],
    ['<p>{ready ? "ready" : "not yet"}</p>', ['ready', 'not yet']],
    ['<Button title="remove" className="rounded-md border" data-testid="remove" />', ['remove']],
    ['<Button label={`Remove ${name}`} tone="bad" />', ['Remove {}']],
    ['const labels = { light: "Light", key: "light" };', ['Light']],
    ['const words = (n) => `${n} tokens`;', ['{} tokens']],
    ['throw refused("The file is gone.");', ['The file is gone.']],
    ['<Trans>Read by <b title="by OCR">{reader}</b></Trans>', ['by OCR']],
    ['t`Read ${count === 1 ? "one page" : "all of them"}`', ['one page', 'all of them']],
  ])('finds what is outside of a macro: %s', (source, texts) => {
    expect(found(source)).toEqual(texts);
  });

  test.each([
    '<p><Trans>Load <b>a model</b></Trans></p>',
    '<Button title={t`Remove ${name}`} className={cx("flex items-center", wide && "grid gap")} />',
    'const labels = { light: msg`Light` }; const n = plural(count, { one: "# file", other: `# files of ${name}` });',
    'if (kind === "Some words") import("./a b"); type A = "Left" | "Right";',
    '<p>{count} / {most} MiB · GGUF</p>',
    'throw new Error("There is no #root.");',
  ])('leaves alone: %s', (source) => {
    expect(found(source)).toEqual([]);
  });

  test('the words of an error are found where no macro has them', () => {
    const words = (source: string) => untranslatedErrors('a.ts', source).map(({ text }) => text);
    expect(words("throw new ConcertinaError('busy', `${name} is busy.`, late ? 'Try again.' : msg`Wait.`);")).toEqual([
      '{} is busy.',
      'Try again.',
    ]);
    expect(words("throw new ConcertinaError('busy', 'It ' + what, hint); new Error('No word');")).toEqual(['It ']);
    expect(words("throw new ConcertinaError('busy', msg`${{ name }} is busy.`, '', { cause: error });")).toEqual([]);
  });

  const one = (message: string, translation: string, name = 'a.po') => ({
    name,
    messages: { [message]: { message, translation } },
  });

  test('a translation keeps the placeholders, in any order', () => {
    expect(wrongTranslations([one('{n} of <0>{all}</0>', '<0>{all}</0>: {n}')])).toEqual([]);
    expect(
      wrongTranslations([one('{n, plural, one {# {of}} other {#s {of}}}', '{n, plural, other {# {of}}}')]),
    ).toEqual([]);
    expect(wrongTranslations([one('{n} files', 'Dateien')])).toEqual([expect.stringContaining('has no placeholder')]);
    expect(wrongTranslations([one('<0>{n}</0> files', '{n} Dateien')])).toEqual([expect.stringContaining('<0>')]);
    expect(wrongTranslations([one('{n} files', '{n Dateien')])).toEqual([expect.stringContaining('cannot be read')]);
  });

  test('a text has one translation in all catalogs', () => {
    expect(wrongTranslations([one('Open', 'Öffnen'), one('Open', 'Öffnen', 'b.po')])).toEqual([]);
    expect(wrongTranslations([one('Open', 'Öffnen'), one('Open', 'Offen', 'b.po')])).toEqual([
      expect.stringMatching(/"Öffnen" in a\.po and "Offen" in b\.po/),
    ]);
  });
});
