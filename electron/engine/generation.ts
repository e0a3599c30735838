/** Writes one answer: runs the context's generator, feeds the meter and the frames, and sums up. */

import type { AnswerStats } from '../contract/chats';
import type { GenerationResult, LiveStats, StreamFrame } from '../contract/engine';
import { type AsideRequest, type GenerateRequest, promptOptionsIn } from '../contract/engineContract';
import { SerialQueue } from '../contract/lib/serialQueue';
import type { ModelInfo } from '../contract/models';
import { samplingOf } from '../contract/settings';
import { commonPrefix } from './contextReuse';
import { Meter } from './meter';
import type { Loaded } from './modelHolder';
import type { Context, DraftTrial, GenerateOptions, GenerateResult } from './native/types';
import type { OnStep } from './sessions/keeper';

/** What is done before the prompt is read; true: a saved session was restored. */
export type Prepare = (onStep: OnStep) => Promise<boolean>;

export async function writeAnswer(
  { model, context }: Pick<Loaded, 'model' | 'context'>,
  request: GenerateRequest,
  signal: AbortSignal,
  send: (frame: StreamFrame) => void,
  prepare: Prepare,
): Promise<GenerationResult> {
  const meter = new Meter(context.effective.nCtx, undefined, drafts(context));
  const frames = new FrameBatcher(frameIds(request), () => meter.stats(), send);
  const started = performance.now();
  const options: GenerateOptions = {
    ...generateOptions(request, model.info),
    ...trialOf(context, request.chatId),
    signal,
    onPrefill(progress) {
      meter.onPrefill(progress);
      frames.add('', '');
    },
  };
  try {
    const restored = await prepare((step) => {
      meter.onStep(step, context.contextUsed);
      // at once: a small session is through before the next frame would be due
      frames.flush();
    });
    // it may even be the cache of another chat that is still there
    if (signal.aborted) return canceledResult(context, request);
    const preparedMs = performance.now() - started;
    const generator = context.generate(request.messages, options);
    let step = await generator.next();
    while (!step.done) {
      meter.onTokens(step.value);
      frames.add(step.value.text, step.value.thinking);
      step = await generator.next();
    }
    const { stopReason, text, thinking, toolCalls, cachedTokens, ttftMs, trial } = step.value;
    keepTrial(context, request.chatId, trial);
    const stats = {
      ...answerStats(step.value, meter.evaluated, context),
      restoredTokens: restored ? cachedTokens : 0,
      // 0: stopped before the first token
      ttftMs: ttftMs > 0 ? ttftMs + preparedMs : 0,
    };
    return { stopReason, text, thinking, toolCalls, stats };
  } finally {
    frames.close();
  }
}

/** The result of a request that was canceled before its turn came. */
export function canceledResult(context: Context, request: GenerateRequest): GenerationResult {
  const stats: AnswerStats = {
    promptTokens: 0,
    cachedTokens: 0,
    restoredTokens: 0,
    rereadTokens: 0,
    answerTokens: 0,
    ttftMs: 0,
    promptTokensPerSecond: 0,
    tokensPerSecond: 0,
    contextUsed: context.contextUsed,
    contextSize: context.effective.nCtx,
    typeK: context.effective.typeK.effective,
    typeV: context.effective.typeV.effective,
    seed: request.sampling.seed ?? 0,
    parts: 1,
  };
  return { stopReason: 'cancelled', text: '', thinking: '', toolCalls: [], stats };
}

export function frameIds(request: GenerateRequest): Pick<StreamFrame, 'requestId' | 'chatId' | 'messageId'> {
  return { requestId: request.requestId, chatId: request.chatId, messageId: request.messageId };
}

function generateOptions(request: GenerateRequest, model: ModelInfo): GenerateOptions {
  const { thinkingBudget } = request;
  const { seed, stop, maxTokens, ...sampling } = samplingOf(request.sampling, model.sampling);
  return {
    sampling: { ...sampling, seed: seed ?? randomSeed(), thinkingBudget },
    stop,
    maxTokens,
    ...promptOptionsIn(request),
    ...(request.jsonSchema ? { jsonSchema: JSON.stringify(request.jsonSchema) } : {}),
  };
}

function randomSeed(): number {
  return Math.floor(Math.random() * 0xffff_ffff);
}

/** `evaluated`: prompt tokens that were read; fewer than were asked for when the answer was stopped before its first token. */
export function answerStats(result: GenerateResult, evaluated: number, context: Context): AnswerStats {
  return {
    promptTokens: result.promptTokens,
    cachedTokens: result.cachedTokens,
    restoredTokens: 0,
    rereadTokens: result.rereadTokens,
    answerTokens: result.answerTokens,
    ttftMs: result.ttftMs,
    promptTokensPerSecond: perSecond(evaluated, result.promptMs),
    tokensPerSecond: perSecond(result.decodeTokens, result.decodeMs),
    contextUsed: result.contextUsed,
    contextSize: context.effective.nCtx,
    typeK: context.effective.typeK.effective,
    typeV: context.effective.typeV.effective,
    seed: result.seed,
    parts: 1,
    ...(drafts(context) && { drafts: result.drafts }),
  };
}

/** Whether tokens are drafted in this context at all. */
function drafts({ effective }: Context): boolean {
  return effective.speculation.effective !== 'off';
}

// A short question behind a chat that the context holds, which costs the chat nothing.

/**
 * What the model writes; null: it was canceled, there is no room, or the context holds another text. The context is left with
 * what the chat's next question begins with, so that it is read no later than it would have been.
 */
export async function writeAside(
  { model, context }: Pick<Loaded, 'model' | 'context'>,
  { messages, maxTokens, ...request }: AsideRequest,
  signal: AbortSignal,
): Promise<string | null> {
  const own = promptOptionsIn(request);
  const held = context.tokens();
  const [asked, next] = [
    await model.chatTokens(messages.slice(0, -2), own),
    // the beginning of whatever is asked next
    await model.chatTokens([...messages.slice(0, -1), { role: 'user', content: '1' }], own),
  ];
  if (commonPrefix(held, asked) < asked.length) return null;
  for (const way of [{ thinking: false }, { thinkingBudget: 0 }]) {
    const { thinkingBudget, ...options } = { ...own, ...way };
    const prompt = await model.chatTokens(messages, options);
    if (prompt.length + maxTokens >= context.effective.nCtx) return null;
    const kept = commonPrefix(prompt, next);
    // a template that says in its first lines whether the model thinks
    if (kept < commonPrefix(held, next)) continue;
    const ask = (prompted: typeof messages | Int32Array, most: number) =>
      textOf(context.generate(prompted, { ...options, ...plainly(most, thinkingBudget), signal }));
    const text = await ask(messages, maxTokens);
    if (!signal.aborted) await ask(prompt.slice(0, kept), 1);
    return signal.aborted ? null : text;
  }
  return null;
}

function plainly(maxTokens: number, thinkingBudget: number | undefined): GenerateOptions {
  const sampling = { temperature: 0, topK: 1, topP: 1, minP: 0, repeatPenalty: 1, seed: 1, thinkingBudget };
  return { sampling, stop: [], maxTokens };
}

async function textOf(steps: ReturnType<Context['generate']>): Promise<string> {
  for (;;) {
    const step = await steps.next();
    if (step.done) return step.value.text;
  }
}

// Whether drafting pays is measured over the answers of a chat. Another context has other speeds, and measures anew.

const trials = new WeakMap<Context, Map<string, DraftTrial>>();

function trialOf(context: Context, chatId: string): Pick<GenerateOptions, 'trial'> {
  const trial = trials.get(context)?.get(chatId);
  return trial ? { trial } : {};
}

function keepTrial(context: Context, chatId: string, trial: DraftTrial): void {
  if (!drafts(context)) return;
  const ofContext = trials.get(context) ?? new Map<string, DraftTrial>();
  trials.set(context, ofContext.set(chatId, trial));
}

function perSecond(count: number, ms: number): number {
  return ms > 0 && count > 0 ? (count / ms) * 1000 : 0;
}

// Gathers what decode steps add and sends it as frames, at most one in `flushMs`: a window paints 60 times a second.

export const flushMs = 25;

interface FrameContent {
  text: string;
  thinking: string;
  stats: LiveStats;
}

/** `Ids`: what names the answer in each frame. */
export class FrameBatcher<Ids extends object> {
  private text = '';
  private thinking = '';
  private timer: NodeJS.Timeout | null = null;
  private lastSentAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly ids: Ids,
    private readonly stats: () => LiveStats,
    private readonly send: (frame: Ids & FrameContent) => void,
  ) {}

  /** Call it with empty strings when only the figures changed. */
  add(text: string, thinking: string): void {
    this.text += text;
    this.thinking += thinking;
    if (this.timer) return;
    const wait = this.lastSentAt + flushMs - performance.now();
    this.timer = setTimeout(() => this.flush(), Math.max(0, wait));
  }

  /** Sends what is there now, even if it is only figures. */
  flush(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    this.lastSentAt = performance.now();
    const frame = { ...this.ids, text: this.text, thinking: this.thinking, stats: this.stats() };
    this.text = '';
    this.thinking = '';
    this.send(frame);
  }

  /** Sends the rest, if there is any, and stops. */
  close(): void {
    if (this.timer || this.text || this.thinking) this.flush();
  }
}

// One answer at a time: later requests wait in order, and a waiting one can be canceled like a running one.

interface Entry {
  requestId: string;
  controller: AbortController;
}

export class GenerationQueue {
  private readonly entries: Entry[] = [];
  private readonly queue = new SerialQueue();

  get length(): number {
    return this.entries.length;
  }

  /** of this id */
  count(requestId: string): number {
    return this.entries.filter((entry) => entry.requestId === requestId).length;
  }

  /** Runs `task` when all earlier ones have ended. A canceled task still runs: it sees its signal and ends at once. */
  run<T>(requestId: string, task: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const entry: Entry = { requestId, controller: new AbortController() };
    this.entries.push(entry);
    return this.queue.run(async () => {
      try {
        return await task(entry.controller.signal);
      } finally {
        this.entries.splice(this.entries.indexOf(entry), 1);
      }
    });
  }

  cancel(requestId: string): void {
    for (const entry of this.entries) if (entry.requestId === requestId) entry.controller.abort();
  }

  /** Cancels everything and resolves when nothing runs. */
  async drain(): Promise<void> {
    for (const entry of this.entries) entry.controller.abort();
    await this.queue.idle();
  }
}
