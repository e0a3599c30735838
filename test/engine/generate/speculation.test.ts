/** Speculative decoding by n-grams of the text, with the real engine: what is written stays the same, and drafting must pay. */
import { expect, it } from 'vitest';
import type { DraftTrial } from '@/electron/engine/native/types';
import { answer, filler, greedy, tinyContext } from '../support';

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
  expect(expected.result.drafts).toEqual({ drafted: 0, accepted: 0 });
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
  expect(slower.drafts).toEqual({ drafted: 0, accepted: 0 });
  expect(slower.trial).toMatchObject({ withTokens: 200, withoutTokens: 64 + 59 });
  const faster = (await answer(context, prompt, write(60, { ...measured, withMs: 0.001, withoutMs: 1e9 }))).result;
  expect(faster.drafts.accepted).toBeGreaterThan(20);
  expect(faster.trial).toMatchObject({ withTokens: 200 + 59, withoutTokens: 64 });
});

it('drafts nothing where a grammar rules', async () => {
  const { context, prompt } = await setUp();
  const { result } = await answer(context, prompt, greedy({ maxTokens: 40, grammar: 'root ::= ("a" | "b"){40}' }));
  expect(result.text).toMatch(/^[ab]{40}$/);
  expect(result.drafts).toEqual({ drafted: 0, accepted: 0 });
});
