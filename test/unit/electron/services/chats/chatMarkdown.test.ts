/** Chats out of the app, and into it again. */
import { expect, test } from 'vitest';
import type { Chat, Message } from '@/electron/contract/chats';
import { noTools } from '@/electron/contract/tools/tools';
import { exportedText } from '@/electron/services/chats/chatMarkdown';
import { answerStats, message as sample, toolCall } from '@/test/fixtures/samples';
import { setUpServices } from '@/test/fixtures/services';

const at = Date.UTC(2026, 10, 21, 9, 30);
const stats = {
  ...{ ...answerStats, promptTokens: 120, cachedTokens: 80, answerTokens: 42, ttftMs: 310.4, tokensPerSecond: 41.26 },
  ...{ promptTokensPerSecond: 900, contextUsed: 400, contextSize: 8192, typeV: 'turbo3', seed: 7 },
};

type Role = Message['role'];
const message = (id: string, parentId: string | null, role: Role, text: string, more: Partial<Message> = {}) =>
  sample({ id, parentId, role, text, createdAt: at, ...more });

const ended = { modelName: 'Tiny', stopReason: 'end-of-turn' } as const;
const passage = { start: 0, end: 9, label: 'Page 4' };
const chat: Chat = {
  id: 'c1',
  title: 'The lease',
  createdAt: at,
  updatedAt: at + 60_000,
  pinned: true,
  folder: 'House',
  leafId: 'a2',
  systemPrompt: 'Be brief.\nAnd kind.',
  briefs: [],
  tools: noTools,
  damagedLines: 0,
  messages: [
    message('q', null, 'user', 'When?', {
      attachments: [
        { documentId: 'd', name: 'lease.pdf', part: { kind: 'sections', sections: [0, 2] } },
        { documentId: 'gone', name: 'old.txt', part: { kind: 'sections', sections: [1] } },
        { documentId: 'd', name: 'book.pdf', part: { kind: 'passages', passages: [passage] } },
        { documentId: 'd', name: 'all.md', part: { kind: 'whole' } },
      ],
    }),
    message('a1', 'q', 'assistant', 'In May.', { ...ended, stats, thinking: 'Hm.' }),
    message('a2', 'q', 'assistant', 'On', { modelName: 'Tiny', stopReason: 'cancelled' }),
    message('q2', 'a1', 'user', 'Sure?'),
  ],
};
const labelsOf = async (id: string) => (id === 'd' ? ['Page 1', 'Page 2', 'Page 3'] : null);

test('Markdown of the shown branch', async () => {
  const text = await exportedText(chat, { format: 'markdown', branches: 'shown' }, labelsOf);
  const attached = [
    'lease.pdf (Page 1, Page 3)',
    'old.txt (section 2)',
    'book.pdf (passages of Page 4)',
    'all.md (whole)',
  ];
  expect(text.split('\n\n')).toEqual([
    '# The lease',
    '- Begun: 2026-11-21 09:30 UTC\n- Last change: 2026-11-21 09:31 UTC\n- Model: Tiny\n- Folder: House',
    ...['System prompt:', '> Be brief.\n> And kind.', '## 1. You, 2026-11-21 09:30 UTC'],
    attached.map((one) => `- Document: ${one}`).join('\n'),
    ...['When?', '## 2. Tiny, 2026-11-21 09:30 UTC', 'On', '*stopped by the person*\n'],
  ]);
});

test('Markdown of all branches keeps each in one piece and says where another version begins', async () => {
  const text = await exportedText(chat, { format: 'markdown', branches: 'all' }, labelsOf);
  expect(text.match(/^## .*?,|^\*Another.*\*$/gm)).toEqual([
    '## 1. You,',
    '## 2. Tiny,',
    '## 3. You,',
    '## 4. Tiny,',
    '*Another version: goes on from 1.*',
  ]);
  expect(text).toContain('<details><summary>Thinking</summary>\n\nHm.\n\n</details>\n\nIn May.');
  expect(text).toContain(
    '*42 tokens at 41.3 tok/s, first token after 310 ms, 120 prompt tokens, 80 of them cached, context 400 of 8192, cache turbo4/turbo3, seed 7*',
  );
});

test('JSON holds the shown branch', async () => {
  const shown = JSON.parse(await exportedText(chat, { format: 'json', branches: 'shown' }, labelsOf));
  expect(shown.messages.map(({ id }: Message) => id)).toEqual(['q', 'a2']);
});

test('what was exported comes back the same, under its own id unless that is taken', async () => {
  const { call } = await setUpServices({ start: false });
  const exported = (chatId: string) =>
    call('chats.exportText', { chatId, format: 'json', branches: 'all' }).then(({ text }) => JSON.parse(text));
  const { title, pinned, folder } = chat;
  expect(await call('chats.import', { chat })).toMatchObject({ id: 'c1', title, pinned, folder });
  const { damagedLines, tools, ...whole } = chat;
  expect(await exported('c1')).toEqual(whole);
  expect(await call('chats.open', { chatId: 'c1' })).toMatchObject({ damagedLines, updatedAt: chat.updatedAt });

  await call('chats.remove', { chatId: 'c1' });
  const again = await call('chats.import', { chat: whole });
  expect(again.id).not.toBe('c1');
  expect(await exported(again.id)).toEqual({ ...whole, id: again.id });
  expect((await call('chats.import', { chat: { ...whole, id: '../../settings' } })).id).toMatch(/^[0-9a-f-]{36}$/);
  await expect(call('chats.import', { chat: { ...whole, createdAt: 9e15 } })).rejects.toMatchObject({
    code: 'bad-request',
  });
  expect(await call('chats.restore', { chatId: 'c1' })).toMatchObject({ id: 'c1' });
  expect(await call('chats.list', undefined)).toHaveLength(3);
});

test('calls of tools stand in both forms; which tools the chat may call stays here', async () => {
  const kept = [
    { documentId: 'd', name: 'echo result.txt', part: { kind: 'passages' as const, passages: [passage] } },
    { documentId: 'z', name: 'a.zip', part: null },
  ];
  const call = toolCall({ state: 'done', result: '```\nno end', ms: 5, kept });
  const rounds = [{ text: 'I ask.', thinking: '', calls: [call] }];
  const called: Chat = {
    ...chat,
    ...{ leafId: 'b', tools: { chosen: [], allowed: ['s/echo'], mustCall: true } },
    messages: [message('q', null, 'user', 'When?'), message('b', 'q', 'assistant', 'Now.', { ...ended, rounds })],
  };
  const text = await exportedText(called, { format: 'markdown', branches: 'shown' }, labelsOf);
  expect(text).toContain(
    'I ask.\n\n*Called echo of Words: done*\n\n    {"a":1}\n\n    ```\n    no end\n\n- Document: echo result.txt (passages of Page 4)\n- File: a.zip\n\nNow.',
  );
  const exported = JSON.parse(await exportedText(called, { format: 'json', branches: 'shown' }, labelsOf));
  expect(exported.messages[1].rounds).toEqual(rounds);
  expect(exported.tools).toBeUndefined();
});
