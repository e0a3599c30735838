/** What the engine says of the header of a foreign file: texts as they may be shown, and what llama.cpp would assert. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { shownCases } from '../../fixtures/shownText';
import { readGguf, type Value, writeChanged, writeGguf } from '../gguf';
import { engine, refusal, root, temporaryFolder, tinyModel } from '../support';

/** A file with one tensor and these keys. */
function header(metadata: Record<string, Value>, name = 'model.gguf'): string {
  const file = path.join(temporaryFolder(), name);
  writeGguf(file, { 'general.architecture': 'llama', ...metadata }, [{ name: 'a', shape: [32] }]);
  return file;
}

function text(bytes: Buffer): Buffer {
  const start = Buffer.alloc(12);
  start.writeUInt32LE(8);
  start.writeBigUInt64LE(BigInt(bytes.length), 4);
  return Buffer.concat([start, bytes]);
}

// test/unit/electron/services/hub/ggufHeader.test.ts holds the app to the same cases
it.each(shownCases)('of the texts of a file: $why', async ({ bytes, shown }) => {
  const info = await engine().inspect(header({ 'general.name': text(bytes), 'general.license': text(bytes) }));
  expect(info.name).toBe(shown || 'model');
  expect(info.license).toBe(shown || null);
});

it('a name of a file is cleaned too, where it stands for the name of the model', async () => {
  const name = `a\u202eb${'c'.repeat(230)}.gguf`;
  expect((await engine().inspect(header({}, name))).name).toBe(`ab${'c'.repeat(198)}`);
});

it('what llama.cpp quotes of a file is short in the message', async () => {
  const file = path.join(temporaryFolder(), 'model.gguf');
  writeChanged(readGguf(tinyModel), file, { 'tokenizer.ggml.pre': `\u001b[31m${'x'.repeat(400_000)}` });
  const { message } = (await refusal(engine().loadModel(file, { gpuLayers: 0 }))) as Error;
  expect(message).toContain('unknown pre-tokenizer type');
  expect(message.replace(file, '').length).toBeLessThan(700);
  expect(message).not.toContain('\u001b');
});

it.runIf(process.platform === 'linux')(
  'two billion parts cost no memory, and a thousand are looked for one by one',
  async () => {
    const peak = () => Number(/^VmHWM:\s+(\d+) kB$/m.exec(fs.readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
    const before = peak();
    const split = (count: number) => ({ 'split.count': count, 'split.no': 0 });
    const many = await refusal(engine().inspect(header(split(2147483647), 'm-00001-of-2147483647.gguf')));
    expect(many).toMatchObject({ code: 'model-invalid', message: expect.stringContaining('one of 2147483647 parts') });
    const alone = await refusal(engine().inspect(header(split(1000), 'm-00001-of-01000.gguf')));
    expect(alone).toMatchObject({ code: 'model-missing', message: expect.stringContaining('m-00002-of-01000.gguf') });
    expect(peak() - before).toBeLessThan(64 * 2 ** 20);
  },
);

it('of the architectures that are said to rotate whole heads, llama.cpp asserts it', () => {
  const source = fs.readFileSync(path.join(root, 'native', 'addon', 'model', 'Inspect.cpp'), 'utf8');
  const list = /wholeHeads = \{([^}]*)\}/.exec(source)?.[1] ?? '';
  const architectures = [...list.matchAll(/"([^"]+)"/g)].map(([, name]) => name);
  expect(architectures).toContain('qwen3');
  for (const name of architectures) {
    const file = path.join(root, 'build', 'upstream', 'llama.cpp', 'src', 'models', `${name}.cpp`);
    const graph = fs.readFileSync(file, 'utf8');
    expect(graph, name).toMatch(/^ *GGML_ASSERT\(n_embd_head == n_rot\);/m);
    expect(graph, name).toMatch(/^ *GGML_ASSERT\(n_embd_head == hparams\.n_embd_head_k\(\)\);/m);
  }
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
