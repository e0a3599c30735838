/** What llama.cpp itself says of the header of a foreign file, and asserts; the rest is in test/unit/electron/engine/native/inspect.test.ts. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { wholeHeads } from '@/electron/engine/native/inspect';
import { readGguf, writeChanged } from '../gguf';
import { contextOptions, engine, raw, refusal, root, temporaryFolder, tinyModel } from '../support';

it('what llama.cpp quotes of a file is short in the message', async () => {
  const file = path.join(temporaryFolder(), 'model.gguf');
  writeChanged(readGguf(tinyModel), file, { 'tokenizer.ggml.pre': `\u001b[31m${'x'.repeat(400_000)}` });
  const { message } = (await refusal(engine().loadModel(file, { gpuLayers: 0 }))) as Error;
  expect(message).toContain('unknown pre-tokenizer type');
  expect(message.replace(file, '').length).toBeLessThan(700);
  expect(message).not.toContain('\u001b');
});

it('of the architectures that are said to rotate whole heads, llama.cpp asserts it', () => {
  for (const name of wholeHeads) {
    const file = path.join(root, 'build', 'upstream', 'llama.cpp', 'src', 'models', `${name}.cpp`);
    const graph = fs.readFileSync(file, 'utf8');
    expect(graph, name).toMatch(/^ *GGML_ASSERT\(n_embd_head == n_rot\);/m);
    expect(graph, name).toMatch(/^ *GGML_ASSERT\(n_embd_head == hparams\.n_embd_head_k\(\)\);/m);
  }
});

it('a file that was looked at for an estimate is looked at again when it has changed', async () => {
  const file = path.join(temporaryFolder(), 'model.gguf');
  const estimate = () => engine().estimate(file, { gpuLayers: 0 }, contextOptions());
  writeChanged(readGguf(tinyModel), file, {});
  const first = await estimate();
  expect(await estimate()).toEqual(first);
  writeChanged(readGguf(tinyModel), file, { 'qwen3.block_count': 513 });
  expect(await refusal(estimate())).toMatchObject({ message: expect.stringContaining('names 513 layers') });
});

it('the addon says what llama.cpp takes', () => {
  const { types, maxLayers, maxExperts } = raw.modelLimits;
  const header = fs.readFileSync(path.join(root, 'build', 'upstream', 'llama.cpp', 'src', 'llama-hparams.h'), 'utf8');
  expect(maxLayers).toBe(Number(/LLAMA_MAX_LAYERS +(\d+)/.exec(header)?.[1]));
  expect(maxExperts).toBe(Number(/LLAMA_MAX_EXPERTS +(\d+)/.exec(header)?.[1]));
  expect(types[2]).toEqual({ name: 'q4_0', blockSize: 32, blockBytes: 18 });
  // removed ones, and ours, which lie in such slots
  for (const type of [4, 31, 33]) expect(types[type]?.blockSize, `${type}`).toBe(0);
  expect(types.filter(({ name }) => name.startsWith('turbo')).map(({ blockSize }) => blockSize)).toEqual([
    0, 0, 0, 0, 0, 0, 0, 0,
  ]);
  expect([2, 15, 1024, 2 ** 31 - 1].map(raw.fileTypeName)).toEqual([
    'Q4_0',
    'Q4_K - Medium',
    '(guessed) all F32',
    '(guessed) unknown, may not work',
  ]);
});

it('a model without a vocabulary says so when it is to read a text', async () => {
  const file = path.join(temporaryFolder(), 'model.gguf');
  writeChanged(readGguf(tinyModel), file, { 'tokenizer.ggml.model': 'no_vocab' });
  const model = await engine().loadModel(file, { gpuLayers: 0 });
  expect(await refusal(model.countTexts(['Hello']))).toMatchObject({
    code: 'model-unsupported',
    message: expect.stringContaining('has no vocabulary'),
  });
  await model.dispose();
});
