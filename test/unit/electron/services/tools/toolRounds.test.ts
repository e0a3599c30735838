/** The calls of an answer, with a model and servers that do what the test says: none runs that was not allowed. */
import { expect, it, vi } from 'vitest';
import type { StopReason } from '@/electron/contract/chats';
import { ConcertinaError } from '@/electron/contract/errors';
import type { CallAnswer } from '@/electron/contract/tools/operations';
import type { ToolResult } from '@/electron/contract/tools/process';
import {
  type ChatTool,
  type ChatTools,
  named,
  type PromptCall,
  type ToolCall,
  type ToolRound,
} from '@/electron/contract/tools/tools';
import type { ResultFor, TakenResult } from '@/electron/services/tools/toolResults';
import { type ToolCaller, ToolRounds } from '@/electron/services/tools/toolRounds';
import { message } from '@/test/fixtures/samples';

const [echo, wipe] = named(
  ['echo', 'wipe'].map((tool) => ({
    ...{ tool, serverId: 's', server: 'Server', description: '', schema: { type: 'object' } },
    hints: { readOnly: null, destructive: null, openWorld: null },
  })),
) as [ChatTool, ChatTool];
const question = message({ id: 'q', text: 'What does it say?' });
const tools: ChatTools = { chosen: [echo, wipe], allowed: [], mustCall: false };
const asks = (name: string, given = '{}', id = 'abcdefghi'): PromptCall => ({ id, name, arguments: given });
const done = (text: string): ToolResult => ({ failed: false, text, files: [] });

/** `turns`: what the model asks for at the end of what it writes, one after the other. */
function setUp(turns: PromptCall[][], call: ToolCaller['call'] = async (tool) => done(`result of ${tool.tool}`)) {
  let chat = tools;
  let said: string[] = [];
  const always = new Set<string>();
  const called = vi.fn(call);
  const caller: ToolCaller = {
    call: called,
    isAllowed: ({ tool }) => always.has(tool),
    allow: async ({ tool }) => void always.add(tool),
    mostRounds: () => 3,
  };
  const chats = {
    open: async () => ({
      tools: chat,
      messages: [question, message({ id: 'm', parentId: 'q', rounds: answer.rounds })],
    }),
    keep: async (_: string, record: { tools: ChatTools }) => {
      chat = record.tools;
    },
  };
  const take = vi.fn(async ({ text }: ToolResult, _about: ResultFor): Promise<TakenResult> => ({ result: text }));
  const rounds = new ToolRounds(caller, chats, { take });
  const answer = {
    ...{ chatId: 'c', message: { id: 'm', parentId: 'q' }, controller: new AbortController() },
    rounds: [] as ToolRound[],
    asks: [] as PromptCall[],
    async endRound(calls: ToolCall[]) {
      answer.rounds = [...answer.rounds, { text: said.join(' '), thinking: '', calls }];
      said = [];
    },
    async setCall(index: number, next: ToolCall) {
      const last = answer.rounds.at(-1);
      if (last) last.calls[index] = next;
    },
  };
  let turn = 0;
  const write = (some = chat): Promise<StopReason> =>
    rounds.write(answer, some, {
      async next() {
        answer.asks = turns[turn++] ?? [];
        return 'end-of-turn';
      },
      tell: () => undefined,
    });
  const state = (round = -1) => answer.rounds.at(round)?.calls.map(({ state }) => state);
  const asking = () => vi.waitFor(() => expect(state()).toContain('asking'));
  async function decide(decision: CallAnswer['decision'], given?: string, index = 0): Promise<void> {
    await asking();
    const callId = answer.rounds.at(-1)?.calls[index]?.id ?? '';
    const more = given === undefined ? {} : { arguments: given };
    await vi.waitFor(() => rounds.answer({ messageId: 'm', callId, decision, ...more }));
  }
  return { rounds, answer, write, state, asking, decide, called, take, chat: () => chat };
}

it('nothing runs before a person allows it; the result goes to the model', async () => {
  const { write, decide, called, answer, asking } = setUp([[asks('echo', '{"a":1}')]]);
  const written = write();
  await asking();
  expect(called).not.toHaveBeenCalled();
  await decide('once');
  expect(await written).toBe('end-of-turn');
  expect(called.mock.calls[0]?.slice(0, 2)).toEqual([echo, '{"a":1}']);
  expect(answer.rounds[0]?.calls[0]).toMatchObject({ state: 'done', result: 'result of echo', edited: false });
});

it('arguments that a person changed are those that run, and those that the chat keeps', async () => {
  const { write, decide, called, answer, rounds, asking } = setUp([[asks('echo', '{"a":1}')]]);
  const written = write();
  await asking();
  await vi.waitFor(() =>
    expect(rounds.answer({ messageId: 'm', callId: 'abcdefghi', decision: 'once', arguments: '[' })).rejects.toThrow(
      'JSON object',
    ),
  );
  expect(called).not.toHaveBeenCalled();
  await decide('once', '{"a":2}');
  await written;
  expect(called.mock.calls[0]?.[1]).toBe('{"a":2}');
  expect(answer.rounds[0]?.calls[0]).toMatchObject({ arguments: '{"a":2}', edited: true });
});

it('what was denied does not run, and the model goes on', async () => {
  const { write, decide, called, state } = setUp([[asks('wipe')]]);
  const written = write();
  await decide('deny');
  expect(await written).toBe('end-of-turn');
  expect(called).not.toHaveBeenCalled();
  expect(state()).toEqual(['denied']);
});

it('allowed in this chat, it is asked about no more there; another tool is', async () => {
  const { write, decide, called, chat, state } = setUp([[asks('echo')], [asks('echo')], [asks('wipe')]]);
  const written = write();
  await decide('chat');
  await vi.waitFor(() => expect(state(2)).toEqual(['asking']));
  expect(called).toHaveBeenCalledTimes(2);
  expect(chat().allowed).toEqual(['s/echo']);
  await decide('deny');
  await written;
});

it('always allowed is kept by whoever calls, and holds in every chat', async () => {
  const { write, decide, called, chat } = setUp([[asks('echo')], [asks('echo')]]);
  const written = write();
  await decide('always');
  await written;
  expect(called).toHaveBeenCalledTimes(2);
  expect(chat().allowed).toEqual([]);
});

it('a tool that is not in the chat is not called, whatever its name', async () => {
  const { write, called, answer } = setUp([[asks('rm')]]);
  await write();
  expect(called).not.toHaveBeenCalled();
  expect(answer.rounds[0]?.calls[0]).toMatchObject({ state: 'failed', result: 'There is no tool named rm.' });
});

it('arguments that are no object are asked about, though the tool is allowed', async () => {
  const { write, decide, called } = setUp([[asks('echo', 'not json')]]);
  const written = write({ ...tools, allowed: ['s/echo'] });
  await decide('deny');
  await written;
  expect(called).not.toHaveBeenCalled();
});

it('the rounds have a bound; the calls behind it wait, and go on when the answer does', async () => {
  const turns = Array.from({ length: 5 }, () => [asks('echo')]);
  const { write, decide, called, state, answer } = setUp(turns);
  const written = write();
  await decide('always');
  expect(await written).toBe('tool-rounds');
  expect(called).toHaveBeenCalledTimes(3);
  expect(answer.rounds).toHaveLength(4);
  expect(state()).toEqual(['asking']);
  expect(await write()).toBe('end-of-turn');
  expect(called).toHaveBeenCalledTimes(5);
});

it('ids that come twice become others, so that each result has its call', async () => {
  const { write, decide, answer } = setUp([[asks('echo'), asks('echo')], [asks('echo', '{}', 'call_1')]]);
  const written = write();
  await decide('always');
  await decide('once', undefined, 1).catch(() => undefined);
  await written;
  const ids = answer.rounds.flatMap(({ calls }) => calls.map(({ id }) => id));
  expect(new Set(ids).size).toBe(3);
  expect(ids[0]).toBe('abcdefghi');
});

it('stopped while it asks, or while it runs, a call has no result and the answer ends', async () => {
  const asking = setUp([[asks('echo')]]);
  const first = asking.write();
  await asking.asking();
  asking.answer.controller.abort();
  await expect(first).rejects.toMatchObject({ code: 'cancelled' });
  expect(asking.state()).toEqual(['canceled']);
  expect(asking.called).not.toHaveBeenCalled();

  const never: ToolCaller['call'] = (_, __, signal) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new ConcertinaError('cancelled', 'Canceled.')));
    });
  const running = setUp([[asks('echo')]], never);
  const second = running.write();
  await running.decide('once');
  await vi.waitFor(() => expect(running.state()).toEqual(['running']));
  running.answer.controller.abort();
  await expect(second).rejects.toMatchObject({ code: 'cancelled' });
  expect(running.state()).toEqual(['canceled']);
});

it('one call is canceled alone, and the model is told', async () => {
  const never: ToolCaller['call'] = (_, __, signal) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new ConcertinaError('cancelled', 'Canceled.')));
    });
  const { write, decide, state, rounds } = setUp([[asks('echo')]], never);
  const written = write();
  await decide('once');
  await vi.waitFor(() => expect(state()).toEqual(['running']));
  rounds.cancel('m', 'abcdefghi');
  expect(await written).toBe('end-of-turn');
  expect(state()).toEqual(['canceled']);
});

it('a tool that fails, and a server that is gone, are results for the model', async () => {
  let count = 0;
  const { write, decide, answer } = setUp([[asks('echo')], [asks('echo')]], async () => {
    if (count++ === 0) return { failed: true, text: 'No such file', files: [] };
    throw new ConcertinaError('network-failed', 'The server did not answer in time.');
  });
  const written = write();
  await decide('always');
  await written;
  const results = answer.rounds.map(({ calls: [call] }) => `${call?.state}: ${call?.result}`);
  expect(results).toEqual(['failed: No such file', 'failed: The server did not answer in time.']);
});

it('a result is kept as what becomes of it, for the question, under a name that no other result of the chat has', async () => {
  const { write, decide, answer, take } = setUp([[asks('echo')], [asks('echo')]]);
  take.mockResolvedValueOnce({
    result: 'It is long.',
    cutFrom: 5000,
    kept: [{ documentId: 'd', name: 'x', part: null }],
  });
  const written = write();
  await decide('always');
  await written;
  expect(answer.rounds[0]?.calls[0]).toMatchObject({ state: 'done', result: 'It is long.', cutFrom: 5000 });
  expect(answer.rounds[0]?.calls[0]?.kept).toHaveLength(1);
  expect(take.mock.calls.map(([, { name }]) => name)).toEqual(['echo result.txt', 'echo result 2.txt']);
  expect(take.mock.calls[0]?.[1].question).toBe('What does it say?');
});

it('a call that was running when the app ended is asked about again, though it is allowed', async () => {
  const { write, decide, called, answer } = setUp([[]]);
  const call: ToolCall = {
    ...{ ...asks('echo'), tool: 'echo', serverId: 's', server: 'Server', state: 'running', edited: false },
    ...{ hints: echo.hints, result: '', ms: null },
  };
  answer.rounds = [{ text: '', thinking: '', calls: [call] }];
  const written = write({ ...tools, allowed: ['s/echo'] });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(called).not.toHaveBeenCalled();
  await vi.waitFor(() => decideOpen());
  await written;
  expect(called).toHaveBeenCalledTimes(1);

  async function decideOpen(): Promise<void> {
    answer.rounds[0]?.calls.splice(0, 1, { ...call, state: 'asking' });
    await decide('once');
  }
});
