/** The lines of commands: what they name, and what makes no sense. */
import os from 'node:os';
import { join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ConcertinaError } from '@/electron/contract/errors';
import { defaultApiPort } from '@/electron/contract/lib/localApi';
import type { ModelEntry } from '@/electron/contract/models';
import { autoContext } from '@/electron/contract/settings';
import { parseChat, parseRun } from '@/electron/server/askCommands';
import {
  type CommandSpec,
  exitCodeOf,
  findCommand,
  helpFor,
  settingsOf,
  UsageError,
} from '@/electron/server/commandLine';
import { parseModelCommand } from '@/electron/server/commands';
import { parseCompareOptions } from '@/electron/server/compareCommand';
import { parseServeOptions } from '@/electron/server/options';
import { entryNamed, targetOf } from '@/electron/services/models/modelNames';
import { smallModel } from '../../../models.mjs';

test('a model of the hub, or a file of this disk', () => {
  const hub = { kind: 'hub', repo: 'owner/Name-GGUF', quant: null, file: null };
  expect(targetOf('owner/Name-GGUF')).toEqual(hub);
  expect(targetOf('owner/Name-GGUF:q4_k_m')).toEqual({ ...hub, quant: 'Q4_K_M' });
  const file = 'BF16/m-00001-of-00002.gguf';
  expect(targetOf(`owner/Name-GGUF/${file}`)).toEqual({ ...hub, file });
  for (const path of ['m.gguf', './a/b/m.gguf', '/models/m.gguf', 'C:\\models\\m.gguf']) {
    expect(targetOf(path), path).toEqual({ kind: 'path', path: resolve(path) });
  }
  // it is there, so it is meant
  expect(targetOf(relative('.', smallModel))).toEqual({ kind: 'path', path: smallModel });
});

test('a model of the list: id, file name, its beginning, or as it was pulled', () => {
  const of = (id: string, fileName: string, location: string) => ({ id, fileName, location }) as ModelEntry;
  const entries = [
    of('a1', 'Tiny-Q4_K_M.gguf', '~/.concertina/models/owner/Tiny-GGUF'),
    of('b2', 'Tiny-Q8_0.gguf', '~/.concertina/models/owner/Tiny-GGUF'),
    of('c3', 'other.gguf', '~/models'),
  ];
  const idOf = (word: string) => entryNamed(entries, word).id;
  expect(
    ['b2', 'tiny-q8_0.gguf', 'Tiny-Q8_0', 'owner/Tiny-GGUF:q8_0', 'owner/Tiny-GGUF/Tiny-Q8_0.gguf'].map(idOf),
  ).toEqual(Array(5).fill('b2'));
  expect(idOf('oth')).toBe('c3');
  expect(() => idOf('Tiny')).toThrow(expect.objectContaining({ hint: expect.stringMatching(/a1.*b2/) }));
  expect(() => idOf('owner/Tiny-GGUF')).toThrow('2 models');
  for (const word of ['none', 'owner/Tiny-GGUF:Q2_K', 'wner/Tiny-GGUF:Q8_0']) {
    expect(() => idOf(word), word).toThrow(expect.objectContaining({ code: 'not-found' }));
  }
});

test('options of the model commands, and sentences for lines that make no sense', () => {
  const command = parseModelCommand('estimate', 'a/b:Q8_0 --context 4096 --type-v turbo3 --json --data d'.split(' '));
  expect(command).toMatchObject({ name: 'estimate', words: ['a/b:Q8_0'], json: true, dataFolder: resolve('d') });
  expect(command.context).toMatchObject({ nCtx: 4096, typeK: 'turbo4', typeV: 'turbo3' });
  expect(parseModelCommand('estimate', ['m.gguf']).context.nCtx).toBe(autoContext);
  expect(parseModelCommand('estimate', ['m.gguf', '--context', 'auto']).context.nCtx).toBe(autoContext);
  expect(parseModelCommand('estimate', ['m.gguf', '--cache', 'auto:2GiB']).context).toMatchObject({
    ...{ typeK: 'auto:2GiB', typeV: 'auto:2GiB' },
  });
  const adapters = ['tuned:0.5', 'C:\\my models\\tuned.gguf', relative('.', smallModel)].flatMap((one) => [
    '--lora',
    one,
  ]);
  expect(parseModelCommand('estimate', ['m.gguf', ...adapters]).context.adapters).toEqual([
    { model: 'tuned', scale: 0.5 },
    { model: 'C:\\my models\\tuned.gguf', scale: 1 },
    { model: smallModel, scale: 1 },
  ]);
  expect(parseModelCommand('models search', ['two', 'words']).words).toEqual(['two', 'words']);
  for (const [name, line, message] of [
    ['models pull', '', 'name a model'],
    ['models pull', 'a/b c/d', 'one model at a time'],
    ['models search', 'x --sort size', '--sort size'],
    ['estimate', 'a/b --context 3', '--context: '],
    ['estimate', 'a/b --context many', '--context: '],
    ['estimate', 'a/b --type-k q9', '--type-k: '],
    ['estimate', 'a/b --cache auto:99', '--cache: '],
    ['estimate', 'a/b --lora tuned:3', '--lora: '],
    ['estimate', 'a/b --cache auto:4 --type-v f16', 'leave out --type-k and --type-v'],
    ['models list', '--what', '--what'],
    ['models list', 'x', 'and not x'],
  ] as const) {
    const parse = () => parseModelCommand(name, line.split(' ').filter(Boolean));
    expect(parse, line).toThrow(UsageError);
    expect(parse, line).toThrow(message);
  }
});

test('run and chat: options count for the settings of this answer alone', () => {
  const line = [
    'Why?',
    '--doc',
    'a.pdf',
    '--doc',
    'b.md',
    '--context',
    '4096',
    '--type-k',
    'f16',
    '--temperature',
    '0',
  ];
  const order = parseRun([...line, '--max-tokens', '9', '--system', 'Be brief.', '--json']);
  expect(order).toMatchObject({ prompt: 'Why?', documents: ['a.pdf', 'b.md'], model: null, json: true });
  expect(order.settings).toEqual({
    systemPrompt: 'Be brief.',
    context: { nCtx: 4096, typeK: 'f16' },
    sampling: { temperature: 0, maxTokens: 9 },
  });
  expect(parseRun(['Why?', '--no-thinking']).settings).toMatchObject({ template: { thinking: false } });
  expect(parseRun([]).prompt).toBeNull();
  expect(parseRun(['-']).prompt).toBeNull();
  expect(parseRun(['--', '--help?']).prompt).toBe('--help?');
  expect(parseChat(['--model', 'm']).model).toBe('m');
  expect(() => parseRun(['two', 'words'])).toThrow('quotation marks');
  expect(() => parseRun([' '])).toThrow('empty');
  expect(() => parseRun(['x', '--temperature', 'hot'])).toThrow('--temperature: ');
  expect(() => parseRun(['x', '--context', ''])).toThrow('--context: ');
  expect(() => parseRun(['x', '--modle', 'm'])).toThrow('Did you mean --model?');
  expect(() => parseChat(['Hello'])).toThrow(UsageError);
});

const specOf = (name: string): CommandSpec => ({
  ...{ name, takes: '', about: '', details: '' },
  options: {},
  examples: [],
});
const some = ['run', 'serve', 'models search', 'models list'].map(specOf);

test('a line finds its command, also one of two words; an unknown one names the nearest', () => {
  expect(findCommand(some, ['run', 'Hello', '--json'])).toEqual({ command: some[0], rest: ['Hello', '--json'] });
  expect(findCommand(some, ['models', 'list', 'x'])).toEqual({ command: some[3], rest: ['x'] });
  expect(findCommand(some, ['run'])).toEqual({ command: some[0], rest: [] });
  for (const [line, hint] of [
    ['rnu', 'concertina run?'],
    ['serach', 'concertina models search?'],
    ['list', 'concertina models list?'],
    ['models lst', 'concertina models list?'],
  ]) {
    expect(() => findCommand(some, line?.split(' ') ?? []), line).toThrow(`Did you mean ${hint}`);
  }
  expect(() => findCommand(some, ['launch'])).toThrow(/^There is no command launch\.$/);
});

test('help is asked for in several ways, and never by what follows --', () => {
  for (const line of ['', '--help', 'help', '-h']) {
    expect(helpFor(some, line.split(' ').filter(Boolean)), line).toContain('models search');
  }
  expect(helpFor(some, ['models'])).not.toContain('serve');
  for (const line of ['help run', 'run --help', 'run Hello -h']) {
    expect(helpFor(some, line.split(' ')), line).toContain('Usage: concertina run');
  }
  expect(helpFor(some, ['models', 'list', '--help'])).toContain('Usage: concertina models list');
  expect(helpFor(some, ['run', '--', '--help'])).toBeNull();
  expect(helpFor(some, ['models', 'list'])).toBeNull();
});

test('the exit code says whether it failed, did not fit or was canceled', () => {
  const codes = (['not-found', 'out-of-memory', 'context-full', 'cancelled'] as const).map((code) =>
    exitCodeOf(new ConcertinaError(code, '')),
  );
  expect(codes).toEqual([1, 3, 3, 130]);
});

test('without arguments it serves this machine from the home folder', () => {
  expect(parseServeOptions([])).toEqual({
    hosts: ['127.0.0.1'],
    oneModel: false,
    port: defaultApiPort,
    portAsked: false,
    dataFolder: join(os.homedir(), '.concertina'),
    model: null,
    settings: settingsOf({}),
    key: 'kept',
    cors: [],
    idleMs: null,
    slots: 4,
    coreOptions: [],
  });
});

test('what is said of the API is read from the line', () => {
  const line = '--host 0.0.0.0 --key secret-key --cors http://localhost:3000,localhost --idle-unload 30 --slots 2';
  expect(parseServeOptions(`${line} --context 4096 -- --context-shift --alias -m`.split(' '))).toMatchObject({
    ...{ hosts: ['0.0.0.0'], key: { given: 'secret-key' }, cors: ['http://localhost:3000', 'localhost'] },
    ...{ idleMs: 1_800_000, slots: 2, settings: { context: { nCtx: 4096 } } },
    coreOptions: ['--context-shift', '--alias', '-m'],
  });
  expect(parseServeOptions(['--no-key']).key).toBeNull();
});

test.each([
  ...['0.0.0.0', '::', '192.168.1.5'].map((host) => [`--host ${host}`, 'Give the API a key']),
  ['--host 0.0.0.0 --no-key', 'Give the API a key'],
  ['--host example.com --key secret-key', 'an address of this machine'],
  ['--key secret-key --no-key', 'the opposite'],
  ['--key short', 'at least 8'],
  ...['example.com', 'http://a.b/path', 'null'].map((origin) => [`--cors ${origin}`, 'is no origin']),
  ...['--idle-unload 0', '--idle-unload soon', '--slots 65', '--slots 1.5'].map((line) => [line, 'a whole number']),
  ...['-h', '--version', '--list-devices', '--cache_list', '--completion-bash=x'].map((one) => [`-- ${one}`, 'prints']),
  ...['--port many', '--port 70000', '--color', 'file.gguf', '--estimate m'].map((line) => [line, '']),
])('%s is a usage error', (line = '', message = '') => {
  expect(() => parseServeOptions(line.split(' '))).toThrow(UsageError);
  expect(() => parseServeOptions(line.split(' '))).toThrow(message);
});

const nothing = () => {
  throw new Error('no such file');
};

type Order = ReturnType<typeof parseCompareOptions>;
const f16Row = { typeK: 'f16', typeV: 'f16', nCtx: 4096 };

function promptOrder(...[args, read]: Parameters<typeof parseCompareOptions>): Extract<Order, { kind: 'prompt' }> {
  const order = parseCompareOptions(args, read);
  if (order.kind !== 'prompt') throw new Error('It is a check.');
  return order;
}

test('a check has its depth, or that of the settings, and nothing else', () => {
  const order = (line: string) => parseCompareOptions(line.split(' '), nothing);
  expect(order('--guard --model m.gguf --context 16384')).toMatchObject({
    kind: 'check',
    model: 'm.gguf',
    depth: 16384,
  });
  expect(order('--guard')).toMatchObject({ kind: 'check', model: null, depth: undefined, dataFolder: null });
});

test('flags make the request that the window would', () => {
  const { request, prompt, model, out, dataFolder } = promptOrder(
    [
      ...['--types', 'f16,q8_0/turbo4', '--document', 'a.pdf', '--document', 'b.md', '--question', 'Who?'],
      ...['--context', '4096', '--rounds', '3', '--needles', '0.1,0.9', '--curve', '0,2048', '--no-quality'],
    ],
    nothing,
  );
  expect(request.configurations).toEqual([
    { typeK: 'f16', typeV: 'f16', nCtx: 4096 },
    { typeK: 'q8_0', typeV: 'turbo4', nCtx: 4096 },
  ]);
  expect(request.options).toMatchObject({ reference: 0, maxTokens: 256, rounds: 3, quality: null, together: false });
  expect(request.options).toMatchObject({ needle: { depths: [0.1, 0.9] }, curve: { depths: [0, 2048] } });
  expect(prompt).toEqual({ kind: 'documents', files: [resolve('a.pdf'), resolve('b.md')], question: 'Who?' });
  expect({ model, out, dataFolder }).toEqual({ model: null, out: resolve('.'), dataFolder: null });
});

test('a request file, and a run that was exported, are the same request', () => {
  const configurations = ['f16', 'turbo3'].map((type) => ({ typeK: type, typeV: type, nCtx: 2048 }));
  const request = { modelId: 'm', prompt: { kind: 'text', text: 'Hello' }, configurations, options: { rounds: 2 } };
  const parsed = (value: unknown) => promptOrder(['r.json', '--model', 'm.gguf'], () => JSON.stringify(value));
  const plain = parsed({ ...request, name: 'N' });
  expect(plain.request).toMatchObject({ name: 'N', configurations, options: { rounds: 2 } });
  expect(plain.prompt).toEqual({ kind: 'text', text: 'Hello', asIs: false });
  expect(plain.model).toBe('m.gguf');
  expect(parsed({ version: 1, name: 'N', request })).toEqual(plain);
  const files = { ...request, prompt: { kind: 'documents', files: ['a.txt'], question: 'Who?' } };
  expect(parsed(files).prompt).toEqual({ kind: 'documents', files: [resolve('a.txt')], question: 'Who?' });
  expect(() => parsed({ ...request, prompt: { kind: 'chat', chatId: 'c', leafId: null } })).toThrow(/is in the app/);
  expect(() => parsed({ ...request, prompt: { kind: 'check', depth: 2048 } })).toThrow(/again with --guard/);
  expect(() => parsed({ ...request, configurations: [] })).toThrow(/r\.json: configurations/);
});

test.each([
  [[], /--types is missing/],
  [['--types', 'f16,q4_0'], /Give --text FILE/],
  [['--types', 'f16', '--text', 'a'], /configurations/],
  [['--types', 'f16,big', '--text', 'a'], /big is none of f16/],
  [['--types', 'f16,turbo4', '--text', 'a', '--document', 'b'], /Give --text FILE/],
  [['--types', 'f16,turbo4', '--text', 'a', '--rounds', 'x'], /--rounds: x is not a number/],
  [['none.json'], /cannot be read: no such file/],
  [['--color'], /color/],
  [['--guard', '--types', 'f16,q4_0'], /--guard takes no --types/],
  [['--guard', 'r.json'], /--guard takes no request file/],
  [['--guard', '--context', '9'], /context/],
])('%j is a usage error', (args, message) => {
  expect(() => parseCompareOptions(args, nothing)).toThrow(UsageError);
  expect(() => parseCompareOptions(args, nothing)).toThrow(message);
});

test('each other model runs under all the types, after the first one; one type is enough then', () => {
  const line = ['--types', 'f16,turbo3', '--model', 'a.gguf', '--beside', 'b', '--beside', 'c.gguf', '--text', 'p.txt'];
  const { model, request } = promptOrder(line, nothing);
  expect(model).toBe('a.gguf');
  expect(request.configurations.map(({ typeK, modelId }) => [modelId, typeK])).toEqual([
    [undefined, 'f16'],
    [undefined, 'turbo3'],
    ['b', 'f16'],
    ['b', 'turbo3'],
    ['c.gguf', 'f16'],
    ['c.gguf', 'turbo3'],
  ]);
  expect(
    promptOrder(['--types', 'f16', '--beside', 'b', '--text', 'p.txt'], nothing).request.configurations,
  ).toHaveLength(2);
  const file = { configurations: [f16Row, { ...f16Row, modelId: './b.gguf' }], prompt: { kind: 'text', text: 'Why?' } };
  const { configurations } = promptOrder(['r.json'], () => JSON.stringify(file)).request;
  expect(configurations.map(({ modelId }) => modelId)).toEqual([undefined, './b.gguf']);
  expect(() => parseCompareOptions(['--types', 'f16', '--text', 'p.txt'], nothing)).toThrow(/configurations/);
  expect(() => parseCompareOptions(['--guard', '--beside', 'b'], nothing)).toThrow('--guard takes no --beside');
});

test('an estimate takes options of llama-server, as serve does', () => {
  const { words, api } = parseModelCommand('estimate', ['m.gguf', '--', '-md', 'small.gguf']);
  expect({ words, api }).toEqual({ words: ['m.gguf'], api: { slots: 4, options: ['-md', 'small.gguf'] } });
  expect(parseModelCommand('estimate', ['m.gguf']).api).toBeNull();
  expect(() => parseModelCommand('estimate', ['m.gguf', '--', '--help'])).toThrow('--help');
});

test('a line chooses the projector, or none', () => {
  const projector = (values: Parameters<typeof settingsOf>[0]) => settingsOf(values).context?.projector;
  expect([projector({}), projector({ 'no-mmproj': true })]).toEqual([undefined, '']);
  expect(projector({ mmproj: 'mmproj.gguf' })).toBe(resolve('mmproj.gguf'));
  expect(() => projector({ mmproj: 'mmproj.gguf', 'no-mmproj': true })).toThrow('exclude each other');
});

test('a line chooses what drafts: a way, or a model by its name or its file', () => {
  const context = (values: Parameters<typeof settingsOf>[0]) => settingsOf(values).context;
  expect(context({ drafting: 'text' })).toEqual({ speculation: 'ngram' });
  expect(context({ drafting: 'mtp' })).toEqual({ speculation: 'mtp' });
  expect(context({ 'draft-model': 'qwen' })).toEqual({ speculation: 'draft', draftModel: 'qwen' });
  expect(context({ 'draft-model': 'package.json' })).toEqual({
    speculation: 'draft',
    draftModel: resolve('package.json'),
  });
  expect(() => context({ drafting: 'off', 'draft-model': 'qwen' })).toThrow('two different ways');
  expect(() => context({ drafting: 'often' })).toThrow('--drafting');
});
