/** One answer while it is written: gathers its frames and puts the new text on disk about once a second. */

import { msg } from '@lingui/core/runtime-macro';
import {
  type AnswerStats,
  type Drafts,
  holdsPassages,
  type Message,
  releasedOf,
  reserveOf,
  type StopReason,
} from '../../contract/chats';
import type { GenerationResult, StreamFrame } from '../../contract/engine';
import type { GenerateRequest, PromptMessage } from '../../contract/engineContract';
import { ConcertinaError } from '../../contract/errors';
import type { Settings } from '../../contract/settings';
import { type PromptCall, roundMessageId, type ToolCall, type ToolRound } from '../../contract/tools/tools';
import type { EngineService } from '../engine/engineService';
import type { KeptRecord } from './chatLog';
import type { ChatStore } from './chatStore';
import { fitBranch } from './contextShift';
import type { BranchMessage } from './promptBranch';
import type { ChatOptions } from './promptBuilder';
import type { SummaryProgress } from './summaryProgress';

const saveEveryMs = 1000;

export class RunningAnswer {
  readonly controller = new AbortController();
  /** with what has come in frames */
  text: string;
  thinking: string;
  /** what the engine gave as results: the parts that have ended */
  written: { text: string; thinking: string };
  stats: AnswerStats | null;
  leftOut: number | undefined;
  released: number | undefined;
  /** of a summary: takes the frames of its parts */
  summary: SummaryProgress | null = null;
  /** what was written and called before `text` */
  rounds: readonly ToolRound[];
  /** what the engine said last that the answer asks for */
  asks: readonly PromptCall[] = [];
  /** more passages of earlier questions left the prompt, and nothing of the answer was written yet */
  onReleased: () => void = () => undefined;
  private savedText: number;
  private savedThinking: number;
  private timer: NodeJS.Timeout | null = null;
  private saving: Promise<void> = Promise.resolve();

  constructor(
    readonly requestId: string,
    readonly chatId: string,
    /** as it was created, without text; or as it was stopped, when it is continued */
    readonly message: Message,
    private readonly store: ChatStore,
    private readonly onSaveFailed: (error: unknown) => void,
  ) {
    this.text = message.text;
    this.thinking = message.thinking;
    this.written = { text: message.text, thinking: message.thinking };
    this.stats = message.stats;
    this.leftOut = message.leftOut;
    this.released = message.released;
    this.rounds = message.rounds ?? [];
    this.savedText = this.text.length;
    this.savedThinking = this.thinking.length;
  }

  add(frame: StreamFrame): void {
    if (frame.messageId !== this.frameId) {
      this.summary?.receive(frame);
      return;
    }
    this.text += frame.text;
    this.thinking += frame.thinking;
    const isNew = this.text.length > this.savedText || this.thinking.length > this.savedThinking;
    if (isNew) this.timer ??= setTimeout(() => this.save(), saveEveryMs);
  }

  /** of the frames of what is written now */
  get frameId(): string {
    return roundMessageId(this.message.id, this.rounds.length);
  }

  /** The answer as it is now. */
  get current(): Message {
    const { text, thinking, rounds } = this;
    return { ...this.message, text, thinking, ...(rounds.length > 0 && { rounds: [...rounds] }) };
  }

  /** What is written goes before these calls, and the answer goes on behind their results. */
  async endRound(calls: ToolCall[]): Promise<void> {
    await this.settle();
    const round = { ...this.written, calls };
    this.rounds = [...this.rounds, round];
    this.text = '';
    this.thinking = '';
    this.written = { text: '', thinking: '' };
    this.savedText = 0;
    this.savedThinking = 0;
    this.asks = [];
    await this.keep({ type: 'round', id: this.message.id, round });
  }

  /** Of the last round. */
  async setCall(index: number, call: ToolCall): Promise<void> {
    const round = this.rounds.length - 1;
    this.rounds = this.rounds.map((one, i) =>
      i === round ? { ...one, calls: one.calls.map((before, j) => (j === index ? call : before)) } : one,
    );
    await this.keep({ type: 'call', id: this.message.id, round, index, call });
  }

  private async keep(record: KeptRecord): Promise<void> {
    await this.store.keep(this.chatId, record).catch(this.onSaveFailed);
  }

  /** The engine has ended a part; `stats`: of all parts so far. */
  endPart(
    { text, thinking, toolCalls }: Pick<GenerationResult, 'text' | 'thinking' | 'toolCalls'>,
    stats: AnswerStats,
  ): void {
    this.asks = toolCalls;
    this.written = { text: this.written.text + text, thinking: this.written.thinking + thinking };
    this.stats = stats;
  }

  /**
   * Passages of so many questions are out of its prompt; of `before` of them since earlier answers. More of them are written down
   * before the engine is asked, so that they stay out however this answer ends.
   */
  async release(count: number, before: number): Promise<void> {
    const known = Math.max(before, this.released ?? 0);
    this.released = count || undefined;
    if (count <= known) return;
    await this.keep({ type: 'release', id: this.message.id, released: count });
    if (this.text === this.message.text) this.onReleased();
  }

  /** No more partial records after this. */
  async close(): Promise<void> {
    await this.settle();
    await this.summary?.close();
  }

  private async settle(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    await this.saving;
  }

  private save(): void {
    this.timer = null;
    const text = this.text.slice(this.savedText);
    const thinking = this.thinking.slice(this.savedThinking);
    this.savedText = this.text.length;
    this.savedThinking = this.thinking.length;
    // the final record holds the whole text again, so a failure here costs at most the recovery after a crash
    this.saving = this.store.addPartial(this.chatId, this.message.id, text, thinking).catch(this.onSaveFailed);
  }
}

// Asks the engine for one answer: at once, or in parts where the context fills up and the person lets old messages go.

export type WritingEngine = Pick<EngineService, 'whenReady' | 'countTokens' | 'contextSize' | 'generate'>;

/** The prompt of a branch, which ends in the question, and of parts of it. */
export interface BranchPrompt {
  branch: readonly BranchMessage[];
  messages: PromptMessage[];
  build(some: readonly BranchMessage[]): Promise<PromptMessage[]>;
  options: ChatOptions;
  /** that of an answer with these rounds, which stand behind the question */
  behind(rounds: readonly ToolRound[]): Promise<BranchPrompt>;
}

export class AnswerWriter {
  constructor(
    private readonly engine: WritingEngine,
    private readonly settings: () => Settings,
  ) {}

  /** What is written is in `answer`; the result says how it ended. */
  async write(answer: RunningAnswer, prompt: BranchPrompt): Promise<StopReason> {
    let left = this.settings().sampling.maxTokens ?? 0;
    for (let part = 1; ; part++) {
      const rolls = this.settings().overflow === 'roll';
      const fits = rolls || holdsEarlier(prompt.branch);
      const messages = fits ? await this.fit(answer, prompt, { rolls, part }) : prompt.messages;
      if (!messages && part === 1) throw tooLong(rolls, this.engine.contextSize());
      if (!messages) return 'context-full';
      const { stopReason, stats } = await this.part(answer, prompt.options, messages, left);
      if (stopReason !== 'context-full' || !rolls || stats.answerTokens === 0) return stopReason;
      if (left > 0) left = Math.max(1, left - stats.answerTokens);
    }
  }

  private async part(
    answer: RunningAnswer,
    { mustCall, ...options }: ChatOptions,
    messages: PromptMessage[],
    maxTokens: number,
  ): Promise<GenerationResult> {
    const { requestId, chatId, frameId, controller } = answer;
    const goesOn = continueFrom(answer);
    // a call that begins the answer is made, or begun
    const forced = mustCall && answer.rounds.length === 0 && !goesOn.continueFrom;
    const request: GenerateRequest = {
      ...{ requestId, chatId, messageId: frameId, messages, jsonSchema: null },
      ...{ ...options, ...goesOn, ...(forced && { mustCall }) },
      sampling: { ...this.settings().sampling, maxTokens },
    };
    const result = await this.engine.generate(request, controller.signal);
    answer.endPart(result, addStats(answer.stats, result.stats));
    return result;
  }

  /**
   * The prompt without what has to go for it; null: that is not enough. An answer begins with less room than is kept for it,
   * too, as long as there is some: the person was warned.
   */
  private async fit(
    answer: RunningAnswer,
    { branch, build, options: asked }: BranchPrompt,
    { rolls, part }: { rolls: boolean; part: number },
  ): Promise<PromptMessage[] | null> {
    await this.engine.whenReady(answer.controller.signal);
    const contextSize = this.engine.contextSize();
    const tokens = contextSize - reserveOf(this.settings().documents.reserve, contextSize);
    const options = { ...asked, ...continueFrom(answer) };
    const count = async (some: BranchMessage[]) => (await this.engine.countTokens(await build(some), options)).tokens;
    const fitted = await fitBranch(branch, count, { tokens, rolls }, answer);
    if (!fitted.fits && (part > 1 || fitted.total >= contextSize)) return null;
    answer.leftOut = fitted.leftOut || undefined;
    await answer.release(fitted.released, releasedOf(branch));
    return build(fitted.branch);
  }
}

/** Passages of questions before the one that is answered may be in the way. */
function holdsEarlier(branch: readonly Message[]): boolean {
  return branch.slice(0, -1).some(holdsPassages);
}

function continueFrom({ written }: RunningAnswer): Pick<GenerateRequest, 'continueFrom'> {
  return written.text || written.thinking ? { continueFrom: written } : {};
}

function tooLong(rolls: boolean, contextSize: number): ConcertinaError {
  const without = rolls
    ? 'the older messages, the question with its documents'
    : 'the passages of earlier questions, the chat';
  return new ConcertinaError(
    'context-full',
    msg`Even without ${{ without }} does not fit into the context of ${{ contextSize: contextSize }} tokens.`,
    msg`Raise the context length, choose a smaller cache type, or attach less of the documents.`,
  );
}

// An answer that was continued is written in several parts: what its figures are as a whole. Pure.

/** Tokens are added up; rates are over the time of all parts; what a cache is (type, length, use) is as the last part found it. */
export function addStats(before: AnswerStats | null, now: AnswerStats): AnswerStats {
  if (!before) return now;
  const read = (stats: AnswerStats) => stats.promptTokens - stats.cachedTokens;
  return {
    ...now,
    promptTokens: before.promptTokens + now.promptTokens,
    cachedTokens: before.cachedTokens + now.cachedTokens,
    restoredTokens: before.restoredTokens + now.restoredTokens,
    rereadTokens: before.rereadTokens + now.rereadTokens,
    answerTokens: before.answerTokens + now.answerTokens,
    ttftMs: before.ttftMs || now.ttftMs,
    promptTokensPerSecond: rateOf([
      [read(before), before.promptTokensPerSecond],
      [read(now), now.promptTokensPerSecond],
    ]),
    tokensPerSecond: rateOf([
      [before.answerTokens, before.tokensPerSecond],
      [now.answerTokens, now.tokensPerSecond],
    ]),
    parts: before.parts + now.parts,
    ...(now.drafts && { drafts: addDrafts(before.drafts, now.drafts) }),
  };
}

function addDrafts(before: Drafts | undefined, now: Drafts): Drafts {
  if (!before) return now;
  return { ...now, drafted: before.drafted + now.drafted, accepted: before.accepted + now.accepted };
}

/** Of all tokens over all the time; parts whose rate was not measured are left out. */
function rateOf(parts: [tokens: number, perSecond: number][]): number {
  const measured = parts.filter(([tokens, perSecond]) => tokens > 0 && perSecond > 0);
  const seconds = measured.reduce((sum, [tokens, perSecond]) => sum + tokens / perSecond, 0);
  return seconds > 0 ? measured.reduce((sum, [tokens]) => sum + tokens, 0) / seconds : 0;
}
