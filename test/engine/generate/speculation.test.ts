/** Speculative decoding by n-grams of the text, with the real engine: what is written stays the same, and drafting must pay. */
import { expect, it } from 'vitest';
import { contextSettingsSchema } from '@/electron/contract/settings';
import type { DraftTrial } from '@/electron/engine/native/types';
import { writeShape } from '../shapeParts';
import { shapeOf } from '../shapes';
import {
  answer,
  contextOptions,
  engine,
  engineServer,
  filler,
  greedy,
  noCalibration,
  request,
  temporaryFolder,
  tinyContext,
  tinyModel,
} from '../support';

const ngrams = ['--spec-type', 'ngram-simple', '--spec-ngram-simple-size-n', '3', '--spec-ngram-simple-size-m', '8'];

/** A text that is in the prompt already, begun once more: the model goes on with it. */
async function setUp(core: string[] = ngrams) {
  const { model, context } = await tinyContext({ typeK: 'turbo4', typeV: 'turbo4', core });
  const prompt = model.tokenize(filler(30) + filler(2));
  return { context, prompt };
}

const write = (maxTokens: number, trial?: DraftTrial) =>
  greedy({ maxTokens, ignoreEnd: true, ...(trial && { trial }) });

it('writes what is written without it', async () => {
  const plain = await setUp([]);
  const drafted = await setUp();
  const expected = await answer(plain.context, plain.prompt, write(120));
  const { result, chunks } = await answer(drafted.context, drafted.prompt, write(120));
  expect(result.text).toBe(expected.result.text);
  expect(result.answerTokens).toBe(120);
  expect(expected.result.drafts).toEqual({ drafted: 0, accepted: 0, slower: false });
  expect(result.drafts.accepted).toBeGreaterThan(60);
  expect(result.drafts.drafted).toBeGreaterThanOrEqual(result.drafts.accepted);
  // of the last step, which may bring several tokens
  expect(chunks.at(-1)?.drafts).toEqual(result.drafts);
});

it('measures 200 tokens with drafts, then 64 without, over the answers of a chat', async () => {
  const { context, prompt } = await setUp();
  const first = (await answer(context, prompt, write(150))).result.trial;
  // the first token comes of the prompt
  expect(first.withTokens).toBe(149);
  expect(first).toMatchObject({ withoutTokens: 0, withoutMs: 0 });
  const second = (await answer(context, prompt, write(250, first))).result.trial;
  expect(second.withTokens).toBeGreaterThanOrEqual(200);
  expect(second.withoutTokens).toBeGreaterThanOrEqual(64);
  expect(second.withTokens + second.withoutTokens).toBe(149 + 249);
  expect(Math.min(second.withMs, second.withoutMs)).toBeGreaterThan(0);
});

it('keeps what was faster', async () => {
  const { context, prompt } = await setUp();
  const measured = { withTokens: 200, withoutTokens: 64, withMs: 1e9, withoutMs: 0.001 };
  const slower = (await answer(context, prompt, write(60, measured))).result;
  expect(slower.drafts).toEqual({ drafted: 0, accepted: 0, slower: true });
  expect(slower.trial).toMatchObject({ withTokens: 200, withoutTokens: 64 + 59 });
  const faster = (await answer(context, prompt, write(60, { ...measured, withMs: 0.001, withoutMs: 1e9 }))).result;
  expect(faster.drafts.accepted).toBeGreaterThan(20);
  expect(faster.trial).toMatchObject({ withTokens: 200 + 59, withoutTokens: 64 });
});

it('drafts nothing where a grammar rules', async () => {
  const { context, prompt } = await setUp();
  const { result } = await answer(context, prompt, greedy({ maxTokens: 40, grammar: 'root ::= ("a" | "b"){40}' }));
  expect(result.text).toMatch(/^[ab]{40}$/);
  expect(result.drafts).toEqual({ drafted: 0, accepted: 0, slower: false });
});

it('drafts from the text where the settings say so, and the figures of an answer have it', async () => {
  const server = engineServer();
  const context = { ...contextSettingsSchema.parse({ nCtx: 4096, threads: 1 }) };
  const loaded = await server.handlers.load({ path: tinyModel, context, calibration: noCalibration });
  expect(loaded.context.speculation).toEqual({ asked: 'ngram', effective: 'ngram', reason: '' });
  const messages = [{ role: 'user' as const, content: `${filler(30)}Repeat these sentences.` }];
  const { stats } = await server.handlers.generate(request({ messages }));
  expect(stats.drafts).toMatchObject({ drafted: expect.any(Number), accepted: expect.any(Number) });
  await server.handlers.load({
    path: tinyModel,
    context: { ...context, speculation: 'off' },
    calibration: noCalibration,
  });
  expect((await server.handlers.generate(request({ messages }))).stats.drafts).toBeUndefined();
});

it.each(['mamba', 'gemma-3-1b'])('drafts nothing with a model that cannot go back: %s', async (name) => {
  const model = await engine().loadModel(writeShape(temporaryFolder(), shapeOf(name)), { gpuLayers: 0 });
  try {
    const context = await model.createContext(contextOptions({ speculation: 'ngram' }));
    expect(context.rewinds).toBe(false);
    expect(context.effective.speculation).toMatchObject({ asked: 'ngram', effective: 'off' });
    expect(context.effective.speculation.reason).toContain('cannot go back');
  } finally {
    await model.dispose();
  }
});

it('takes no memory of its own: not when it is loaded, and not in the estimate', async () => {
  const { model } = await tinyContext();
  for (const more of [{}, { slots: 4, api: true }]) {
    const bytes = async (speculation: 'off' | 'ngram') => {
      const options = contextOptions({ typeK: 'turbo4', typeV: 'turbo4', nCtx: 4096, speculation, ...more });
      const context = await model.createContext(options);
      const made = context.memory().parts;
      await context.dispose();
      const { weights, kvK, kvV, kvF16, compute } = await engine().estimate(tinyModel, { gpuLayers: 0 }, options);
      return { made, planned: { weights, kvK, kvV, kvF16, compute } };
    };
    const [off, ngram] = [await bytes('off'), await bytes('ngram')];
    expect(ngram).toEqual(off);
    expect(ngram.planned.compute).toBe(ngram.made.compute);
  }
});

it('leaves the choice to options of llama-server, and refuses what there is not', async () => {
  const { context, model } = await tinyContext({ speculation: 'ngram', core: ngrams });
  expect(context.effective.speculation).toEqual({ asked: 'ngram', effective: 'options', reason: '' });
  const other = contextOptions({ speculation: 'all' as 'ngram' });
  await expect(model.createContext(other)).rejects.toMatchObject({ code: 'context-invalid' });
});
