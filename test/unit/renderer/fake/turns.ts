/** The turns of the fake services: a question, and an answer that comes word by word with figures that are plausible. */
import type { Message } from '@/electron/contract/chats';
import type { Handlers } from '@/electron/contract/contract';
import type { LiveStats } from '@/electron/contract/engine';
import { budgetOf } from '../fakeData';
import type { FakeState } from './state';

const tokensPerSecond = 42.3;

export function turnHandlers(state: FakeState): Partial<Handlers> {
  const answers = new Answers(state);
  const messageOf = (chatId: string, id: string | null | undefined) =>
    state.chat(chatId).messages.find((message) => message.id === id);

  return {
    'turns.budget': async (input) => budgetOf(input, state.settings.context.nCtx),
    'turns.send': async (input) => {
      const question = state.message({ ...questionOf(input), parentId: input.parentId });
      return answers.turn(input.chatId, question);
    },
    'turns.edit': async (input) => {
      const parentId = messageOf(input.chatId, input.messageId)?.parentId ?? null;
      return answers.turn(input.chatId, state.message({ ...questionOf(input), parentId }));
    },
    'turns.regenerate': async ({ chatId, messageId }) => {
      const question = messageOf(chatId, messageOf(chatId, messageId)?.parentId);
      if (!question) throw new Error('no question');
      return answers.turn(chatId, question, true);
    },
    'turns.continue': async ({ chatId, messageId }) => {
      const answer = messageOf(chatId, messageId);
      const question = messageOf(chatId, answer?.parentId);
      if (!answer || !question) throw new Error('no such answer');
      const opened = { ...answer, stopReason: null };
      state.append(chatId, opened);
      return answers.begin(chatId, opened, question, null);
    },
    'turns.stop': async ({ requestId }) => answers.stop(requestId),
  };
}

class Answers {
  private stopped = new Set<string>();

  constructor(private readonly state: FakeState) {}

  stop(requestId: string): void {
    this.stopped.add(requestId);
  }

  turn(chatId: string, question: Message, again = false) {
    const assistantMessage = this.state.message({ parentId: question.id, role: 'assistant', text: '' });
    this.state.append(chatId, ...(again ? [] : [question]), assistantMessage);
    return this.begin(chatId, assistantMessage, question, again ? null : question);
  }

  begin(chatId: string, assistantMessage: Message, question: Message, userMessage: Message | null) {
    const requestId = this.state.nextId('request');
    for (const message of [userMessage, assistantMessage])
      if (message) this.state.emit('onMessage', { chatId, message });
    void this.generate(requestId, chatId, assistantMessage, question.text);
    return { requestId, userMessage, assistantMessage };
  }

  private async generate(requestId: string, chatId: string, message: Message, question: string): Promise<void> {
    const stats = statsBefore(question, this.state.settings.context.nCtx);
    const frame = (text: string, thinking = '') =>
      this.state.emit('onStream', { requestId, chatId, messageId: message.id, text, thinking, stats });
    this.state.setStatus({ state: 'generating' });
    const began = Date.now();
    await this.prefill(requestId, stats, frame);
    stats.phase = 'decode';
    stats.ttftMs = Date.now() - began;
    const text = message.text + (await this.decode(requestId, question, stats, frame));
    this.end(
      chatId,
      { ...message, text, stopReason: this.stopped.has(requestId) ? 'cancelled' : 'end-of-turn' },
      stats,
    );
  }

  private async prefill(requestId: string, stats: LiveStats, frame: (text: string) => void): Promise<void> {
    const began = Date.now();
    while (stats.prefillDone < stats.promptTokens && !this.stopped.has(requestId)) {
      await this.state.rest();
      stats.prefillDone = Math.min(stats.promptTokens, stats.prefillDone + 24);
      stats.promptTokensPerSecond = (stats.prefillDone / Math.max(1, Date.now() - began)) * 1000;
      stats.contextUsed = stats.prefillDone;
      frame('');
    }
  }

  /** @returns the words that were written */
  private async decode(requestId: string, question: string, stats: LiveStats, frame: (text: string) => void) {
    let text = '';
    for (const word of this.state.answerTo(question).match(/\s*\S+/g) ?? []) {
      if (this.stopped.has(requestId)) break;
      await this.state.rest();
      text += word;
      stats.answerTokens += 1;
      stats.contextUsed += 1;
      stats.tokensPerSecondNow = 40 + (stats.answerTokens % 7);
      stats.tokensPerSecondAverage = tokensPerSecond;
      frame(word);
    }
    return text;
  }

  private end(chatId: string, answer: Message, stats: LiveStats): void {
    const { promptTokens, answerTokens, ttftMs, promptTokensPerSecond, contextUsed, contextSize } = stats;
    const { typeK, typeV } = this.state.settings.context;
    const done: Message = {
      ...answer,
      stats: {
        ...{ promptTokens, cachedTokens: 0, restoredTokens: 0, rereadTokens: 0, parts: 1, answerTokens },
        ...{
          ttftMs: ttftMs ?? 0,
          promptTokensPerSecond,
          tokensPerSecond,
          contextUsed,
          contextSize,
          typeK,
          typeV,
          seed: 7,
        },
      },
    };
    this.state.append(chatId, done);
    this.state.emit('onMessage', { chatId, message: done });
    this.state.setStatus({ state: 'ready', contextUsed });
  }
}

function statsBefore(question: string, contextSize: number): LiveStats {
  return {
    phase: 'prefill',
    promptTokens: Math.ceil(question.length / 4.1) + 12,
    cachedTokens: 0,
    prefillDone: 0,
    promptTokensPerSecond: 0,
    promptTokensPerSecondNow: 0,
    prefillMsLeft: null,
    ttftMs: null,
    answerTokens: 0,
    tokensPerSecondNow: 0,
    tokensPerSecondAverage: 0,
    contextUsed: 0,
    contextSize,
  };
}

function questionOf({ text, attachments = [] }: Pick<Message, 'text'> & Partial<Pick<Message, 'attachments'>>) {
  return { role: 'user' as const, text, attachments };
}
