/** The answer of a column: its text in frames, its tokens with what else was likely in their place. */

import type { CompareFrame, CompareOptions } from '../../contract/compare';
import { candidatesKept } from '../../contract/compareFigures';
import { FrameBatcher } from '../frames';
import { answerStats } from '../generation';
import { Meter } from '../meter';
import type { ChatMessage, Context, GenerateOptions } from '../native/types';
import type { Column, Step } from './column';

export type Prompt = ChatMessage[] | Int32Array;

/** Leaves the answer, its figures and steps in the column. A cancelled one leaves what was written until then. */
export async function writeColumn(
  column: Column,
  context: Context,
  prompt: Prompt,
  options: CompareOptions,
  ids: { runId: string; index: number },
  send: (frame: CompareFrame) => void,
  signal: AbortSignal,
): Promise<void> {
  const meter = new Meter(context.effective.nCtx);
  const frames = new FrameBatcher(ids, () => meter.stats(), send);
  column.begin('prompt');
  const generator = context.generate(prompt, {
    ...generateOptions(options),
    candidates: candidatesKept,
    signal,
    onPrefill(progress) {
      meter.onPrefill(progress);
      column.progress((progress.cachedTokens + progress.done) / progress.promptTokens);
      frames.add('', '');
    },
  });
  try {
    let answerTokens = 0;
    let next = await generator.next();
    while (!next.done) {
      const chunk = next.value;
      if (column.value.step === 'prompt') column.begin('answer');
      if (chunk.token !== undefined) column.steps.push(stepOf(chunk, answerTokens));
      answerTokens = chunk.answerTokens;
      meter.onTokens(chunk);
      frames.add(chunk.text, chunk.thinking);
      column.progress(answerTokens / options.maxTokens);
      next = await generator.next();
    }
    const { stopReason, text, thinking } = next.value;
    column.set({ answer: { text, thinking, stopReason, stats: answerStats(next.value, meter.evaluated, context) } });
  } finally {
    frames.close();
  }
}

export function generateOptions({ sampling, maxTokens }: CompareOptions): GenerateOptions {
  const { temperature, topK, topP, minP, repeatPenalty, seed, stop } = sampling;
  return { sampling: { temperature, topK, topP, minP, repeatPenalty, seed: seed ?? 0 }, stop, maxTokens };
}

/** A mark of the end is no token of the answer. */
function stepOf(
  {
    token = -1,
    candidates = [],
    answerTokens,
  }: { token?: number; candidates?: Step['candidates']; answerTokens: number },
  before: number,
): Step {
  return { token, end: answerTokens === before, candidates };
}
