/** What a comparison rests on: perplexity and KL divergence as llama-perplexity gives them, tokens with their likeliest alternatives. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { f16Weights } from '../../bench/quality/weights.mjs';
import {
  answer,
  contextOptions,
  engine,
  filler,
  greedy,
  loadTiny,
  needles,
  perplexityFigure,
  perplexityTool,
  question,
  refusal,
  temporaryFolder,
  tinyContext,
  tinyModel,
} from '../support';

const chunk = 256;
const chunks = 4;

/** real text */
const text = () =>
  needles()
    .slice(0, 2)
    .map(({ prompt }) => prompt)
    .join('\n\n');

const perplexity = (args: string[]): string =>
  perplexityTool(['-c', String(chunk), '-b', String(chunk), '--chunks', String(chunks), '-t', '1', ...args]);

describe('evaluate', () => {
  it('agrees with llama-perplexity', async () => {
    const folder = temporaryFolder();
    const file = path.join(folder, 'text.txt');
    const base = path.join(folder, 'base.kld');
    fs.writeFileSync(file, text());
    const plain = perplexity(['-f', file, '--kl-divergence-base', base]);
    const turboArgs = ['-ctk', 'turbo4', '-ctv', 'turbo4'];
    const output = perplexity(['--kl-divergence-base', base, '--kl-divergence', ...turboArgs]);

    const model = await loadTiny();
    const tokens = model.tokenize(text(), { addSpecial: true }).slice(0, chunk * chunks);
    const options = contextOptions({ nCtx: chunk, batch: chunk });
    const reference = await model.createContext(options);
    const turbo = await model.createContext({ ...options, typeK: 'turbo4', typeV: 'turbo4' });

    const own = await reference.evaluate(tokens);
    expect(own).toMatchObject({ tokens: chunks * (chunk / 2 - 1), meanKld: null, kld999: null, sameTop: null });
    // not "PPL(base)" of the comparison: there, upstream has cut small probabilities off
    expect(own.perplexity / perplexityFigure(plain, /Final estimate: PPL =/)).toBeCloseTo(1, 4);

    const compared = await turbo.evaluate(tokens, reference);
    expect(compared.perplexity / perplexityFigure(output, /Mean PPL\(Q\) +:/)).toBeCloseTo(1, 3);
    expect(compared.meanKld ?? 0).toBeCloseTo(perplexityFigure(output, /Mean +KLD:/), 3);
    expect(Math.abs((compared.kld999 ?? 0) / perplexityFigure(output, /99\.9% +KLD:/) - 1)).toBeLessThan(0.03);
    expect(100 * (compared.sameTop ?? 0)).toBeCloseTo(perplexityFigure(output, /Same top p:/), 0);
    expect(reference.contextUsed).toBe(0);
  });

  it('measures the cache and nothing else with f16 weights, made of those of the file', async () => {
    const exact = await f16Weights(tinyModel, { folder: temporaryFolder(), threads: 1 });
    const measure = async (file: string) => {
      const model = await engine().loadModel(file, { gpuLayers: 0 });
      onTestFinished(() => model.dispose());
      const options = contextOptions({ nCtx: chunk, batch: chunk });
      const reference = await model.createContext(options);
      const context = await model.createContext({ ...options, typeK: 'q8_0', typeV: 'q8_0' });
      const tokens = model.tokenize(text(), { addSpecial: true }).slice(0, chunk * 2);
      return { ...(await context.evaluate(tokens, reference)), quantization: model.info.quantization };
    };
    const [ours, shipped] = [await measure(exact), await measure(tinyModel)];
    expect([ours.quantization, shipped.quantization]).toEqual(['F16', 'Q8_0']);
    expect(Math.abs(ours.perplexity / shipped.perplexity - 1)).toBeLessThan(0.01);
    // an eighth; products of quantized weights round what they multiply
    expect(ours.meanKld).toBeLessThan(0.3 * (shipped.meanKld ?? 0));
  });

  it('finds no difference between equal caches', async () => {
    const model = await loadTiny();
    const tokens = model.tokenize(filler(30));
    const [one, two] = [await model.createContext(contextOptions()), await model.createContext(contextOptions())];
    const result = await one.evaluate(tokens, two);
    expect(result.tokens).toBe(tokens.length - Math.floor(tokens.length / 2) - 1);
    expect(result).toMatchObject({ sameTop: 1 });
    expect(Math.abs(result.meanKld ?? 1)).toBeLessThan(1e-5);
  });

  it('measures several contexts at once as it does each alone', async () => {
    const model = await loadTiny();
    const tokens = model.tokenize(text(), { addSpecial: true }).slice(0, 2 * chunk + 17);
    const options = contextOptions({ nCtx: chunk, batch: chunk });
    const reference = await model.createContext(options);
    const contexts = await Promise.all(
      ['turbo4', 'q4_0'].map((type) => model.createContext({ ...options, typeK: type, typeV: type })),
    );
    const progress: number[] = [];
    const together = await reference.compare(contexts, tokens, { onProgress: (fraction) => progress.push(fraction) });

    const alone = [];
    for (const context of contexts) alone.push(await context.evaluate(tokens, reference));
    expect(together.results).toEqual(alone);
    expect(together.reference).toEqual(await reference.evaluate(tokens));
    for (const [i, klds] of together.klds.entries()) {
      expect(klds).toHaveLength(together.results[i]?.tokens ?? 0);
      expect(klds.reduce((sum, kld) => sum + kld, 0) / klds.length).toBeCloseTo(together.results[i]?.meanKld ?? 0, 8);
      // in the order of the text, in which the divergences do not grow
      expect(klds).not.toEqual(klds.toSorted());
    }
    expect(together.results.every(({ meanKldError }) => (meanKldError ?? 0) > 0)).toBe(true);
    expect(progress.at(-1)).toBe(1);
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
    expect([reference, ...contexts].map(({ contextUsed }) => contextUsed)).toEqual([0, 0, 0]);

    const halves = await reference.compare(contexts.slice(0, 1), tokens, { chunk: chunk / 2 });
    expect(halves.results[0]?.tokens).toBe(4 * (chunk / 4 - 1));
  });

  it('refuses a comparison that makes no sense, and can stop one', async () => {
    const model = await loadTiny();
    const [one, two] = [await model.createContext(contextOptions()), await model.createContext(contextOptions())];
    const tokens = model.tokenize(filler(20));
    const wrong: [Parameters<typeof one.compare>[0], number][] = [
      [[], 0],
      [[one], 0],
      [[two], 4096],
      [[two], 1024],
    ];
    for (const [contexts, size] of wrong) {
      expect(await refusal(one.compare(contexts, tokens, { chunk: size }))).toMatchObject({ code: 'bad-request' });
    }
    expect(await refusal(one.compare([two, two], tokens))).toMatchObject({ code: 'busy' });
    const stopped = one.compare([two], tokens, { signal: AbortSignal.abort() });
    expect(await refusal(stopped)).toMatchObject({ code: 'cancelled' });
    expect((await one.compare([two], tokens)).results[0]?.sameTop).toBe(1);
  });

  it('can be stopped, and refuses what makes no sense', async () => {
    const { model, context } = await tinyContext();
    const tokens = model.tokenize(filler(20));
    expect(await refusal(context.evaluate(tokens, undefined, AbortSignal.abort()))).toMatchObject({
      code: 'cancelled',
    });
    expect(await refusal(context.evaluate(tokens, context))).toMatchObject({ code: 'bad-request' });
    expect(await refusal(context.evaluate(Int32Array.of(1, 2)))).toMatchObject({ code: 'bad-request' });
    expect((await context.evaluate(tokens)).perplexity).toBeGreaterThan(1);
  });
});

describe('candidates', () => {
  it('brings each token with the likeliest ones, as probable as evaluate says', async () => {
    const { model, context } = await tinyContext();
    const prompt = model.tokenize(filler(12), { addSpecial: true });
    const { chunks } = await answer(context, prompt, greedy({ maxTokens: 16, candidates: 4, ignoreEnd: true }));
    const steps = chunks.filter(({ token }) => token !== null);
    expect(steps).toHaveLength(16);
    for (const { token, candidates } of steps) {
      expect(candidates).toHaveLength(4);
      expect(candidates[0]?.token).toBe(token);
      const probabilities = candidates.map(({ probability }) => probability);
      expect(probabilities).toEqual([...probabilities].sort((a, b) => b - a));
    }

    const tokens = Int32Array.from([...prompt, ...steps.map(({ token }) => token ?? -1)]);
    const scored = await context.evaluateAgainst(tokens, await recorded(), { score: 16 });
    const logs = steps.map(({ candidates }) => Math.log(candidates[0]?.probability ?? 0));
    // one token at a time and all in one batch take different kernels, which round differently
    const mean = -logs.reduce((sum, log) => sum + log, 0) / 16;
    expect(Math.abs(Math.log(scored.perplexity) - mean)).toBeLessThan(0.02);

    async function recorded(): Promise<string> {
      const file = path.join(temporaryFolder(), 'reference');
      await context.recordEvaluation(tokens, file, { score: 16 });
      return file;
    }
  });

  it('counts the whole vocabulary, and nothing unless asked', async () => {
    const { model, context } = await tinyContext();
    const all = await answer(context, question(), greedy({ maxTokens: 1, candidates: 1_000_000 }));
    const candidates = all.chunks[0]?.candidates ?? [];
    expect(candidates).toHaveLength(model.info.vocabSize);
    expect(candidates.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1, 5);

    const plain = await answer(context, question(), greedy());
    expect(plain.chunks.every((chunk) => chunk.candidates.length === 0)).toBe(true);
    // the mark of the end comes with the last chunk
    expect(plain.chunks.filter(({ token }) => token !== null)).toHaveLength(plain.result.answerTokens + 1);
    expect(plain.result.stopReason).toBe('end-of-turn');
    const longer = await answer(context, question(), greedy({ maxTokens: 48, ignoreEnd: true }));
    expect(longer.result.answerTokens).toBe(48);
  });
});

describe('a reference on disk', () => {
  it('gives the same figures as one in memory, and exactly none against itself', async () => {
    const model = await loadTiny();
    const tokens = model.tokenize(filler(40), { addSpecial: true });
    const file = path.join(temporaryFolder(), 'reference');
    const reference = await model.createContext(contextOptions());
    const twin = await model.createContext(contextOptions());
    const turbo = await model.createContext(contextOptions({ typeK: 'turbo3', typeV: 'turbo3' }));

    const progress: number[] = [];
    const own = await reference.recordEvaluation(tokens, file, { onProgress: (fraction) => progress.push(fraction) });
    expect(progress.at(-1)).toBe(1);
    expect(fs.statSync(file).size).toBe(24 + own.tokens * model.info.vocabSize * 4);
    expect(await turbo.evaluateAgainst(tokens, file)).toEqual(await turbo.evaluate(tokens, reference));
    expect(await twin.evaluateAgainst(tokens, file)).toEqual({
      ...{ ...own, meanKld: 0, meanKldError: 0, kld999: 0, sameTop: 1 },
    });
  });

  it('scores as many tokens as asked, and refuses a file that is not whole', async () => {
    const model = await loadTiny();
    const tokens = model.tokenize(filler(30), { addSpecial: true });
    const folder = temporaryFolder();
    const file = path.join(folder, 'reference');
    const context = await model.createContext(contextOptions());
    expect((await context.recordEvaluation(tokens, file, { score: 20 })).tokens).toBe(20);
    expect(await refusal(context.evaluateAgainst(tokens, file))).toMatchObject({ code: 'data-corrupt' });
    expect((await context.evaluateAgainst(tokens, file, { score: 20 })).meanKld).toBe(0);
    fs.truncateSync(file, fs.statSync(file).size - 4);
    const short = context.evaluateAgainst(tokens, file, { score: 20 });
    expect(await refusal(short)).toMatchObject({ code: 'data-corrupt' });
    const stopped = context.recordEvaluation(tokens, file, { signal: AbortSignal.abort() });
    expect(await refusal(stopped)).toMatchObject({ code: 'cancelled' });
    expect(await refusal(context.evaluateAgainst(tokens, file))).toMatchObject({ code: 'data-corrupt' });
    const nowhere = context.recordEvaluation(tokens, path.join(folder, 'no', 'folder'));
    expect(await refusal(nowhere)).toMatchObject({ code: 'storage-failed' });
    expect(context.contextUsed).toBe(0);
  });
});
