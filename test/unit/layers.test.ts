/** The layering check must fail where the tree's rules are broken, and say what is allowed. */
import { describe, expect, test } from 'vitest';
import { checkFile } from '../layers.mjs';

describe('imports', () => {
  const allowed: [string, string][] = [
    [
      'electron/desktop/windows.ts',
      `import { app } from 'electron'; import path from 'node:path'; import '../contract/limits';`,
    ],
    ['renderer/features/chat/Chat.tsx', `import { useChat } from '../../state/chat'; import './parts/Bubble';`],
    ['renderer/state/chat.ts', `import { create } from 'zustand/vanilla';`],
    ['electron/engine/entry.ts', `import { load } from './native/load';`],
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

  test('names the line and what is allowed', () => {
    expect(checkFile('renderer/bridge/a.ts', `\n\nimport '../state/chat';`)).toEqual([
      'renderer/bridge/a.ts:3: imports renderer/state/chat; renderer/bridge may import electron/contract.',
    ]);
  });

  test('a folder that the table does not know', () => {
    expect(checkFile('renderer/misc/a.ts', '')).toEqual([expect.stringContaining('has no layer')]);
  });

  test('text that only looks like an import', () => {
    expect(checkFile('renderer/ui/a.ts', `// import '../state/chat'\nconst text = "import '../state/chat'";`)).toEqual(
      [],
    );
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

  test('the owners themselves', () => {
    expect(checkFile('electron/desktop/gate.ts', `import { ipcMain } from 'electron';`)).toEqual([]);
    expect(checkFile('renderer/bridge/socket.ts', `new WebSocket('ws://127.0.0.1');`)).toEqual([]);
  });
});
