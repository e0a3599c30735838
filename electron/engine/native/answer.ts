/**
 * Answers of one context. A chat becomes the tokens of a prompt; llama-server's core chooses the answer's, holds back what may
 * turn out to be a stop string and gives whole characters; what it streams becomes chunks, with thinking apart.
 */
import { msg } from '@lingui/core/runtime-macro';
import { canGoOn } from '../../contract/chats';
import type { EffectiveContext } from '../../contract/engine';
import { ConcertinaError } from '../../contract/errors';
import { AnswerText, nothing, type Parts } from './answerText';
import {
  beginningWithCall,
  type ChatParams,
  checkConstraint,
  completionFields,
  noChat,
  readPrompt,
} from './chatRequest';
import { Drafting, noTrial } from './drafting';
import type { RawAddon, RawCancellation, RawCompletionStep, RawContext, RawModel } from './raw';
import type { ChatMessage, GenerateChunk, GenerateOptions, GenerateResult, TokenProbability } from './types';

export interface Native {
  addon: RawAddon;
  model: RawModel;
  context: RawContext;
  effective: EffectiveContext;
}

interface Prompt {
  params: ChatParams;
  tokens: Int32Array;
  /** of the answer, when the prompt ends inside it: what the core gave of it */
  raw: string;
}

/** An answer that was stopped, to go on with its own tokens and not with those that its text would make. */
interface Stopped extends Prompt {
  /** as the caller has it */
  shown: Parts;
}

export class Answers {
  readonly #native: Native;
  #stopped: Stopped | null = null;
  /** a chat becomes a prompt: the addon does not know yet that its context is at work */
  #preparing = false;

  constructor(native: Native) {
    this.#native = native;
  }

  /** Throws `busy`. */
  checkIdle(): void {
    if (this.#preparing) {
      throw new ConcertinaError('busy', msg`This context is at work`, msg`Wait for the answer, or stop it.`);
    }
  }

  /** Calls of `push` and `onPrefill` come before it resolves. Rejects as `Context.generate` does. */
  async write(
    prompt: ChatMessage[] | Int32Array,
    options: GenerateOptions,
    cancellation: RawCancellation,
    push: (chunk: GenerateChunk) => void,
  ): Promise<GenerateResult> {
    const called = performance.now();
    const { context, effective } = this.#native;
    this.checkIdle();
    checkConstraint(options);
    let ready: Prompt;
    this.#preparing = true;
    try {
      // no other job may come between when there is nothing to wait for
      ready =
        prompt instanceof Int32Array
          ? { params: noChat, tokens: prompt, raw: '' }
          : await this.#prepare(prompt, options, cancellation);
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'cancelled') throw error;
      return { ...emptyResult(options), contextUsed: context.contextUsed };
    } finally {
      this.#preparing = false;
    }
    const { length } = ready.tokens;
    if (length === 0) throw new ConcertinaError('bad-request', msg`The prompt is empty`, msg`Write something first.`);
    if (length >= effective.nCtx) {
      throw new ConcertinaError(
        'context-full',
        msg`The prompt has ${{ length }} tokens, the context holds ${{ nCtx: effective.nCtx }}`,
        msg`Choose a longer context, start a new chat or shorten the text.`,
      );
    }
    this.#stopped = null;
    const answer = new Answer(this.#native, ready, options, called, push);
    const asked = JSON.stringify(answer.asked());
    const take = (steps: RawCompletionStep[]) => answer.take(steps);
    const { kept, upstream } = await context.complete(ready.tokens, asked, answer.drafting.on, take, cancellation);
    const result = answer.finish();
    const { stopReason, text, thinking } = result;
    if (canGoOn(stopReason) && !(prompt instanceof Int32Array)) {
      const { continueFrom: before = nothing } = options;
      const shown = { text: before.text + text, thinking: before.thinking + thinking };
      this.#stopped = { params: ready.params, ...answer.soFar(), shown };
    }
    return { ...result, upstream, rereadTokens: kept - Math.min(kept, result.cachedTokens) };
  }

  /** With the same tokens when this is the answer that was stopped last, else with those of its text. */
  async #prepare(messages: ChatMessage[], options: GenerateOptions, cancellation: RawCancellation): Promise<Prompt> {
    const { effective } = this.#native;
    const read = async (some: GenerateOptions): Promise<Prompt> => {
      const { params, tokens } = await readPrompt(this.#native, messages, some, cancellation);
      const all: ChatParams = options.mustCall ? beginningWithCall(JSON.parse(params)) : JSON.parse(params);
      const { stop, message_delimiters, json_schema } = all;
      const own = json_schema === undefined ? {} : { json_schema };
      return {
        params:
          effective.templateSupport.thinking || options.tools?.length ? all : { stop, message_delimiters, ...own },
        tokens,
        raw: '',
      };
    };
    const { continueFrom = nothing, ...asked } = options;
    const stopped = this.#stopped;
    const { text, thinking } = continueFrom;
    const goesOn = text !== '' || thinking !== '';
    if (goesOn && stopped && stopped.shown.text === text && stopped.shown.thinking === thinking) {
      const { tokens } = await read(asked);
      if (begins(stopped.tokens, tokens)) return stopped;
    }
    return read(options);
  }
}

function begins(tokens: Int32Array, prefix: Int32Array): boolean {
  return prefix.length <= tokens.length && prefix.every((token, index) => token === tokens[index]);
}

// A line of the core's stream, as POST /completion has it.

interface Part {
  content: string;
  tokens: number[];
  tokens_predicted: number;
  timings: { prompt_ms: number; draft_n?: number; draft_n_accepted?: number };
  prompt_progress?: { cache: number; processed: number };
  completion_probabilities?: { top_logprobs: { id: number; logprob: number }[] }[];
}

interface End {
  stop: true;
  stop_type: 'eos' | 'word' | 'limit' | 'none';
  stopping_word: string;
  truncated: boolean;
}

class Answer {
  readonly #native: Native;
  readonly #prompt: Prompt;
  readonly #options: GenerateOptions;
  readonly #push: (chunk: GenerateChunk) => void;
  /** between the call and that of the addon */
  readonly #preparedMs: number;
  readonly #result: GenerateResult;
  readonly #text: AnswerText;
  #tokens: number[] = [];
  /** of them, up to the last one whose text was given */
  #whole = 0;
  #end: End | null = null;
  #chosen: { token: number; candidates: TokenProbability[] } | null = null;
  #elapsedMs = 0;
  readonly drafting: Drafting;

  constructor(
    native: Native,
    prompt: Prompt,
    options: GenerateOptions,
    called: number,
    push: (chunk: GenerateChunk) => void,
  ) {
    this.#native = native;
    this.#prompt = prompt;
    this.#options = options;
    this.#push = push;
    this.#preparedMs = performance.now() - called;
    this.#result = { ...emptyResult(options), promptTokens: prompt.tokens.length };
    this.#text = new AnswerText(native.addon, prompt.params, prompt.raw);
    const { context, effective } = native;
    // a draft that a grammar refuses would end the process
    const free = !options.jsonSchema && !options.grammar && !prompt.params.grammar;
    const drafts = effective.speculation.effective !== 'off';
    this.drafting = new Drafting(context, drafts, free, this.#result.trial);
  }

  asked(): object {
    const { params } = this.#prompt;
    const { stop, sampling } = this.#options;
    return {
      ...params,
      ...this.#budget(sampling.thinkingBudget ?? -1),
      ...completionFields(this.#options),
      stop: [...stop.filter(Boolean), ...params.stop],
    };
  }

  take(steps: RawCompletionStep[]): void {
    for (const step of steps) {
      const part: Part | End | null = JSON.parse(step.result);
      if (part === null) continue;
      if ('stop_type' in part) this.#end = part;
      else if (part.prompt_progress) this.#onPrefill(part.prompt_progress, part.timings.prompt_ms);
      else this.#onToken(part, step);
    }
  }

  finish(): GenerateResult {
    const stopReason = this.#stopReason();
    this.#result.contextUsed = this.#native.context.contextUsed;
    this.#give(this.#text.finish(canGoOn(stopReason)));
    const { toolCalls } = this.#text;
    return { ...this.#result, stopReason, ...this.#text.added(), toolCalls, trial: this.drafting.trial };
  }

  /** Up to the last token whose text was given: one inside a character comes again when the answer goes on. */
  soFar(): Omit<Prompt, 'params'> {
    const prompt = this.#prompt.tokens;
    const tokens = new Int32Array(prompt.length + this.#whole);
    tokens.set(prompt);
    tokens.set(this.#tokens.slice(0, this.#whole), prompt.length);
    return { tokens, raw: this.#text.raw };
  }

  #onPrefill({ cache, processed }: NonNullable<Part['prompt_progress']>, elapsedMs: number): void {
    const { promptTokens } = this.#result;
    Object.assign(this.#result, { cachedTokens: cache, promptMs: elapsedMs, contextUsed: processed });
    this.#options.onPrefill?.({ promptTokens, cachedTokens: cache, done: processed - cache, elapsedMs });
  }

  #onToken(part: Part, { elapsedMs, end }: RawCompletionStep): void {
    const result = this.#result;
    const { draft_n = 0, draft_n_accepted = 0 } = part.timings;
    this.#elapsedMs = this.#preparedMs + elapsedMs;
    if (result.ttftMs === 0) {
      result.ttftMs = this.#elapsedMs;
    } else {
      const stepMs = this.#elapsedMs - result.ttftMs - result.decodeMs;
      result.decodeTokens++;
      result.decodeMs += stepMs;
      this.drafting.step(part.tokens_predicted, stepMs);
    }
    result.drafts = { drafted: draft_n, accepted: draft_n_accepted, slower: this.drafting.slower };
    const [token = -1] = part.tokens;
    const found = part.completion_probabilities?.[0]?.top_logprobs ?? [];
    const candidates = found.map(({ id, logprob }) => ({ token: id, probability: Math.exp(logprob) }));
    this.#chosen = { token, candidates };
    const added = this.#text.push(part.content);
    if (!end) {
      result.answerTokens++;
      result.contextUsed = result.promptTokens + result.answerTokens - 1;
      this.#tokens.push(token);
      if (part.content) this.#whole = this.#tokens.length;
    }
    // a mark of the end comes with the end
    if (!end || added.text || added.thinking) this.#give(added);
  }

  #give({ text, thinking }: Parts): void {
    const { answerTokens, contextUsed, drafts } = this.#result;
    const { token, candidates } = this.#chosen ?? { token: null, candidates: [] };
    this.#chosen = null;
    this.#push({ text, thinking, answerTokens, contextUsed, elapsedMs: this.#elapsedMs, token, candidates, drafts });
  }

  #stopReason(): GenerateResult['stopReason'] {
    if (!this.#end) return 'cancelled';
    const { stop_type, stopping_word, truncated } = this.#end;
    if (stop_type === 'eos') return 'end-of-turn';
    if (stop_type === 'word') return this.#options.stop.includes(stopping_word) ? 'stop-string' : 'end-of-turn';
    return truncated ? 'context-full' : 'max-tokens';
  }

  // A template without marks of thinking has no budget.

  #budget(budget: number): object {
    const { grammar, generation_prompt = '', reasoning_budget_start_tag: start = '' } = this.#prompt.params;
    const ends = this.#prompt.params.reasoning_budget_end_tags ?? [];
    const limited = budget >= 0 && start !== '' && ends.length > 0;
    return {
      reasoning_budget_tokens: limited ? budget : -1,
      // a grammar needs all of it
      ...(!grammar && { generation_prompt: limited ? this.#openThinking(generation_prompt, start, ends, budget) : '' }),
    };
  }

  /**
   * The mark of thinking that is open at the end, and what stands behind it. No more tokens than the budget has: upstream takes
   * each beyond it for one of the end that it forces (reasoning-budget.cpp, FORCING).
   */
  #openThinking(generationPrompt: string, start: string, ends: string[], budget: number): string {
    const { model } = this.#native;
    const written = generationPrompt + this.#prompt.raw;
    const at = written.lastIndexOf(start);
    if (at < 0) return '';
    const thought = written.slice(at + start.length);
    if (ends.some((end) => thought.includes(end))) return '';
    return start + model.detokenize(model.tokenize(thought, false, true).slice(0, budget));
  }
}

function emptyResult({ sampling, trial }: GenerateOptions): GenerateResult {
  return {
    ...{ stopReason: 'cancelled', text: '', thinking: '', toolCalls: [] },
    ...{ promptTokens: 0, cachedTokens: 0, rereadTokens: 0, answerTokens: 0, contextUsed: 0 },
    ...{ ttftMs: 0, promptMs: 0, decodeMs: 0, decodeTokens: 0 },
    upstream: { promptMs: 0, promptTokens: 0, decodeMs: 0, decodeTokens: 0 },
    ...{ seed: sampling.seed, drafts: { drafted: 0, accepted: 0, slower: false }, trial: trial ?? noTrial },
  };
}
