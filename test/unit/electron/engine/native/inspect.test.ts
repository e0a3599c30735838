/**
 * What is said of the header of a foreign file: texts as they may be shown, what llama.cpp would assert, and what is made to
 * cost time or memory. test/engine/models holds llama.cpp's own loader to the same files.
 */
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GgufHeader } from '@/electron/contract/lib/gguf';
import { type ModelInfo, modelInfoSchema } from '@/electron/contract/models';
import { type Build, inspectModel } from '@/electron/engine/native/inspect';
import { type TensorSpec, type Value, writeGguf } from '@/test/engine/gguf';
import { shownCases } from '@/test/fixtures/shownText';
import { temporaryFolder } from '@/test/fixtures/temporary';

/** As the addon has it, in short: f32, f16, q4_0, and one that was removed. */
const build: Build = {
  modelLimits: {
    types: [
      { name: 'f32', blockSize: 1, blockBytes: 4 },
      { name: 'f16', blockSize: 1, blockBytes: 2 },
      { name: 'q4_0', blockSize: 32, blockBytes: 18 },
      { name: 'old', blockSize: 0, blockBytes: 0 },
    ],
    maxLayers: 512,
    maxExperts: 1024,
  },
  fileTypeName: (fileType) => `type ${fileType}`,
};

const one: TensorSpec[] = [{ name: 'a', shape: [32] }];

async function written(metadata: Record<string, Value>, tensors = one, name = 'model.gguf'): Promise<string> {
  const file = join(await temporaryFolder(), name);
  writeGguf(file, { 'general.architecture': 'llama', ...metadata }, tensors);
  return file;
}

async function infoOf(metadata: Record<string, Value>, tensors = one, name?: string): Promise<ModelInfo> {
  const { info } = await inspectModel(build, await written(metadata, tensors, name));
  return modelInfoSchema.parse(info);
}

/** Type and value as they are in a file. */
function typed(type: number, ...value: Buffer[]): Buffer {
  return Buffer.concat([uint32(type), ...value]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint64(value: number | bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

const text = (bytes: Buffer) => typed(8, uint64(bytes.length), bytes);

// test/unit/electron/services/hub/ggufHeader.test.ts holds the hub to the same cases
test.each(shownCases)('of the texts of a file: $why', async ({ bytes, shown }) => {
  const info = await infoOf({ 'general.name': text(bytes), 'general.license': text(bytes) });
  expect(info.name).toBe(shown || 'model');
  expect(info.license).toBe(shown || null);
});

test('a name of a file is cleaned too, where it stands for the name of the model', async () => {
  const info = await infoOf({}, one, `a\u202eb${'c'.repeat(230)}.gguf`);
  expect(info.name).toBe(`ab${'c'.repeat(198)}`);
});

test('numbers of every width, of lists the largest, and what is left out', async () => {
  const info = await infoOf(
    {
      'general.file_type': 15,
      'llama.block_count': { uint16: 3 },
      'llama.embedding_length': typed(10, uint64(512)),
      'llama.attention.head_count': [4, 8, 0],
      'llama.context_length': typed(10, uint64(2n ** 63n)),
      'llama.vocab_size': 7,
      'general.sampling.temp': { float32: 0.6 },
      'general.sampling.top_k': { int32: 20 },
      'general.sampling.top_p': { float32: Number.NaN },
    },
    [
      { name: 'blk.0.attn_qkv.bias', shape: [32] },
      { name: 'b', shape: [32, 4], type: 2 },
    ],
  );
  expect(info).toMatchObject({
    ...{ architecture: 'llama', parameters: 160, quantization: 'type 15', layers: 3, headCount: 8, headCountKv: 8 },
    ...{ headDimK: 64, headDimV: 64, nCtxTrain: Number.MAX_SAFE_INTEGER, vocabSize: 7, hasKBias: true },
    sampling: { temperature: 0.6, topK: 20, topP: null, minP: null },
  });
  const plain = await infoOf({ 'tokenizer.ggml.tokens': ['a', '', ''], 'tokenizer.chat_template': 'x' });
  expect(plain).toMatchObject({ quantization: 'type 1024', vocabSize: 3, hasChatTemplate: true, hasKBias: false });
});

const own = (changes: Record<string, Value>) =>
  Object.fromEntries(Object.entries(changes).map(([key, value]) => [`llama.${key}`, value]));

const qwen = (changes: Record<string, Value>): Record<string, Value> => ({
  'general.architecture': 'qwen3',
  'qwen3.embedding_length': 256,
  'qwen3.attention.head_count': 4,
  ...Object.fromEntries(Object.entries(changes).map(([key, value]) => [`qwen3.${key}`, value])),
});

test.each<[string, Record<string, Value>, string]>([
  ['no layer', own({ block_count: 0 }), 'its header names 0 layers'],
  ['one too many', own({ block_count: 513 }), 'names 513 layers'],
  ['less than none', own({ block_count: { int32: 2 ** 32 - 1 } }), 'names 4294967295 layers'],
  ['of 64 bits', own({ block_count: typed(10, uint64(2 ** 40)) }), 'names 1099511627776 layers'],
  ['drafting layers', own({ block_count: 2, nextn_predict_layers: 3 }), '2 layers, but 3 of one kind (nextn'],
  ['kinds of layers', own({ block_count: 2, 'convnext.block_count': 3 }), '3 of one kind (convnext.block_count)'],
  ['experts', own({ expert_count: 1025, expert_used_count: 2 }), 'names 1025 experts'],
  ['experts of none', own({ expert_used_count: 3 }), '3 of 0 experts are used'],
  ['experts by layer', own({ expert_count: 8, expert_used_count: [2, 9] }), '9 of 8 experts'],
  ['groups', own({ expert_count: 8, expert_used_count: 2, expert_group_count: 3 }), '8 experts into 3 groups'],
  ['groups of none', own({ expert_group_count: 2 }), '0 experts into 2 groups, of which 0 are used'],
  ['an unknown scaling', own({ 'rope.scaling.type': 'spiral' }), 'unknown position scaling (spiral)'],
  ['a scaling without a name', own({ 'rope.scaling.type': '' }), 'unknown position scaling ()'],
  ['rotated halves', qwen({ 'rope.dimension_count': 32 }), '64 key, 64 value and 32 rotary dimensions'],
  ['two kinds of heads', qwen({ 'attention.value_length': 32 }), '64 key, 32 value and 64 rotary dimensions'],
  ['a norm of nothing', own({ 'attention.layer_norm_epsilon': { float32: Number.NaN } }), 'attention.layer_norm_eps'],
  ['a negative norm', own({ 'attention.group_norm_epsilon': { float32: -1 } }), 'no usable number for attention.group'],
  ['a vocabulary of pairs', { 'tokenizer.ggml.model': 't5', 'tokenizer.ggml.merges': ['a b'] }, 'and it says "t5"'],
  ['a token twice', { 'tokenizer.ggml.tokens': ['ä', 'b', 'ä'] }, 'a token twice (ä)'],
  ['up to a zero', { 'tokenizer.ggml.tokens': ['a\0b', 'a\0c'] }, 'a token twice (a)'],
  ['more parts than can be', { 'split.count': 2147483647 }, 'one of 2147483647 parts'],
])('refused: %s', async (_, metadata, said) => {
  const file = await written(metadata);
  await expect(inspectModel(build, file)).rejects.toMatchObject({
    code: 'model-invalid',
    message: expect.stringMatching(new RegExp(`^${file} is damaged: `)),
    hint: expect.stringMatching(/\w/),
  });
  await expect(inspectModel(build, file)).rejects.toThrow(said);
});

test.each<[string, Record<string, Value>]>([
  [
    'experts of an architecture that has none',
    { 'general.architecture': 'hunyuan-dense', 'hunyuan-dense.expert_count': 1 },
  ],
  ['halves of heads where llama.cpp takes them', own({ 'attention.head_count': 4, 'rope.dimension_count': 8 })],
  [
    'a vocabulary of pairs with scores',
    {
      'tokenizer.ggml.model': 'llama',
      'tokenizer.ggml.merges': ['a b'],
      'tokenizer.ggml.scores': [1],
    },
  ],
  ['every scaling', own({ 'rope.scaling.type': 'longrope' })],
])('accepted: %s', async (_, metadata) => {
  expect((await infoOf(metadata)).parameters).toBe(32);
});

test.each<[string, TensorSpec, string, string]>([
  ['a removed type', { name: 'a', shape: [32], type: 3 }, 'model-unsupported', 'old quantization'],
  ['an unknown type', { name: 'a', shape: [32], type: 99 }, 'model-invalid', 'tensor a has type 99'],
  ['half a block', { name: 'a', shape: [48], type: 2 }, 'model-invalid', 'no whole blocks of q4_0'],
  ['more than any disk', { name: 'a', shape: [2 ** 30, 2 ** 30] }, 'model-invalid', 'a size that cannot be'],
  ['a name too long', { name: 'n'.repeat(64), shape: [32] }, 'model-invalid', 'a length that cannot be'],
  ['a name with a zero', { name: 'a\0b', shape: [32] }, 'model-invalid', 'a character that cannot be'],
  ['five dimensions', { name: 'a', shape: [2, 2, 2, 2, 2] }, 'model-invalid', 'too many dimensions'],
])('a tensor of %s is refused', async (_, tensor, code, said) => {
  const file = await written({});
  writeGguf(file, { 'general.architecture': 'llama' }, [tensor], 4096);
  await expect(inspectModel(build, file)).rejects.toMatchObject({ code, message: expect.stringContaining(said) });
});

test('tensors follow one another, and each has a name of its own', async () => {
  const file = await written({}, [...one, { name: 'b', shape: [3] }, { name: 'c', shape: [32] }]);
  expect((await inspectModel(build, file)).info.parameters).toBe(67);
  const bytes = readFileSync(file);
  bytes.writeUInt8(64, bytes.indexOf(uint64(128)));
  writeFileSync(file, bytes);
  await expect(inspectModel(build, file)).rejects.toThrow('tensor b is not where the one before it ends');
  await expect(inspectModel(build, await written({}, [...one, ...one]))).rejects.toThrow('the same name');
});

test('a file that was cut says how much is missing', async () => {
  const file = await written({});
  const { size } = statSync(file);
  truncateSync(file, size - 5);
  await expect(inspectModel(build, file)).rejects.toThrow(`${file} is truncated: 5 of its ${size} bytes are missing`);
  truncateSync(file, 60);
  await expect(inspectModel(build, file)).rejects.toThrow('is damaged or truncated: it ends within its header');
  truncateSync(file, 3);
  await expect(inspectModel(build, file)).rejects.toThrow('is not a GGUF file');
});

test('all parts of a model are looked at, and the first that is missing is named', async () => {
  const folder = await temporaryFolder();
  const part = (number: number) => join(folder, `m-0000${number}-of-00003.gguf`);
  const split = (index: number) => ({ 'split.count': { uint16: 3 }, 'split.no': { uint16: index } });
  writeGguf(part(1), { 'general.architecture': 'llama', ...split(0) }, one);
  await expect(inspectModel(build, part(1))).rejects.toMatchObject({ code: 'model-missing' });
  await expect(inspectModel(build, part(1))).rejects.toThrow(part(2));
  writeGguf(part(2), split(1), [{ name: 'blk.0.attn_k.bias', shape: [32] }]);
  writeGguf(part(3), split(2), [{ name: 'c', shape: [8] }]);
  const { info, files } = await inspectModel(build, part(1));
  expect(info).toMatchObject({ parameters: 72, hasKBias: true });
  expect(info.fileBytes).toBe([1, 2, 3].reduce((sum, number) => sum + statSync(part(number)).size, 0));
  expect(files).toEqual([part(1), part(2), part(3)]);
  truncateSync(part(3), statSync(part(3)).size - 1);
  await expect(inspectModel(build, part(1))).rejects.toThrow(`${part(3)} is truncated: 1 of`);
  const other = await written(split(0));
  await expect(inspectModel(build, other)).rejects.toThrow('is not named like one');
});

test('a header of megabytes is read whole', async () => {
  const tokens = Array.from({ length: 150_000 }, (_, index) => `token number ${index}`);
  expect((await infoOf({ 'tokenizer.ggml.tokens': tokens })).vocabSize).toBe(150_000);
  await expect(infoOf({ 'tokenizer.ggml.tokens': [...tokens, tokens[7] ?? ''] })).rejects.toThrow('token number 7');
  const controller = new AbortController();
  const stopped = inspectModel(build, await written({ 'tokenizer.ggml.tokens': tokens }), controller.signal);
  controller.abort();
  await expect(stopped).rejects.toMatchObject({ code: 'cancelled' });
});

const start = (version: number, tensors: number | bigint, values: number | bigint, ...rest: Buffer[]) =>
  Buffer.concat([Buffer.from('GGUF'), uint32(version), uint64(tensors), uint64(values), ...rest]);
const named = (name: string, value: Buffer) => Buffer.concat([text(Buffer.from(name)).subarray(4), value]);
const list = (type: number, count: number | bigint, ...items: Buffer[]) =>
  typed(9, uint32(type), uint64(count), ...items);

test.each<[string, Buffer, string]>([
  ['an old version', start(1, 0, 0), 'its version is 1'],
  ['a version to come', start(4, 0, 0), 'its version is 4'],
  ['the other order of bytes', start(0x03000000, 0, 0), 'made for other processors'],
  ['2^60 tensors', start(3, 2n ** 60n, 0), 'a length that cannot be'],
  ['2^60 values', start(3, 0, 2n ** 60n), 'a length that cannot be'],
  ['a text of 2^60 bytes', start(3, 0, 1, named('a', typed(8, uint64(2n ** 60n)))), 'a length that cannot be'],
  ['lists in lists', start(3, 0, 1, named('a', list(9, 1, list(4, 1)))), 'lists in lists'],
  ['a list of 2^60', start(3, 0, 1, named('a', list(8, 2n ** 60n))), 'a length that cannot be'],
  ['an unknown type', start(3, 0, 1, named('a', typed(13))), 'a value of type 13'],
  ['no name', start(3, 0, 1, named('', typed(7, Buffer.alloc(1)))), 'has no name'],
  ['a name twice', start(3, 0, 2, named('a', typed(4, uint32(1))), named('a', typed(4, uint32(1)))), 'the same name'],
  ['a name with a zero', start(3, 0, 1, named('a\0b', typed(4, uint32(1)))), 'a character that cannot be'],
  ['no alignment', start(3, 0, 1, named('general.alignment', typed(4, uint32(0)))), 'aligned to 0 bytes'],
  ['an odd alignment', start(3, 0, 1, named('general.alignment', typed(4, uint32(48)))), 'aligned to 48 bytes'],
  ['an alignment of another type', start(3, 0, 1, named('general.alignment', typed(10, uint64(32)))), 'power of 2'],
])('a header of %s is refused', async (_, bytes, said) => {
  expect(() => new GgufHeader(bytes)).toThrow(said);
  const file = join(await temporaryFolder(), 'model.gguf');
  writeFileSync(file, bytes);
  await expect(inspectModel(build, file)).rejects.toThrow(`${file} is damaged or truncated: `);
});

test('what a header claims costs nothing: more is waited for only while it can come', () => {
  const before = process.memoryUsage();
  const claims = [
    start(3, 0, 1, named('a', list(8, 2n ** 50n))),
    start(3, 0, 1, named('a', list(10, 2n ** 49n))),
    start(3, 0, 1, named('a', typed(8, uint64(2n ** 50n)))),
    start(3, 65_536, 65_536),
  ];
  for (const bytes of claims) expect(new GgufHeader(bytes).dataStart).toBeNull();
  const { heapTotal, external } = process.memoryUsage();
  expect(heapTotal + external - before.heapTotal - before.external).toBeLessThan(2 ** 25);
});
