/**
 * An answer that asks for tools: the calls are shown, run when a person allows it, and their results go back to the model, as many
 * times in a row as the settings allow. No call runs that was not allowed: once, in this chat, or always.
 */
import { randomBytes } from 'node:crypto';
import { msg } from '@lingui/core/runtime-macro';
import type { Chat, Message, StopReason } from '../../contract/chats';
import { ConcertinaError, toErrorPayload } from '../../contract/errors';
import type { CallAnswer } from '../../contract/tools/operations';
import type { ToolResult } from '../../contract/tools/process';
import {
  type ChatTool,
  type ChatTools,
  isArguments,
  isOpenCall,
  type PromptCall,
  type ToolCall,
  type ToolRound,
  toolKey,
  toolLimits,
} from '../../contract/tools/tools';
import type { ResultFor, ToolResults } from './toolResults';

/** What has tools called: the servers. */
export interface ToolCaller {
  /** rejects with a sentence when the server cannot be used, is too slow, or the signal fires (`cancelled`) */
  call(tool: ChatTool, given: string, signal: AbortSignal): Promise<ToolResult>;
  isAllowed(tool: ChatTool): boolean;
  /** from now on, in every chat */
  allow(tool: ChatTool): Promise<void>;
  /** rounds in a row */
  mostRounds(): number;
}

/** An answer that is being written: `RunningAnswer`. */
interface Answer {
  readonly chatId: string;
  readonly message: Pick<Message, 'id' | 'parentId'>;
  readonly controller: AbortController;
  readonly rounds: readonly ToolRound[];
  /** what the model asked for at the end of what it wrote last */
  readonly asks: readonly PromptCall[];
  endRound(calls: ToolCall[]): Promise<void>;
  /** of the last round */
  setCall(index: number, call: ToolCall): Promise<void>;
}

interface Steps {
  /** writes on, behind the rounds that there are */
  next(): Promise<StopReason>;
  /** calls changed */
  tell(): void;
}

interface ChatsOfRounds {
  open(chatId: string): Promise<Pick<Chat, 'tools' | 'messages'>>;
  keep(chatId: string, record: { type: 'tools'; tools: ChatTools }): Promise<void>;
}

type Decision = Pick<CallAnswer, 'decision' | 'arguments'>;

export class ToolRounds {
  /** calls that a person is asked about, by their place */
  private readonly asked = new Map<string, (decision: Decision) => void>();
  private readonly running = new Map<string, AbortController>();

  constructor(
    private readonly caller: ToolCaller,
    private readonly chats: ChatsOfRounds,
    private readonly results: Pick<ToolResults, 'take'>,
  ) {}

  /** The answer up to its end, with all its calls. `tools`: of the chat, as they were when it began. */
  async write(answer: Answer, tools: ChatTools, { next, tell }: Steps): Promise<StopReason> {
    if (answer.rounds.at(-1)?.calls.some(isOpenCall)) await this.settle(answer, tools, tell);
    for (let rounds = 0; ; rounds++) {
      const stopReason = await next();
      const asks = answer.asks.slice(0, toolLimits.callsOfRound);
      if (asks.length === 0 || (stopReason !== 'end-of-turn' && stopReason !== 'stop-string')) return stopReason;
      await answer.endRound(newCalls(asks, tools.chosen, answer.rounds));
      tell();
      if (rounds === this.caller.mostRounds()) return 'tool-rounds';
      await this.settle(answer, tools, tell);
    }
  }

  /** Of a call that is asked about. Rejects when it is not any more, or the arguments are no JSON object. */
  async answer({ callId, messageId, ...decision }: CallAnswer): Promise<void> {
    const decide = this.asked.get(keyOf(messageId, callId));
    if (!decide) throw new ConcertinaError('not-found', msg`This call does not wait any more.`);
    if (decision.decision !== 'deny' && decision.arguments !== undefined && !isArguments(decision.arguments)) {
      throw new ConcertinaError(
        'bad-request',
        msg`The arguments are not a JSON object.`,
        msg`Write them as ${{ form: '{"name": value}' }}.`,
      );
    }
    decide(decision);
  }

  /** Ends a call that runs; the model is told so. */
  cancel(messageId: string, callId: string): void {
    this.running.get(keyOf(messageId, callId))?.abort();
  }

  /** All open calls of the last round have their results. Rejects with `cancelled` when the answer is stopped meanwhile. */
  private async settle(answer: Answer, tools: ChatTools, tell: () => void): Promise<void> {
    const calls = answer.rounds.at(-1)?.calls ?? [];
    const { signal } = answer.controller;
    await Promise.all(
      calls.map(async (call, index) => {
        if (!isOpenCall(call)) return;
        const change = async (next: ToolCall) => {
          await answer.setCall(index, next);
          tell();
        };
        const ended = await this.callOf(answer, call, tools, change);
        await change(ended);
      }),
    );
    if (signal.aborted) throw new ConcertinaError('cancelled', msg`The answer was stopped.`);
  }

  private async callOf(
    answer: Answer,
    found: ToolCall,
    tools: ChatTools,
    change: (call: ToolCall) => Promise<void>,
  ): Promise<ToolCall> {
    const { signal } = answer.controller;
    const tool = tools.chosen.find(({ name }) => name === found.name);
    if (!tool) return { ...found, state: 'failed', result: `There is no tool named ${found.name}.` };
    const decision = await this.decision(answer, found, tool);
    if (signal.aborted) return { ...found, state: 'canceled' };
    if (decision.decision === 'deny') return { ...found, state: 'denied' };
    const given = decision.arguments ?? found.arguments;
    const call: ToolCall = { ...found, arguments: given, edited: given !== found.arguments, state: 'running' };
    await change(call);
    return this.run(answer, call, tool);
  }

  /** A call that was running when the app ended is asked about again, whatever was allowed. */
  private async decision(answer: Answer, call: ToolCall, tool: ChatTool): Promise<Decision> {
    const { chatId, controller, message } = answer;
    const key = toolKey(tool);
    const { allowed } = (await this.chats.open(chatId)).tools;
    const isAllowed = allowed.includes(key) || this.caller.isAllowed(tool);
    if (call.state === 'asking' && isAllowed && isArguments(call.arguments)) return { decision: 'once' };
    const place = keyOf(message.id, call.id);
    const decision = await new Promise<Decision>((resolve) => {
      const stop = () => resolve({ decision: 'deny' });
      if (controller.signal.aborted) stop();
      controller.signal.addEventListener('abort', stop, { once: true });
      this.asked.set(place, resolve);
    }).finally(() => this.asked.delete(place));
    if (decision.decision === 'always') await this.caller.allow(tool);
    if (decision.decision === 'chat') {
      const { tools } = await this.chats.open(chatId);
      await this.chats.keep(chatId, { type: 'tools', tools: { ...tools, allowed: [...tools.allowed, key] } });
    }
    return decision;
  }

  private async run(answer: Answer, call: ToolCall, tool: ChatTool): Promise<ToolCall> {
    const own = new AbortController();
    const place = keyOf(answer.message.id, call.id);
    this.running.set(place, own);
    const started = performance.now();
    const after = () => Math.round(performance.now() - started);
    try {
      const signal = AbortSignal.any([own.signal, answer.controller.signal]);
      const result = await this.caller.call(tool, call.arguments, signal);
      const ms = after();
      const taken = await this.results.take(result, { ...(await this.about(answer, call)), signal });
      return { ...call, state: result.failed ? 'failed' : 'done', ...taken, ms };
    } catch (error) {
      const { code, message } = toErrorPayload(error);
      if (code === 'cancelled') return { ...call, state: 'canceled', ms: after() };
      return { ...call, state: 'failed', result: message, ms: after() };
    } finally {
      this.running.delete(place);
    }
  }

  /** What its result is to fit, and how it is called as a document: by the tool, numbered through the chat. */
  private async about({ chatId, message }: Answer, call: ToolCall): Promise<Omit<ResultFor, 'signal'>> {
    const { messages } = await this.chats.open(chatId);
    const calls = messages.flatMap(({ rounds = [] }) => rounds.flatMap((round) => round.calls));
    const same = calls.filter(({ name }) => name === call.name);
    const number =
      1 +
      Math.max(
        0,
        same.findIndex(({ id }) => id === call.id),
      );
    const question = messages.find(({ id }) => id === message.parentId)?.text ?? '';
    return { name: `${call.name.slice(0, 100)} result${number === 1 ? '' : ` ${number}`}.txt`, question };
  }
}

function keyOf(messageId: string, callId: string): string {
  return `${messageId} ${callId}`;
}

/** Templates of Mistral take nine letters and digits only, those of Kimi a name and a number. */
const keptId = /^(?:[A-Za-z0-9]{9}|functions\.[\w.-]{1,100}:\d{1,5})$/;

/** Ids that the model wrote stay, as far as they are ids and no two are alike. */
function newCalls(asks: readonly PromptCall[], chosen: readonly ChatTool[], before: readonly ToolRound[]): ToolCall[] {
  const taken = new Set(before.flatMap(({ calls }) => calls.map(({ id }) => id)));
  return asks.map((asked) => {
    const usable = keptId.test(asked.id) && !taken.has(asked.id);
    const id = usable ? asked.id : randomBytes(6).toString('hex').slice(0, 9);
    taken.add(id);
    return newCall({ ...asked, id }, chosen);
  });
}

function newCall({ id, name, arguments: given }: PromptCall, chosen: readonly ChatTool[]): ToolCall {
  const tool = chosen.find((one) => one.name === name);
  return {
    ...{ id, name: name.slice(0, 200), arguments: given.slice(0, toolLimits.arguments) },
    ...{ tool: tool?.tool ?? '', serverId: tool?.serverId ?? '', server: tool?.server ?? '' },
    hints: tool?.hints ?? { readOnly: null, destructive: null, openWorld: null },
    ...{ state: 'asking', edited: false, result: '', ms: null },
  };
}
