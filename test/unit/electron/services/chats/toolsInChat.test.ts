/** Calls of tools in the log of a chat and in its prompts: they are there after a restart, and go back to the model in order. */
import { expect, it } from 'vitest';
import { releasedAlong, turnsWithPassages, withoutReleased } from '@/electron/contract/chats';
import type { Attachment } from '@/electron/contract/lib/attachments';
import { givenIn, type ToolCall, type ToolRound } from '@/electron/contract/tools/tools';
import { type ChatRecord, replay } from '@/electron/services/chats/chatLog';
import { withRounds } from '@/electron/services/chats/promptBranch';
import { buildPrompt, chatOptions } from '@/electron/services/chats/promptBuilder';
import { message as sample, toolCall } from '@/test/fixtures/samples';

const call = (id: string, change: Partial<ToolCall> = {}) => toolCall({ id, ...change });
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

const passages = { kind: 'passages' as const, passages: [{ start: 0, end: 9, label: 'Lines 1-9' }] };
const kept = call('three', {
  ...{ state: 'done' as const, result: 'It is kept.' },
  kept: [
    { documentId: 'i', name: 'image-1.png', part: { kind: 'image' } },
    { documentId: 'z', name: 'a.zip', part: null },
    { documentId: 'd', name: 'echo result.txt', part: passages },
  ],
});

it('what results are kept as stands behind them, images last; what is for the person alone does not', async () => {
  const branch = withRounds(
    [sample({ id: 'q', role: 'user', text: 'When?' })],
    [{ text: '', thinking: '', calls: [kept] }],
  );
  const prompt = await buildPrompt(
    '',
    branch,
    async ({ documentId }) => `<${documentId}>\n\n`,
    async () => ({ text: '[image-1.png]\n\n\n', media: [{ path: '/i', at: 13 }] }),
  );
  const content = 'It is kept.\n\n<d>\n\n[image-1.png]';
  expect(prompt.at(-1)).toEqual({
    role: 'tool',
    content,
    toolCallId: 'three',
    media: [{ path: '/i', at: content.length }],
  });
});

it('passages of results leave the prompt with those of their question, and no other part of them', () => {
  const asked = (id: string, attachments: Attachment[] = []) => sample({ id, role: 'user', attachments });
  const answered = (id: string) =>
    sample({ id, role: 'assistant', rounds: [{ text: '', thinking: '', calls: [kept] }] });
  const own = [{ documentId: 'p', name: 'p.pdf', part: passages }];
  const branch = [asked('1', own), answered('2'), asked('3'), answered('4'), asked('5', own), answered('6')];
  expect(turnsWithPassages(branch)).toEqual([0, 0, -1, 1, 2, 2]);
  const left = withoutReleased(branch, 2);
  expect(left[0]?.attachments).toEqual([]);
  for (const one of [left[1], left[3]]) expect(givenIn(one?.rounds).map(({ part }) => part.kind)).toEqual(['image']);
  expect(left.slice(4)).toEqual(branch.slice(4));
  expect(releasedAlong([...branch, sample({ role: 'assistant', released: 2 })])).toEqual([
    ...[true, true, false, true, false, false].map((gone) => ({ gone, fresh: 0 })),
    { gone: false, fresh: 2 },
  ]);
});

it('a chat without tools is counted and asked as it ever was', () => {
  const tools = { chosen: [], allowed: [], mustCall: false };
  expect(chatOptions({ systemPrompt: null, createdAt: 5, tools })).toEqual({ now: 5 });
});
