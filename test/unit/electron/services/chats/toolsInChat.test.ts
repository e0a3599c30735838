/** Calls of tools in the log of a chat and in its prompts: they are there after a restart, and go back to the model in order. */
import { expect, it } from 'vitest';
import type { ToolCall, ToolRound } from '@/electron/contract/tools/tools';
import { type ChatRecord, replay } from '@/electron/services/chats/chatLog';
import { withRounds } from '@/electron/services/chats/promptBranch';
import { buildPrompt, chatOptions } from '@/electron/services/chats/promptBuilder';
import { message as sample } from '@/test/fixtures/samples';

const hints = { readOnly: null, destructive: null, openWorld: null };
const call = (id: string, change: Partial<ToolCall> = {}): ToolCall => ({
  ...{ id, name: 'echo', tool: 'echo', serverId: 's', server: 'Words', arguments: '{"a":1}', hints },
  ...{ state: 'asking', edited: false, result: '', ms: null, ...change },
});
const done = call('one', { state: 'done', result: 'It rains.', ms: 3 });

it('what was written before calls is of their round, and the calls are as they were last', () => {
  const at = 1;
  const records: ChatRecord[] = [
    { type: 'chat', at, id: 'c', title: null },
    { type: 'message', at, message: sample({ id: 'q', role: 'user', text: 'When?' }) },
    { type: 'message', at, message: sample({ id: 'a', parentId: 'q', role: 'assistant', text: '', stopReason: null }) },
    { type: 'partial', at, id: 'a', text: 'I as', thinking: 'Hm' },
    { type: 'round', at, id: 'a', round: { text: 'I ask.', thinking: 'Hm.', calls: [call('one'), call('two')] } },
    { type: 'call', at, id: 'a', round: 0, index: 0, call: done },
    { type: 'partial', at, id: 'a', text: 'Now.', thinking: '' },
    { type: 'tools', at, tools: { chosen: [], allowed: ['s/echo'], mustCall: false } },
  ];
  const chat = replay('c', at, JSON.parse(JSON.stringify(records)));
  expect(chat.tools.allowed).toEqual(['s/echo']);
  expect(chat.messages[1]).toMatchObject({
    text: 'Now.',
    thinking: '',
    rounds: [{ text: 'I ask.', thinking: 'Hm.', calls: [done, call('two')] }],
  });
});

const blockOf = async () => '';
const rounds: ToolRound[] = [
  { text: 'I ask.', thinking: 'Hm.', calls: [done, call('two', { state: 'denied', arguments: 'no' })] },
];
const before = [
  {
    ...{ role: 'assistant', content: 'I ask.', thinking: 'Hm.' },
    toolCalls: [
      { id: 'one', name: 'echo', arguments: '{"a":1}' },
      // what is no JSON would be taken apart by templates
      { id: 'two', name: 'echo', arguments: '{}' },
    ],
  },
  { role: 'tool', content: 'It rains.', toolCallId: 'one' },
  { role: 'tool', content: 'The user did not allow this call.', toolCallId: 'two' },
];

it('an earlier answer goes back with its calls before its text', async () => {
  const question = sample({ id: 'q', role: 'user', text: 'When?' });
  const answer = sample({ id: 'a', parentId: 'q', role: 'assistant', text: 'Now.', rounds });
  expect(await buildPrompt('', [question, answer], blockOf)).toEqual([
    { role: 'user', content: 'When?' },
    ...before,
    { role: 'assistant', content: 'Now.' },
  ]);
});

it('the answer that is being written goes on behind its calls', async () => {
  const branch = withRounds([sample({ id: 'q', role: 'user', text: 'When?' })], rounds);
  expect(await buildPrompt('', branch, blockOf)).toEqual([{ role: 'user', content: 'When?' }, ...before]);
});

it('a chat without tools is counted and asked as it ever was', () => {
  const tools = { chosen: [], allowed: [], mustCall: false };
  expect(chatOptions({ systemPrompt: null, createdAt: 5, tools })).toEqual({ now: 5 });
});
