/** Tokens are handed on in groups (native/addon/server/Completion.cpp): none is lost, and none changes its place. */
import { expect, it } from 'vitest';
import type { Context, GenerateChunk, GenerateResult } from '@/electron/engine/native/types';
import { expectToGrow, filler, greedy, tinyContext } from '../support';

interface Run {
  chunks: GenerateChunk[];
  result: GenerateResult;
}

/** `onFirst` holds the thread of JavaScript while the answer grows. */
async function run(
  context: Context,
  prompt: Int32Array,
  maxTokens: number,
  onFirst: (cancel: () => void) => void = () => {},
): Promise<Run> {
  const stop = new AbortController();
  // no mark of the end is chosen
  const options = { ...greedy({ maxTokens, candidates: 1, signal: stop.signal }), ignoreEnd: true };
  const generator = context.generate(prompt, options);
  const chunks: GenerateChunk[] = [];
  for (;;) {
    const step = await generator.next();
    if (step.done) return { chunks, result: step.value };
    if (chunks.length === 0) onFirst(() => stop.abort());
    chunks.push(step.value);
  }
}

/** That the chunks are the result, token by token. */
function expectWhole({ chunks, result }: Run): void {
  expect(chunks.map(({ text }) => text).join('')).toBe(result.text);
  const steps = chunks.filter(({ token }) => token !== null);
  expect(steps.map(({ answerTokens }) => answerTokens)).toEqual(steps.map((_, at) => at + 1));
  expect(steps.map(({ contextUsed }) => contextUsed)).toEqual(steps.map((_, at) => result.promptTokens + at));
  expect(steps.length).toBe(result.answerTokens);
  // greedy: the likeliest one was chosen
  expect(steps.map(({ candidates }) => candidates[0]?.token)).toEqual(steps.map(({ token }) => token));
  expectToGrow(steps.map(({ elapsedMs }) => elapsedMs));
  expect(new Set(steps.map(({ elapsedMs }) => elapsedMs)).size).toBe(steps.length);
  expect(steps[0]?.elapsedMs).toBe(result.ttftMs);
  expect((steps.at(-1)?.elapsedMs ?? 0) - result.ttftMs).toBeCloseTo(result.decodeMs, 6);
}

async function tiny(test: (context: Context, prompt: Int32Array) => Promise<void>): Promise<void> {
  const { model, context } = await tinyContext();
  await test(context, model.tokenize(filler(4)));
}

it('every token comes once and in its place, from the first one to the limit', () =>
  tiny(async (context, prompt) => {
    const whole = await run(context, prompt, 40);
    expectWhole(whole);
    const tokens = ({ chunks }: Run) => chunks.flatMap(({ token }) => token ?? []);
    for (const maxTokens of [1, 2, 3, 5]) {
      const part = await run(context, prompt, maxTokens);
      expectWhole(part);
      expect(part.result).toMatchObject({ stopReason: 'max-tokens', answerTokens: maxTokens });
      expect(tokens(part)).toEqual(tokens(whole).slice(0, maxTokens));
    }
  }));

it('what was chosen while nobody looked is all there', () =>
  tiny(async (context, prompt) => {
    const until = (count: number) => {
      while (context.contextUsed < prompt.length + count);
    };
    const held = await run(context, prompt, 60, () => until(40));
    expectWhole(held);
    expect(held.result.answerTokens).toBe(60);
  }));

it('a stop gives all that was chosen before it', () =>
  tiny(async (context, prompt) => {
    // a stop anywhere between two groups: the longer it waits, the more tokens do
    for (let wait = 0; wait < 10; wait++) {
      const stopped = await run(context, prompt, 1500, (cancel) => {
        while (context.contextUsed < prompt.length + 3);
        for (const end = performance.now() + wait; performance.now() < end; );
        cancel();
      });
      expectWhole(stopped);
      const { stopReason, promptTokens, answerTokens, contextUsed } = stopped.result;
      expect(stopReason).toBe('cancelled');
      expect(answerTokens).toBeGreaterThan(3);
      // a token is evaluated when it has been chosen and handed on
      expect(contextUsed).toBeLessThanOrEqual(promptTokens + answerTokens);
    }
  }));
