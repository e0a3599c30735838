/**
 * Briefs of the oldest messages: what one would cost, its writing by the model, and what a person changes of it. It is asked
 * for behind the messages themselves, of which the context mostly still holds what it has read.
 */

import { randomUUID } from 'node:crypto';
import { msg } from '@lingui/core/runtime-macro';
import { type Chat, type Message, reserveOf } from '../../contract/chats';
import type { StreamFrame } from '../../contract/engine';
import type { GenerateRequest, PromptMessage } from '../../contract/engineContract';
import { ConcertinaError, toErrorPayload } from '../../contract/errors';
import {
  type Brief,
  type BriefPlan,
  type BriefProgress,
  briefMark,
  briefMessageId,
  briefOn,
  briefShare,
  coveredBy,
} from '../../contract/lib/brief';
import type { Settings } from '../../contract/settings';
import type { EngineService } from '../engine/engineService';
import { Emitter } from '../lib/emitter';
import type { Logger } from '../lib/logger';
import { branchTo, findMessage } from './chatLog';
import type { ChatStore } from './chatStore';
import { promptBranch, reachesOf } from './promptBranch';
import { chatOptions, type Questions } from './promptBuilder';

/** What is shorter is not worth a brief. */
const leastReplaced = 200;
const leastOfBrief = 64;
/** "The text does not say." is no brief. */
const leastWritten = 8;

const request =
  'Write a brief of our conversation so far, for yourself to go on from: what I asked and want, what was found and decided, ' +
  'with names, numbers, dates and exact terms, and what is still open. Leave out what documents say. ' +
  'Short plain sentences, in the language of our conversation, no introduction.';

type BriefEngine = Pick<
  EngineService,
  'whenReady' | 'generate' | 'frames' | 'countTokens' | 'countTexts' | 'contextSize' | 'status' | 'modelName'
>;

interface Running {
  controller: AbortController;
  requestId: string;
  /** null: it is being planned */
  progress: BriefProgress | null;
  done: Promise<void>;
}

/** The answers of all chats. */
interface Answers {
  isAnswering(chatId: string): boolean;
  readonly finished: Emitter<{ chatId: string; message: Message }>;
}

interface Place {
  chat: Chat;
  leafId: string | null;
  /** of the context */
  size: number;
}

interface Planned {
  plan: BriefPlan;
  chat: Chat;
  messages: PromptMessage[];
}

export class Briefs {
  readonly progressed = new Emitter<BriefProgress>();
  /** by chat */
  private readonly running = new Map<string, Running>();

  constructor(
    private readonly chats: Pick<ChatStore, 'open' | 'note'>,
    private readonly engine: BriefEngine,
    private readonly questions: Pick<Questions, 'promptBefore' | 'total'>,
    private readonly turns: Answers,
    private readonly settings: () => Settings,
    log: Logger,
  ) {
    engine.frames.on((frame) => this.follow(frame));
    turns.finished.on(({ chatId, message: { id, stats, stopReason } }) => {
      const ended = stopReason === 'end-of-turn' || stopReason === 'stop-string' || stopReason === 'max-tokens';
      const isFull = stats !== null && stats.contextUsed > stats.contextSize * briefMark;
      if (this.settings().overflow !== 'brief' || !ended || !isFull) return;
      this.start(chatId, () => this.planned(chatId, id)).catch((error) =>
        log.warn(`No brief was begun: ${String(error)}`),
      );
    });
  }

  async plan(chatId: string, leafId: string | null): Promise<BriefPlan | null> {
    await this.engine.whenReady(new AbortController().signal);
    return (await this.planned(chatId, leafId))?.plan ?? null;
  }

  async make(chatId: string, leafId: string | null): Promise<void> {
    if (this.turns.isAnswering(chatId)) {
      throw new ConcertinaError('busy', msg`An answer is being written.`, msg`Wait for it, or stop it.`);
    }
    await this.start(chatId, async () => {
      const planned = await this.planned(chatId, leafId);
      if (planned) return planned;
      const hint = 'The last two questions, and messages with documents, are never shortened.';
      throw new ConcertinaError('bad-request', msg`There is too little to shorten in this chat.`, hint);
    });
  }

  cancel(chatId: string): void {
    this.running.get(chatId)?.controller.abort();
  }

  /** Resolves when no brief of this chat is being written. */
  async settled(chatId: string): Promise<void> {
    await this.running.get(chatId)?.done;
  }

  async close(): Promise<void> {
    const all = [...this.running.values()];
    for (const { controller } of all) controller.abort();
    await Promise.all(all.map(({ done }) => done));
  }

  async edit(chatId: string, briefId: string, text: string): Promise<Brief> {
    const known = (await this.chats.open(chatId)).briefs.find(({ id }) => id === briefId);
    if (!known) throw new ConcertinaError('not-found', msg`This brief is not there any more.`);
    // without a model it cannot be counted
    const [tokens = known.tokens] = await this.engine.countTexts([text]).catch(() => []);
    const brief = { ...known, text, tokens, edited: true };
    await this.chats.note(chatId, (at) => ({ type: 'brief', version: 1, at, brief }));
    return brief;
  }

  async remove(chatId: string, briefId: string): Promise<void> {
    await this.chats.note(chatId, (at) => ({ type: 'unbrief', version: 1, at, briefId }));
  }

  /** As far as there is room to write it behind the messages that it replaces. */
  private async planned(chatId: string, leafId: string | null): Promise<Planned | null> {
    const chat = await this.chats.open(chatId);
    const path = branchTo(chat, leafId);
    const before = path.findIndex(({ id }) => id === briefOn(path, chat.briefs)?.throughId);
    const reaches = reachesOf(path).filter((id) => path.findIndex((message) => message.id === id) > before);
    const size = this.engine.contextSize();
    const place = { chat, leafId, size };
    let [least, most, count] = [0, reaches.length, reaches.length];
    let best: Planned | null = null;
    // mostly there is room for all of them
    while (least < most) {
      const tried = await this.tried(place, reaches[count - 1] ?? '');
      if (tried === 'too-long') most = count - 1;
      else [best, least] = [tried ?? best, count];
      count = Math.ceil((least + most) / 2);
    }
    return best;
  }

  /** null: it is not worth it */
  private async tried({ chat, leafId, size }: Place, throughId: string): Promise<Planned | 'too-long' | null> {
    const own = promptBranch(chat, throughId);
    const before = await this.questions.promptBefore(chat, own);
    const messages: PromptMessage[] = [...before, { role: 'user', content: request }];
    const prompt = (await this.engine.countTokens(messages, chatOptions(chat))).tokens;
    const replaced = await this.tokensOf(own.filter(({ attachments }) => attachments.length === 0));
    const reserve = reserveOf(this.settings().documents.reserve, size);
    const most = Math.min(reserve, Math.max(leastOfBrief, Math.floor(replaced * briefShare)));
    if (prompt + most >= size) return 'too-long';
    if (replaced < leastReplaced) return null;
    const figures = await this.figuresOf(chat, leafId, throughId, { prompt, longest: most });
    return { chat, messages, plan: { throughId, replaced, most, ...figures } };
  }

  private async figuresOf(
    chat: Chat,
    leafId: string | null,
    throughId: string,
    { prompt, longest }: { prompt: number; longest: number },
  ): Promise<Pick<BriefPlan, 'messages' | 'read' | 'readAgain' | 'seconds'>> {
    const path = branchTo(chat, leafId);
    const own = (await this.engine.countTexts([request]))[0] ?? 0;
    const read = this.engine.status().contextChat === chat.id ? Math.min(prompt, own) : prompt;
    const whole = await this.questions.total(chat, promptBranch(chat, leafId));
    const rates = path.findLast(({ stats }) => stats)?.stats;
    const known = rates && rates.promptTokensPerSecond > 0 && rates.tokensPerSecond > 0;
    return {
      messages: coveredBy(path, throughId).size,
      read,
      readAgain: Math.max(0, whole - (prompt - own)) + longest,
      seconds: known ? read / rates.promptTokensPerSecond + longest / rates.tokensPerSecond : null,
    };
  }

  private async tokensOf(messages: readonly { text: string }[]): Promise<number> {
    const counts = await this.engine.countTexts(messages.map(({ text }) => text));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** One at a time in a chat. Resolves when it is being written, or there is none to write. */
  private async start(chatId: string, plan: () => Promise<Planned | null>): Promise<void> {
    if (this.running.has(chatId)) throw new ConcertinaError('busy', msg`This chat is being shortened already.`);
    const one: Running = {
      ...{ controller: new AbortController(), requestId: randomUUID(), progress: null, done: Promise.resolve() },
    };
    this.running.set(chatId, one);
    const planned = this.engine.whenReady(one.controller.signal).then(plan);
    one.done = planned
      .then((found) => found && this.write(one, found))
      .catch(() => undefined)
      .then(() => void this.running.delete(chatId));
    await planned;
  }

  /** Never rejects: why there is none is said in its end. */
  private async write(one: Running, { chat, messages, plan }: Planned): Promise<void> {
    one.progress = { chatId: chat.id, plan, read: 0, text: '', end: null };
    this.progressed.emit(one.progress);
    const end = await this.written(one, { chat, messages, plan }).catch((error: unknown) => {
      const { code, message, hint } = toErrorPayload(error);
      return { brief: null, problem: code === 'cancelled' ? null : [message, hint].filter(Boolean).join(' ') };
    });
    this.running.delete(chat.id);
    this.progressed.emit({ ...one.progress, end });
  }

  private async written(
    { requestId, controller }: Running,
    { chat, messages, plan }: Planned,
  ): Promise<NonNullable<BriefProgress['end']>> {
    const { throughId, most, replaced } = plan;
    const asked: GenerateRequest = {
      ...{ requestId, chatId: chat.id, messageId: briefMessageId(requestId), messages, ...chatOptions(chat) },
      ...{ jsonSchema: null, passing: true, thinking: false },
      sampling: { ...this.settings().sampling, maxTokens: most },
    };
    const result = await this.engine.generate(asked, controller.signal);
    if (result.stopReason === 'cancelled') return { brief: null, problem: null };
    const text = result.stopReason === 'max-tokens' ? whole(result.text) : result.text.trim();
    const [tokens = 0] = text === '' ? [] : await this.engine.countTexts([text]);
    const problem = problemOf(text, tokens, replaced);
    if (problem !== null) return { brief: null, problem };
    const { messages: count } = plan;
    const modelName = this.engine.modelName();
    const brief: Brief = {
      ...{ id: randomUUID(), throughId, messages: count, text, tokens, replaced, modelName },
      ...{ createdAt: Date.now(), edited: false },
    };
    await this.chats.note(chat.id, (at, state) => {
      if (!findMessage(state, throughId)) throw new ConcertinaError('not-found', msg`This chat is not there any more.`);
      return { type: 'brief', version: 1, at, brief };
    });
    return { brief, problem: null };
  }

  private follow({ requestId, chatId, text, stats }: StreamFrame): void {
    const one = this.running.get(chatId);
    if (one?.requestId !== requestId || !one.progress) return;
    const toRead = stats.promptTokens - stats.cachedTokens;
    const read = stats.phase === 'decode' ? 1 : toRead > 0 ? Math.min(1, stats.prefillDone / toRead) : 0;
    one.progress = { ...one.progress, read, text: one.progress.text + text };
    this.progressed.emit(one.progress);
  }
}

// What a model wrote in place of a brief is not used.

/** Up to the last sentence that came to its end. */
function whole(text: string): string {
  const ends = [...text.matchAll(/[.!?。！？](?=\s|$)|\n/gu)];
  const last = ends.at(-1);
  return (last ? text.slice(0, last.index + 1) : text).trim();
}

/** A sentence; null: it can be used. */
export function problemOf(text: string, tokens: number, replaced: number): string | null {
  const kept = 'The messages stay as they are.';
  if (text.trim() === '') return `The model wrote nothing. ${kept}`;
  if (tokens < leastWritten) return `What the model wrote says too little. ${kept}`;
  if (tokens >= replaced) return `What the model wrote is no shorter than the messages. ${kept}`;
  if (repeats(text)) return `What the model wrote repeats itself. ${kept}`;
  return null;
}

/** words in a row that come again and again */
const inRow = 6;
const mostTimes = 3;

function repeats(text: string): boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const times = new Map<string, number>();
  for (let at = 0; at + inRow <= words.length; at++) {
    const row = words.slice(at, at + inRow).join(' ');
    const count = (times.get(row) ?? 0) + 1;
    if (count > mostTimes) return true;
    times.set(row, count);
  }
  return false;
}
