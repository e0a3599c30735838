/** The figures of the meter against llama.cpp's own clock: two clocks of the same run. */
import { expect, it } from 'vitest';
import { Meter } from '../../electron/engine/meter';
import type { Context, GenerateResult } from '../../native/binding/types';
import { contextOptions, filler, greedy, loadTiny } from './support';

interface Run {
  result: GenerateResult;
  /** tokens per second that the strip shows */
  prompt: number;
  answer: number;
}

async function run(context: Context, prompt: Int32Array, maxTokens: number): Promise<Run> {
  context.clear();
  const meter = new Meter(context.effective.nCtx);
  const options = greedy({ maxTokens, onPrefill: (progress) => meter.onPrefill(progress) });
  const generator = context.generate(prompt, options);
  for (;;) {
    const step = await generator.next();
    if (step.done) {
      const { promptTokensPerSecond, tokensPerSecondAverage } = meter.stats();
      return { result: step.value, prompt: promptTokensPerSecond, answer: tokensPerSecondAverage };
    }
    meter.onTokens(step.value);
  }
}

const apart = (one: number, other: number): number => Math.abs(one / other - 1);
const perSecond = (tokens: number, ms: number): number => (tokens / ms) * 1000;

/** A busy machine may take the thread away between two clocks, which makes them differ: the closest of some runs counts. */
const runs = 5;

it('prompt and answer rates agree with those of llama.cpp within 2%', async () => {
  const model = await loadTiny();
  const context = await model.createContext(contextOptions());
  const prompt = model.tokenize(filler(60)).slice(0, 600);
  const differences = { prompt: [] as number[], evaluation: [] as number[], answer: [] as number[] };
  const choosing: number[] = [];
  for (let number = 0; number < runs; number++) {
    const { result, prompt: promptRate, answer } = await run(context, prompt, 128);
    const { upstream, evalMs, decodeMs, decodeTokens } = result;
    expect([result.promptTokens, upstream.promptTokens]).toEqual([600, 600]);
    expect([result.answerTokens, decodeTokens, upstream.decodeTokens]).toEqual([128, 127, 127]);
    const theirs = perSecond(upstream.decodeTokens, upstream.decodeMs);
    differences.prompt.push(apart(promptRate, perSecond(upstream.promptTokens, upstream.promptMs)));
    differences.evaluation.push(apart(perSecond(decodeTokens, evalMs), theirs));
    // what is shown is how fast the answer grows, so it holds the choosing of tokens, which llama.cpp's figure leaves out
    choosing.push((decodeMs - evalMs) / decodeMs);
    differences.answer.push(apart(answer, theirs * (evalMs / decodeMs)));
  }
  console.log(
    `choosing tokens took ${choosing.map((share) => `${(share * 100).toFixed(2)}%`).join(', ')} of an answer`,
  );
  expect(Math.min(...differences.prompt)).toBeLessThan(0.02);
  expect(Math.min(...differences.evaluation)).toBeLessThan(0.02);
  expect(Math.min(...differences.answer)).toBeLessThan(0.02);
});

it('counts a prompt of one new token and an answer that ends by itself', async () => {
  const context = await (await loadTiny()).createContext(contextOptions());
  const chat = [{ role: 'user' as const, content: 'Hello there' }];
  const ask = async (): Promise<GenerateResult> => {
    const generator = context.generate(chat, greedy({ maxTokens: 400 }));
    for (;;) {
      const step = await generator.next();
      if (step.done) return step.value;
    }
  };
  const first = await ask();
  expect(first.stopReason).toBe('end-of-turn');
  // the mark of the end came out of the last step
  expect([first.decodeTokens, first.upstream.decodeTokens]).toEqual([first.answerTokens, first.answerTokens]);
  const second = await ask();
  expect(second.promptTokens - second.cachedTokens).toBe(1);
  expect(second.upstream.promptTokens).toBe(1);
  expect(second.upstream.promptMs).toBeLessThanOrEqual(second.promptMs * 1.02);
});
