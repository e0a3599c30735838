/** The line of a command: what it names, and what makes no sense. */
import { relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parseCommand, targetOf } from '@/electron/server/commandLine';
import { smallModel } from '../../../models.mjs';

test('a model of the hub, or a file of this disk', () => {
  const hub = { kind: 'hub', repo: 'owner/Name-GGUF', quant: null, file: null };
  expect(targetOf('owner/Name-GGUF')).toEqual(hub);
  expect(targetOf('owner/Name-GGUF:q4_k_m')).toEqual({ ...hub, quant: 'Q4_K_M' });
  expect(targetOf('owner/Name-GGUF/BF16/m-00001-of-00002.gguf')).toEqual({
    ...hub,
    file: 'BF16/m-00001-of-00002.gguf',
  });
  for (const path of ['m.gguf', './a/b/m.gguf', '/models/m.gguf', 'C:\\models\\m.gguf']) {
    expect(targetOf(path), path).toEqual({ kind: 'path', path: resolve(path) });
  }
  // it is there, so it is meant
  const there = relative('.', smallModel);
  expect(targetOf(there)).toEqual({ kind: 'path', path: smallModel });
});

test('options, and sentences for lines that make no sense', () => {
  const command = parseCommand([
    'estimate',
    'a/b:Q8_0',
    '--context',
    '4096',
    '--type-v',
    'turbo3',
    '--json',
    '--data',
    'd',
  ]);
  expect(command).toMatchObject({ name: 'estimate', words: ['a/b:Q8_0'], json: true, dataFolder: resolve('d') });
  expect(command.context).toMatchObject({ nCtx: 4096, typeK: 'turbo4', typeV: 'turbo3' });
  expect(parseCommand(['search', 'two', 'words']).words).toEqual(['two', 'words']);
  const wrong: [string[], string][] = [
    [['pull'], 'name a model'],
    [['pull', 'a/b', 'c/d'], 'one model at a time'],
    [['search', 'x', '--sort', 'size'], '--sort size'],
    [['estimate', 'a/b', '--context', '3'], '--context'],
    [['list', '--what'], '--what'],
  ];
  for (const [args, message] of wrong) expect(() => parseCommand(args), args.join(' ')).toThrow(message);
});
