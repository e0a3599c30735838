/** Asks the engine for one answer: at once, or in parts where the context fills up and the person lets old messages go. */

import type { Message, StopReason } from '../../contract/chats';
import type { GenerationResult } from '../../contract/engine';
import type { GenerateRequest, PromptMessage, PromptOptions } from '../../contract/engineContract';
import { ConcertinaError } from '../../contract/errors';
import { reserveOf } from '../../contract/promptBudget';
import { holdsPassages, releasedOf } from '../../contract/released';
import type { Settings } from '../../contract/settings';
import { addStats } from './answerParts';
import { fitBranch } from './overflow';
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
    let left = this.settings().sampling.maxTokens;
    for (let part = 1; ; part++) {
      const rolls = this.settings().overflow === 'roll';
      const fits = rolls || holdsEarlier(prompt.branch);
      const messages = fits ? await this.fit(answer, prompt, { rolls, part }) : prompt.messages;
      if (!messages && part === 1) throw tooLong(rolls, this.engine.contextSize());
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

  /**
   * The prompt without what has to go for it; null: that is not enough. An answer begins with less room than is kept for it,
   * too, as long as there is some: the person was told.
   */
  private async fit(
    answer: RunningAnswer,
    { branch, build, now }: BranchPrompt,
    { rolls, part }: { rolls: boolean; part: number },
  ): Promise<PromptMessage[] | null> {
    await this.engine.whenReady(answer.controller.signal);
    const contextSize = this.engine.contextSize();
    const tokens = contextSize - reserveOf(this.settings().documents.reserve, contextSize);
    const options = { now, ...continueFrom(answer) };
    const count = async (some: Message[]) => (await this.engine.countTokens(await build(some), options)).tokens;
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
    `Even without ${without} does not fit into the context of ${contextSize.toLocaleString('en-US')} tokens.`,
    'Raise the context length, choose a smaller cache type, or attach less of the documents.',
  );
}
