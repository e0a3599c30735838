/**
 * The figures of the meter against llama.cpp's own clock: two clocks of the same run, read one inside the other. How far they are
 * apart is printed and not asserted: a busy machine may take the thread away between two readings.
 */
import { expect, it } from 'vitest';
import { Meter } from '@/electron/engine/meter';
import type { Context, GenerateResult } from '@/electron/engine/native/types';
import { expectToGrow, filler, greedy, tinyContext, upstreamStepMs } from '../support';

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

const perSecond = (tokens: number, ms: number): number => (tokens / ms) * 1000;

const runs = 3;

it('prompt and answer rates are of the tokens that llama.cpp counts, over the times that hold its own', async () => {
  const { model, context } = await tinyContext();
  const prompt = model.tokenize(filler(60)).slice(0, 600);
  const reported: string[] = [];
  for (let number = 0; number < runs; number++) {
    const { result, prompt: promptRate, answer } = await run(context, prompt, 128);
    const { upstream, promptMs, ttftMs, decodeMs, decodeTokens } = result;
    expect([result.promptTokens, upstream.promptTokens]).toEqual([600, 600]);
    expect([result.answerTokens, decodeTokens, upstream.decodeTokens]).toEqual([128, 127, 127]);
    // reading, in two batches: theirs is a part of what the strip counts, that of the prompt, and that of the wait
    const shownMs = (600 / promptRate) * 1000;
    expect(shownMs).toBeCloseTo(promptMs, 6);
    expectToGrow([upstream.promptMs - 2 * upstreamStepMs, promptMs, ttftMs]);
    // writing, a step for each token: theirs is a part of ours, which holds the choosing too
    expectToGrow([upstream.decodeMs - 127 * upstreamStepMs, decodeMs]);
    // what is shown is how fast the answer grows
    expect(answer).toBeCloseTo(perSecond(decodeTokens, decodeMs), 6);
    const apart = [upstream.promptMs / promptMs, upstream.decodeMs / decodeMs];
    reported.push(apart.map((share) => `${((1 - share) * 100).toFixed(2)}%`).join(', '));
  }
  console.log(`not llama.cpp's, of reading and of writing: ${reported.join('; ')}`);
});

it('counts a prompt of one new token and an answer that ends by itself', async () => {
  const { context } = await tinyContext();
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
  // which llama.cpp counts as a step of the answer
  expect([second.upstream.promptTokens, second.upstream.decodeTokens]).toEqual([0, second.answerTokens + 1]);
});
