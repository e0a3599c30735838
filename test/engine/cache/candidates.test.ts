/** What a comparison rests on: tokens with their likeliest alternatives, and a reference that lies on disk. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { answer, contextOptions, filler, greedy, loadTiny, question, refusal, temporaryFolder } from '../support';

describe('candidates', () => {
  it('brings each token with the likeliest ones, as probable as evaluate says', async () => {
    const model = await loadTiny();
    const context = await model.createContext(contextOptions());
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
    expect(scored.tokens).toBe(16);
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
    const model = await loadTiny();
    const context = await model.createContext(contextOptions());
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
