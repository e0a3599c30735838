/** Drafts of another model, with the real engine: the text stays the same, all memory is in the estimate, and what cannot draft is refused. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ContextSettings, contextSettingsSchema } from '@/electron/contract/settings';
import type { Context, ContextOptions } from '@/electron/engine/native/types';
import { readGguf, writeChanged } from '../gguf';
import {
  attention,
  bias,
  dense,
  experts,
  feedForward,
  matrix,
  type Shape,
  shape,
  vector,
  writeShape,
} from '../shapeParts';
import {
  answer,
  contextOptions,
  engine,
  engineServer,
  filler,
  greedy,
  loadTiny,
  noCalibration,
  question,
  refusal,
  request,
  smallModel,
  temporaryFolder,
  tinyContext,
  tinyModel,
} from '../support';

const drafting = (changes: Partial<ContextOptions> = {}) =>
  contextOptions({ typeK: 'turbo4', typeV: 'turbo4', speculation: 'draft', draftModel: tinyModel, ...changes });

const sum = (context: Pick<Context, 'memory'>) =>
  context.memory().devices.reduce((all, { weights, context: cache, compute }) => all + weights + cache + compute, 0);

/** With the vocabulary of the tiny model. */
function writeWithWords(made: Shape): string {
  const words = [...readGguf(tinyModel).metadata].filter(([key]) => key.startsWith('tokenizer.'));
  return writeShape(temporaryFolder(), made, Object.fromEntries(words));
}

/** Two layers, and one that drafts, as GLM-4.5 has them; all weights are zeros. `nextn`: whether its tensors are there */
function glm(nextn = true): Shape {
  const sizes = { layers: nextn ? 3 : 2, embd: 256, heads: 4, headsKv: 2, headDim: 128, ff: 256, vocab: 8192 };
  const { embd } = sizes;
  const make = matrix();
  const layer = (at: string, index: number) => [
    ...attention(at, sizes),
    vector(`${at}.post_attention_norm`, embd),
    ...(index < 2
      ? feedForward(at, sizes).filter(({ name }) => !name.includes('ffn_norm'))
      : [
          ...[...experts(at, embd, 64, 4), bias(`${at}.exp_probs_b`, 4)],
          ...[make(`${at}.ffn_gate_shexp`, [embd, 64]), make(`${at}.ffn_up_shexp`, [embd, 64])],
          ...[make(`${at}.ffn_down_shexp`, [64, embd]), make(`${at}.nextn.eh_proj`, [2 * embd, embd])],
          ...[vector(`${at}.nextn.enorm`, embd), vector(`${at}.nextn.hnorm`, embd)],
        ]),
  ];
  const metadata = {
    ...{ block_count: 3, nextn_predict_layers: 1, leading_dense_block_count: 2 },
    ...{ expert_count: 4, expert_used_count: 2, expert_shared_count: 1, expert_feed_forward_length: 64 },
  };
  return shape(nextn ? 'glm-mtp' : 'glm-trunk', 'glm4moe', sizes, layer, { metadata });
}

describe('layers of the model that draft (MTP)', () => {
  it('write what is written without them, and take what is estimated', async () => {
    const file = writeWithWords(glm());
    const model = await engine().loadModel(file, { gpuLayers: 0, mtp: true });
    onTestFinished(() => model.dispose());
    for (const more of [{}, { slots: 2, api: true }]) {
      const options = drafting({ speculation: 'mtp', draftModel: '', ...more });
      const context = await model.createContext(options);
      const { speculation, draft } = context.effective;
      expect(speculation).toEqual({ asked: 'mtp', effective: 'mtp', reason: '' });
      expect(draft).toMatchObject({ file: '', typeK: { effective: 'turbo4' } });
      const made = context.memory().parts;
      expect(made.draft).toMatchObject({ weights: 0, kv: (made.kvK + made.kvV) / 2 });
      expect(made.draft.compute).toBeGreaterThan(0);
      expect(await engine().estimate(file, { gpuLayers: 0 }, options)).toMatchObject(made);
      const plain = await model.createContext(drafting({ speculation: 'off', ...more }));
      const write = greedy({ maxTokens: 40, ignoreEnd: true });
      const prompt = model.tokenize(filler(8));
      const { result } = await answer(context, prompt, write);
      expect(result.text).toBe((await answer(plain, prompt, write)).result.text);
      expect(result.drafts.drafted).toBeGreaterThan(0);
      await context.dispose();
      await plain.dispose();
    }
    const without = await engine().estimate(file, { gpuLayers: 0 }, drafting({ speculation: 'off' }));
    const layers = await engine().estimate(file, { gpuLayers: 0 }, drafting({ speculation: 'mtp' }));
    expect(layers.weights).toBeGreaterThan(without.weights);
  });

  it('are not used where the file names them and has none', async () => {
    const model = await engine().loadModel(writeWithWords(glm(false)), { gpuLayers: 0, mtp: true });
    onTestFinished(() => model.dispose());
    const { speculation } = (await model.createContext(drafting({ speculation: 'mtp' }))).effective;
    expect(speculation).toMatchObject({ effective: 'ngram', reason: expect.stringContaining('no layers that draft') });
  });
});

describe('a model that drafts', () => {
  it.each(['f16', 'q8_0', 'turbo4', 'turbo3'])('writes what is written without it: %s', async (type) => {
    const types = { typeK: type, typeV: type };
    const { model, context } = await tinyContext(types);
    const drafted = await model.createContext(drafting(types));
    expect(drafted.effective.speculation).toEqual({ asked: 'draft', effective: 'draft', reason: '' });
    const { typeK, typeV } = context.effective;
    expect(drafted.effective.draft).toEqual({ file: path.basename(tinyModel), typeK, typeV });
    for (const prompt of [question(), model.tokenize(filler(20))]) {
      const expected = await answer(context, prompt, greedy({ maxTokens: 120, ignoreEnd: true }));
      const { result } = await answer(drafted, prompt, greedy({ maxTokens: 120, ignoreEnd: true }));
      expect(result.text).toBe(expected.result.text);
      // it is its own draft, so nearly all that it drafts is what it writes
      expect(result.drafts.accepted).toBeGreaterThan(60);
      expect(result.drafts.accepted / result.drafts.drafted).toBeGreaterThan(0.8);
    }
  });

  it('takes what is estimated, by part and by device', async () => {
    const model = await loadTiny();
    for (const more of [{}, { slots: 4, api: true }, { nCtx: 4096, typeK: 'q8_0', typeV: 'f16', batch: 128 }]) {
      const plain = await model.createContext(drafting({ ...more, speculation: 'off' }));
      const context = await model.createContext(drafting(more));
      const dry = await engine().estimate(tinyModel, { gpuLayers: 0 }, drafting(more));
      const made = context.memory().parts;
      expect(dry).toMatchObject(made);
      const { kvK, kvV, weights } = made;
      expect(made.draft).toMatchObject({ weights, kv: kvK + kvV });
      expect(made.draft.compute).toBeGreaterThan(0);
      expect(made).toEqual({ ...plain.memory().parts, draft: made.draft });
      const { draft } = made;
      expect(sum(context) - sum(plain)).toBe(draft.weights + draft.kv + draft.compute);
      expect(dry.devices.map(({ mapped, ...use }) => use)).toEqual(
        context.memory().devices.map(({ mapped, ...use }) => use),
      );
      await plain.dispose();
      await context.dispose();
    }
  });

  it('goes on after an answer that was stopped inside a prefill, another chat, and a session', async () => {
    const { model, context } = await tinyContext({ typeK: 'turbo4', typeV: 'turbo4', nCtx: 4096 });
    const drafted = await model.createContext(drafting({ nCtx: 4096, batch: 64 }));
    const long = model.tokenize(filler(120));
    const stop = new AbortController();
    const canceled = answer(
      drafted,
      long,
      greedy({ signal: stop.signal, onPrefill: ({ done }) => void (done > 200 && stop.abort()) }),
    );
    expect((await canceled).result.stopReason).toBe('cancelled');
    const expected = await answer(context, long);
    expect((await answer(drafted, long)).result.text).toBe(expected.result.text);
    const file = path.join(temporaryFolder(), 'session');
    await drafted.saveSession(file);
    await answer(drafted, question());
    expect(await drafted.loadSession(file)).toBeGreaterThan(long.length);
    const again = (await answer(drafted, long)).result;
    expect(again.text).toBe(expected.result.text);
    expect(again.cachedTokens).toBeGreaterThan(0);
    // the draft has its cells back, too
    expect(again.drafts.accepted / again.drafts.drafted).toBeGreaterThan(0.8);
    // and so it has of two stretches
    const [first, rest] = [`${file}-first`, `${file}-rest`];
    await drafted.saveSession(first, undefined, { from: 0, to: 500 });
    await drafted.saveSession(rest, undefined, { from: 500, to: drafted.contextUsed });
    await answer(drafted, question());
    await drafted.loadSession(first);
    expect(await drafted.loadSession(rest, undefined, 500)).toBeGreaterThan(long.length - 500);
    const joined = (await answer(drafted, long)).result;
    expect(joined.text).toBe(expected.result.text);
    expect(joined.drafts.accepted / joined.drafts.drafted).toBeGreaterThan(0.8);
    await drafted.evaluate(model.tokenize(filler(20)));
    expect((await answer(drafted, question())).result.text).toBe((await answer(context, question())).result.text);
  });

  it('drafts where options of llama-server name it, and is in the estimate', async () => {
    const core = ['-md', tinyModel, '--spec-draft-n-max', '5'];
    const { context } = await tinyContext({ core });
    expect(context.effective.speculation).toEqual({ asked: 'off', effective: 'options', reason: '' });
    expect(context.effective.draft).toMatchObject({ file: path.basename(tinyModel), typeK: { effective: 'f16' } });
    const made = context.memory().parts;
    expect(made.draft.kv).toBe(made.kvK + made.kvV);
    expect(await engine().estimate(tinyModel, { gpuLayers: 0 }, contextOptions({ core }))).toMatchObject(made);
    expect((await answer(context, question())).result.drafts.accepted).toBeGreaterThan(0);
    const other = contextOptions({ core: ['-md', smallModel] });
    expect(await refusal(engine().estimate(tinyModel, { gpuLayers: 0 }, other))).toMatchObject({
      code: 'context-invalid',
      message: expect.stringContaining('another vocabulary'),
    });
  });
});

describe('what cannot draft gives way to the text, with the reason', () => {
  const damaged = () => {
    const file = path.join(temporaryFolder(), 'damaged.gguf');
    fs.writeFileSync(file, 'GGUF and nothing more');
    return file;
  };
  const deep = () => {
    const file = path.join(temporaryFolder(), 'deep.gguf');
    return writeChanged(readGguf(tinyModel), file, { 'qwen3.block_count': 513 });
  };
  it('and not where options of llama-server name it', async () => {
    const core = ['-md', deep()];
    const said = { code: 'context-invalid', message: expect.stringMatching(/The draft model .* 513 layers/) };
    expect(await refusal(engine().estimate(tinyModel, { gpuLayers: 0 }, contextOptions({ core })))).toMatchObject(said);
    expect(await refusal((await loadTiny()).createContext(contextOptions({ core })))).toMatchObject(said);
  });

  it.each<[string, () => Partial<ContextOptions>, RegExp]>([
    [
      'another vocabulary',
      () => ({ draftModel: smallModel }),
      /^The draft model concertina-small\S* has another vocabulary than this model/,
    ],
    ['no file', () => ({ draftModel: '/nowhere/model.gguf' }), /^(?!.*nowhere).*model\.gguf/],
    ['a file that is no model', () => ({ draftModel: damaged() }), /damaged/],
    ['a file over which llama.cpp ends the process', () => ({ draftModel: deep() }), /deep\.gguf is .* 513 layers/],
    ['nothing chosen', () => ({ draftModel: '' }), /No model was chosen/],
    ['a model without drafting layers', () => ({ speculation: 'mtp' }), /no layers that draft/],
  ])('%s', async (_, changes, reason) => {
    const model = await loadTiny();
    const options = drafting(changes());
    const context = await model.createContext(options);
    const { speculation, draft } = context.effective;
    expect(speculation).toEqual({
      asked: options.speculation,
      effective: 'ngram',
      reason: expect.stringMatching(reason),
    });
    expect(draft.typeK.effective).toBe('');
    const plain = await model.createContext(drafting({ speculation: 'ngram' }));
    expect(context.memory().parts).toEqual(plain.memory().parts);
    expect(await engine().estimate(tinyModel, { gpuLayers: 0 }, options)).toMatchObject({
      ...plain.memory().parts,
      speculation,
    });
  });

  it('types that its heads cannot have are others, with the reason, and drafts that are all wrong change nothing', async () => {
    const { model, context } = await tinyContext({ typeK: 'turbo4', typeV: 'turbo4' });
    const sizes = { layers: 1, embd: 256, heads: 4, headsKv: 2, headDim: 80, vocab: 8192 };
    const file = writeWithWords(dense('narrow', 'llama', sizes));
    const drafted = await model.createContext(drafting({ draftModel: file }));
    const { speculation, draft } = drafted.effective;
    expect(speculation).toEqual({ asked: 'draft', effective: 'draft', reason: '' });
    expect(draft.typeK).toMatchObject({ asked: 'turbo4', reason: expect.stringMatching(/./) });
    expect(draft.typeK.effective).not.toBe('turbo4');
    expect(await engine().estimate(tinyModel, { gpuLayers: 0 }, drafting({ draftModel: file }))).toMatchObject(
      drafted.memory().parts,
    );
    const { result } = await answer(drafted, question());
    expect(result.text).toBe((await answer(context, question())).result.text);
    expect(result.drafts.drafted).toBeGreaterThan(result.drafts.accepted);
  });
});

it('a load keeps the chat when its draft is refused, and says why', async () => {
  const server = engineServer();
  const settings = (changes: Partial<ContextSettings>) =>
    contextSettingsSchema.parse({ nCtx: 2048, threads: 1, typeK: 'f16', typeV: 'f16', ...changes });
  const load = (context: ContextSettings) =>
    server.handlers.load({ path: tinyModel, context, calibration: noCalibration, scratch: temporaryFolder() });
  await load(settings({ speculation: 'off' }));
  const messages = [{ role: 'user' as const, content: filler(10) }];
  await server.handlers.generate(request({ messages }));
  const drafted = await load(settings({ speculation: 'draft', draftModel: tinyModel }));
  expect(drafted.carriedTokens).toBeGreaterThan(100);
  const other = [{ role: 'user' as const, content: `What follows is about the weather. ${filler(10)}` }];
  const { stats } = await server.handlers.generate(request({ messages: other }));
  const { drafted: all = 0, accepted = 0 } = stats.drafts ?? {};
  expect(accepted / all).toBeGreaterThan(0.7);
  const refused = await load(settings({ speculation: 'draft', draftModel: smallModel }));
  expect(refused.carriedTokens).toBeGreaterThan(100);
  expect(refused.context.speculation.reason).toContain('another vocabulary');
});
