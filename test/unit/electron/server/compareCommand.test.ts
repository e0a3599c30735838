import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parseCompareOptions } from '@/electron/server/compareCommand';
import { UsageError } from '@/electron/server/options';

const nothing = () => {
  throw new Error('no such file');
};

test('flags make the request that the window would', () => {
  const { request, prompt, model, out, dataFolder } = parseCompareOptions(
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
  const parsed = (value: unknown) => parseCompareOptions(['r.json', '--model', 'm.gguf'], () => JSON.stringify(value));
  const plain = parsed({ ...request, name: 'N' });
  expect(plain.request).toMatchObject({ name: 'N', configurations, options: { rounds: 2 } });
  expect(plain.prompt).toEqual({ kind: 'text', text: 'Hello', asIs: false });
  expect(plain.model).toBe(resolve('m.gguf'));
  expect(parsed({ version: 1, name: 'N', request })).toEqual(plain);
  const files = { ...request, prompt: { kind: 'documents', files: ['a.txt'], question: 'Who?' } };
  expect(parsed(files).prompt).toEqual({ kind: 'documents', files: [resolve('a.txt')], question: 'Who?' });
  expect(() => parsed({ ...request, prompt: { kind: 'chat', chatId: 'c', leafId: null } })).toThrow(/is in the app/);
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
  [['--colour'], /colour/],
])('%j is a usage error', (args, message) => {
  expect(() => parseCompareOptions(args, nothing)).toThrow(UsageError);
  expect(() => parseCompareOptions(args, nothing)).toThrow(message);
});
