/** Drafts of another model, with the real engine: the text stays the same, all memory is in the estimate, and what cannot draft is refused. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ContextSettings, contextSettingsSchema } from '@/electron/contract/settings';
import type { Context, ContextOptions } from '@/electron/engine/native/types';
import { readGguf } from '../gguf';
import { dense, writeShape } from '../shapeParts';
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

const sum = (context: Pick<Context, 'devices'>) =>
  context.devices().reduce((all, { weights, context: cache, compute }) => all + weights + cache + compute, 0);

describe('a model that drafts', () => {
  it.each(['f16', 'q8_0', 'turbo4', 'turbo3'])('writes what is written without it: %s', async (type) => {
    const types = { typeK: type, typeV: type };
    const { model, context } = await tinyContext(types);
    const drafted = await model.createContext(drafting(types));
    expect(drafted.effective.speculation).toEqual({ asked: 'draft', effective: 'draft', reason: '' });
    const { typeK, typeV } = context.effective;
    expect(drafted.effective.draft).toEqual({ file: tinyModel, typeK, typeV });
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
      const dry = await engine().estimate(tinyModel, 0, drafting(more));
      const made = context.memory();
      expect(dry).toMatchObject(made);
      const { kvK, kvV, weights } = made;
      expect(made.draft).toMatchObject({ weights, kv: kvK + kvV });
      expect(made.draft.compute).toBeGreaterThan(0);
      expect(made).toEqual({ ...plain.memory(), draft: made.draft });
      const { draft } = made;
      expect(sum(context) - sum(plain)).toBe(draft.weights + draft.kv + draft.compute);
      expect(dry.devices.map(({ mapped, ...use }) => use)).toEqual(context.devices().map(({ mapped, ...use }) => use));
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
    await drafted.evaluate(model.tokenize(filler(20)));
    expect((await answer(drafted, question())).result.text).toBe((await answer(context, question())).result.text);
  });

  it('drafts where options of llama-server name it, and is in the estimate', async () => {
    const core = ['-md', tinyModel, '--spec-draft-n-max', '5'];
    const { context } = await tinyContext({ core });
    expect(context.effective.speculation).toEqual({ asked: 'off', effective: 'options', reason: '' });
    expect(context.effective.draft).toMatchObject({ file: tinyModel, typeK: { effective: 'f16' } });
    const made = context.memory();
    expect(made.draft.kv).toBe(made.kvK + made.kvV);
    expect(await engine().estimate(tinyModel, 0, contextOptions({ core }))).toMatchObject(made);
    expect((await answer(context, question())).result.drafts.accepted).toBeGreaterThan(0);
    const other = contextOptions({ core: ['-md', smallModel] });
    expect(await refusal(engine().estimate(tinyModel, 0, other))).toMatchObject({
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
  it.each<[string, () => Partial<ContextOptions>, RegExp]>([
    ['another vocabulary', () => ({ draftModel: smallModel }), /small.*another vocabulary than this model/],
    ['no file', () => ({ draftModel: '/nowhere/model.gguf' }), /nowhere/],
    ['a file that is no model', () => ({ draftModel: damaged() }), /damaged/],
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
    expect(context.memory()).toEqual(plain.memory());
    expect(await engine().estimate(tinyModel, 0, options)).toMatchObject({ ...plain.memory(), speculation });
  });

  it('types that its heads cannot have are others, with the reason, and drafts that are all wrong change nothing', async () => {
    const { model, context } = await tinyContext({ typeK: 'turbo4', typeV: 'turbo4' });
    const sizes = { layers: 1, embd: 256, heads: 4, headsKv: 2, headDim: 80, vocab: 8192 };
    const words = [...readGguf(tinyModel).metadata].filter(([key]) => key.startsWith('tokenizer.'));
    const file = writeShape(temporaryFolder(), dense('narrow', 'llama', sizes), Object.fromEntries(words));
    const drafted = await model.createContext(drafting({ draftModel: file }));
    const { speculation, draft } = drafted.effective;
    expect(speculation).toEqual({ asked: 'draft', effective: 'draft', reason: '' });
    expect(draft.typeK).toMatchObject({ asked: 'turbo4', reason: expect.stringMatching(/./) });
    expect(draft.typeK.effective).not.toBe('turbo4');
    expect(await engine().estimate(tinyModel, 0, drafting({ draftModel: file }))).toMatchObject(drafted.memory());
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
