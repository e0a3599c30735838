/** LoRA adapters, with the real engine: the text changes, all memory is in the estimate, and what does not fit is refused with the reason. */
import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ApiPart } from '@/electron/contract/engineContract';
import { contextSettingsSchema } from '@/electron/contract/settings';
import type { ContextOptions } from '@/electron/engine/native/types';
import { type AdapterChanges, writeAdapter } from '../adapter';
import {
  answer,
  contextOptions,
  engine,
  engineServer,
  greedy,
  loadTiny,
  noCalibration,
  question,
  refusal,
  temporaryFolder,
  tinyModel,
} from '../support';

const adapted = (scale: number, changes: AdapterChanges = {}) => ({
  adapters: [{ model: writeAdapter(temporaryFolder(), changes), scale }],
});

async function written(options: Partial<ContextOptions>) {
  const context = await (await loadTiny()).createContext(contextOptions(options));
  const { chunks } = await answer(context, question(), greedy({ candidates: 3, maxTokens: 12 }));
  return chunks.map(({ text, candidates }) => ({ text, candidates }));
}

it('changes the text; with the scale 0 every probability is that without it, and two halves are one whole', async () => {
  const plain = await written({});
  expect(await written(adapted(0))).toEqual(plain);
  const whole = await written(adapted(1));
  expect(whole).not.toEqual(plain);
  const half = { model: writeAdapter(temporaryFolder()), scale: 0.5 };
  const other = { model: writeAdapter(temporaryFolder()), scale: 0.5 };
  const halves = await written({ adapters: [half, other] });
  expect(halves.map(({ text }) => text)).toEqual(whole.map(({ text }) => text));
});

describe('memory', () => {
  const wide = { rank: 4096, adapted: ['blk.5.ffn_down.weight'] };
  it.each<[string, number, Partial<ContextOptions>, AdapterChanges?]>([
    ['a rank whose products take larger buffers', 1, {}, wide],
    ['scale 1', 1, {}],
    ['scale 0', 0, {}],
    ['other buffers, with slots and requests', 0.7, { flashAttention: 'off', slots: 2, api: true, batch: 128 }],
  ])('is counted as it is estimated: %s', async (_, scale, more, changes) => {
    const model = await loadTiny();
    const options = contextOptions({ ...adapted(scale, changes), ...more });
    const context = await model.createContext(options);
    const plain = await model.createContext({ ...options, adapters: [] });
    const { parts, devices } = context.memory();
    expect(await engine().estimate(tinyModel, { gpuLayers: 0 }, options)).toMatchObject(parts);
    if (changes === wide) expect(parts.compute).toBeGreaterThan(plain.memory().parts.compute);
    const [one] = context.effective.adapters;
    expect(one).toMatchObject({ file: 'tiny-lora.gguf', scale: expect.closeTo(scale), byOption: false });
    const bytes = one?.bytes ?? 0;
    expect(bytes).toBeGreaterThan(0);
    expect(parts.weights - plain.memory().parts.weights).toBe(bytes);
    const of = (uses: typeof devices) => uses.reduce((sum, { weights }) => sum + weights, 0);
    expect(of(devices) - of(plain.memory().devices)).toBe(bytes);
  });
});

describe('what does not fit is refused with the reason, by the estimate as by the load', () => {
  const wider = (part: RegExp): AdapterChanges => ({
    tensors: (all) =>
      all.map((one) => (part.test(one.name) ? { ...one, shape: one.shape.map((size) => size + 32) } : one)),
  });
  it.each<[string, AdapterChanges, RegExp]>([
    [
      'another architecture',
      { metadata: { 'general.architecture': 'llama' } },
      /the architecture llama, and .* qwen3\.$/,
    ],
    ['another size', wider(/lora_a$/), /attn_q\.weight are for another size than \d+ x \d+, which it has here/],
    [
      'a tensor that is not there',
      { tensors: (all) => all.map((one) => ({ ...one, name: one.name.replace('blk.0', 'blk.90') })) },
      /blk\.90\.attn_q\.weight, which this model does not have/,
    ],
    ['half a pair', { tensors: (all) => all.slice(1) }, /of two matrices for tensor blk\.0\.attn_q\.weight it has one/],
    [
      'a tensor of another kind',
      { tensors: (all) => [...all, { name: 'blk.0.attn_q.bias', shape: [4] }] },
      /attn_q\.bias is of a kind/,
    ],
    ['no tensors', { tensors: () => [] }, /has no tensors/],
    ['embeddings that are the output, too', { adapted: ['token_embd.weight'] }, /changes the token embeddings/],
    ['whole numbers', { tensors: (all) => all.map((one) => ({ ...one, type: 26 })) }, /are of the type i32/],
    [
      'invocation tokens',
      { metadata: { 'adapter.alora.invocation_tokens': [1, 2] } },
      /only behind certain words \(aLoRA\)/,
    ],
    [
      'another kind',
      { metadata: { 'adapter.type': 'control_vector' } },
      /of the kind control_vector; llama\.cpp knows LoRA alone/,
    ],
    ['no strength', { metadata: { 'adapter.lora.alpha': 'much' } }, /no number for its strength/],
    ['a model', { metadata: { 'general.type': 'model' } }, /tiny-lora\.gguf is not an adapter/],
  ])('%s', async (_, changes, message) => {
    const options = contextOptions(adapted(1, changes));
    const said = { code: 'context-invalid', message: expect.stringMatching(message) };
    expect(await refusal(engine().estimate(tinyModel, { gpuLayers: 0 }, options))).toMatchObject(said);
    const failed = await refusal((await loadTiny()).createContext(options));
    expect(failed).toMatchObject(said);
    expect((failed as Error).message).toMatch(/^The adapter tiny-lora\.gguf cannot be used\. (?!.*\/tmp)/);
  });

  it('a file that is gone, or cut short', async () => {
    const model = await loadTiny();
    const of = (file: string) =>
      refusal(model.createContext(contextOptions({ adapters: [{ model: file, scale: 1 }] })));
    expect(await of('/nowhere/gone.gguf')).toMatchObject({
      message: expect.stringMatching(/^(?!.*nowhere).*no file gone/),
    });
    const cut = writeAdapter(temporaryFolder());
    fs.truncateSync(cut, fs.statSync(cut).size - 64);
    expect(await of(cut)).toMatchObject({ message: expect.stringMatching(/is truncated: 64 of its/) });
  });

  it('adapters of the settings beside those of options', async () => {
    const options = contextOptions({ ...adapted(1), core: ['--lora', writeAdapter(temporaryFolder())] });
    const failed = await refusal((await loadTiny()).createContext(options));
    expect(failed).toMatchObject({ code: 'context-invalid', message: expect.stringContaining('chosen twice') });
  });
});

it('of the settings keeps its scale whatever requests of the API ask for, and its folder is told nobody', async () => {
  const parts: ApiPart[] = [];
  const server = engineServer({ response: (part) => parts.push(part) });
  const context = contextSettingsSchema.parse({ nCtx: 512, threads: 1, typeK: 'f16', typeV: 'f16', ...adapted(0.5) });
  await server.handlers.load({
    ...{ path: tinyModel, context, calibration: noCalibration, scratch: temporaryFolder() },
    api: { slots: 1, options: [] },
  });
  const ask = async (handler: string, body: string) => {
    parts.length = 0;
    await server.handlers.respond({ requestId: 'r', handler, path: '/', query: '', params: {}, body });
    return JSON.parse(parts.map(({ data }) => data).join(''));
  };
  const off = [{ id: 0, scale: 0 }];
  const said = { code: 'bad-request', message: expect.stringContaining('requests cannot change them') };
  expect(await refusal(ask('post_lora_adapters', JSON.stringify(off)))).toMatchObject(said);
  const body = (more: object) => JSON.stringify({ prompt: 'Rain', n_predict: 1, ...more });
  expect(await refusal(ask('post_completions', body({ lora: off })))).toMatchObject(said);
  expect(await ask('post_completions', body({}))).toMatchObject({ content: expect.any(String) });
  expect(await ask('get_lora_adapters', '')).toMatchObject([{ id: 0, path: 'tiny-lora.gguf', scale: 0.5 }]);
});

it('is told apart from models', async () => {
  const file = writeAdapter(temporaryFolder(), { metadata: { 'general.base_model.0.name': 'Tiny' } });
  const { adapter, architecture, name } = await engine().inspect(file);
  expect({ adapter, architecture, name }).toEqual({
    ...{ adapter: { rank: 4, alpha: 4, base: 'Tiny' }, architecture: 'qwen3', name: 'Tiny tuned' },
  });
  const failed = await refusal(engine().loadModel(file, { gpuLayers: 0 }));
  expect(failed).toMatchObject({ code: 'model-unsupported', message: expect.stringContaining('no model by itself') });
});
