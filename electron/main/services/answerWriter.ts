/** Asks the engine for one answer: at once, or in parts where the context fills up and the person lets old messages go. */
import { reserveOf } from '../../shared/budget';
import type { Message, StopReason } from '../../shared/chats';
import type { GenerationResult } from '../../shared/engine';
import type { GenerateRequest, PromptMessage, PromptOptions } from '../../shared/engineContract';
import { ConcertinaError } from '../../shared/errors';
import type { Settings } from '../../shared/settings';
import { addStats } from './answerParts';
import { rollBranch } from './overflow';
import type { RunningAnswer } from './runningAnswer';

/** What writing needs of the engine; `EngineService` is one. */
export interface WritingEngine {
  /** a model is loaded; rejects when none is on its way */
  whenReady(signal: AbortSignal): Promise<void>;
  countTokens(messages: PromptMessage[], options: PromptOptions): Promise<{ tokens: number }>;
  contextSize(): number;
  generate(request: GenerateRequest, signal: AbortSignal): Promise<GenerationResult>;
}

/** The prompt of a branch, which ends in the question, and of parts of it. */
export interface BranchPrompt {
  branch: readonly Message[];
  messages: PromptMessage[];
  build(some: readonly Message[]): Promise<PromptMessage[]>;
  /** see `GenerateRequest` */
  now: number;
}

export class AnswerWriter {
  constructor(
    private readonly engine: WritingEngine,
    private readonly settings: () => Settings,
  ) {}

  /** What is written is in `answer`; the result says how it ended. */
  async write(answer: RunningAnswer, prompt: BranchPrompt): Promise<StopReason> {
    let messages: PromptMessage[] | null = prompt.messages;
    let left = this.settings().sampling.maxTokens;
    for (let part = 1; ; part++) {
      const rolls = this.settings().overflow === 'roll';
      if (rolls) messages = await this.roll(answer, prompt);
      if (!messages && part === 1) throw tooLong(this.engine.contextSize());
      if (!messages) return 'context-full';
      const { stopReason, stats } = await this.part(answer, prompt.now, messages, left);
      if (stopReason !== 'context-full' || !rolls || stats.answerTokens === 0) return stopReason;
      if (left > 0) left = Math.max(1, left - stats.answerTokens);
    }
  }

  private async part(
    answer: RunningAnswer,
    now: number,
    messages: PromptMessage[],
    maxTokens: number,
  ): Promise<GenerationResult> {
    const { requestId, chatId, message, controller } = answer;
    const request: GenerateRequest = {
      ...{ requestId, chatId, messageId: message.id, messages, now, jsonSchema: null },
      ...continueFrom(answer),
      sampling: { ...this.settings().sampling, maxTokens },
    };
    const result = await this.engine.generate(request, controller.signal);
    answer.endPart(result.text, result.thinking, addStats(answer.stats, result.stats));
    return result;
  }

  /** The prompt without the turns that have to go; null: that is not enough. */
  private async roll(answer: RunningAnswer, { branch, build, now }: BranchPrompt): Promise<PromptMessage[] | null> {
    await this.engine.whenReady(answer.controller.signal);
    const contextSize = this.engine.contextSize();
    const room = contextSize - reserveOf(this.settings().documents.reserve, contextSize);
    const options = { now, ...continueFrom(answer) };
    const count = async (some: Message[]) => (await this.engine.countTokens(await build(some), options)).tokens;
    const rolled = await rollBranch(branch, count, room, answer.leftOut);
    if (!rolled) return null;
    answer.leftOut = rolled.leftOut || undefined;
    return build(rolled.branch);
  }
}

function continueFrom({ written }: RunningAnswer): Pick<GenerateRequest, 'continueFrom'> {
  return written.text || written.thinking ? { continueFrom: written } : {};
}

function tooLong(contextSize: number): ConcertinaError {
  return new ConcertinaError(
    'context-full',
    `Even without the older messages, the question with its documents does not fit into the context of ${contextSize.toLocaleString('en-US')} tokens.`,
    'Raise the context length, choose a smaller cache type, or attach less of the documents.',
  );
}
