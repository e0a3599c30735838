/** Briefs in place of the oldest messages: their plan, writing, undoing, branches, and what is written of them. */
import { appendFile, copyFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Turn } from '@/electron/contract/chatOperations';
import type { BriefProgress } from '@/electron/contract/lib/brief';
import type { ChatMessage } from '@/electron/engine/native/types';
import { problemOf } from '@/electron/services/chats/briefs';
import { ChatStore } from '@/electron/services/chats/chatStore';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { Gate } from '@/test/fixtures/gate';
import { afterPowerCut, attach, bundlesWithWorkers, setUpServices, waiting } from '@/test/fixtures/services';
import { temporaryFolder } from '@/test/fixtures/temporary';

const nCtx = 1280;
const isRequest = (messages: ChatMessage[]) => messages.at(-1)?.content.startsWith('Write a brief') ?? false;
const written = 'The keeper of lamp 1 counts stones. Nothing is open.';
/** 60 words, and the answer says them again */
const questionOf = (i: number) => `Question ${i}: ${`lamp${i} stands by wall${i} in the `.repeat(10).trim()}`;

async function setUp({ overflow = 'stop' as 'stop' | 'brief', text = written, bundles = '' } = {}) {
  const prompts: ChatMessage[][] = [];
  const words = new Gate();
  const engine = createFakeEngine({
    words,
    onPrompt: (messages) => prompts.push(structuredClone(messages)),
    answerTo: (messages) => (isRequest(messages) ? text : (messages.at(-1)?.content.split('\n').at(-1) ?? '')),
  });
  const app = await setUpServices({ engine, start: false, ...(bundles && { bundles }) });
  const { call, final } = app;
  await call('settings.update', { context: { nCtx }, documents: { reserve: 256 }, overflow });
  app.services.engine.start();
  await app.state('ready');
  const ask = async (chatId: string, parentId: string | null, question: string): Promise<Turn> => {
    const turn = await call('turns.send', { chatId, parentId, text: question });
    await final(turn);
    return turn;
  };
  const askMany = async (count: number, first = 0) => {
    const { id: chatId } = await call('chats.create', {});
    const leaves: string[] = [];
    for (let i = first; i < first + count; i++)
      leaves.push((await ask(chatId, leaves.at(-1) ?? null, questionOf(i))).assistantMessage.id);
    return { chatId, leaves, leafId: leaves.at(-1) ?? '' };
  };
  const end = (chatId: string, count = 1) =>
    vi.waitFor(() => {
      const ends = app.payloads('onBrief').filter((progress) => progress.chatId === chatId && progress.end);
      if (ends.length < count) throw new Error('not yet');
      return ends.at(-1)?.end as NonNullable<BriefProgress['end']>;
    }, waiting);
  const made = async (chatId: string, leafId: string) => {
    const before = app.payloads('onBrief').filter(({ end: ended }) => ended).length;
    await call('briefs.make', { chatId, leafId });
    return end(chatId, before + 1);
  };
  const textsOf = (messages: ChatMessage[]) => messages.map(({ content }) => content);
  return { ...app, ask, askMany, end, made, prompts, words, textsOf };
}

test('a brief stands in place of all messages but those of the last two questions, and can be undone', async () => {
  const { call, ask, askMany, made, prompts, textsOf } = await setUp();
  const { chatId, leafId, leaves } = await askMany(4);
  const plan = await call('briefs.plan', { chatId, leafId });
  expect(plan).toMatchObject({ messages: 4, throughId: leaves[1], most: expect.any(Number) });
  expect(plan?.replaced).toBeGreaterThan(200);
  // the messages themselves are read already
  expect(plan?.read).toBeLessThan(100);
  const { brief } = await made(chatId, leafId);
  expect(brief).toMatchObject({ throughId: leaves[1], messages: 4, text: written, edited: false, modelName: 'Tiny' });
  // asked behind the messages that it stands for
  expect(textsOf(prompts.at(-1) ?? []).slice(0, 3)).toEqual([questionOf(0), questionOf(0), questionOf(1)]);

  const turn = await ask(chatId, leafId, 'And now?');
  const [first = '', ...others] = textsOf(prompts.at(-1) ?? []);
  expect(first).toBe(`This is a brief of what we wrote before:\n\n${written}\n\n${questionOf(2)}`);
  expect(others).toEqual([questionOf(2), questionOf(3), questionOf(3), 'And now?']);
  const budget = await call('turns.budget', { chatId, leafId: turn.assistantMessage.id, draft: 'x', attachments: [] });
  expect(budget.briefed).toBe(4);

  const edited = await call('briefs.edit', { chatId, briefId: brief?.id ?? '', text: 'Only lamp 1.' });
  expect(edited).toMatchObject({ text: 'Only lamp 1.', edited: true, throughId: leaves[1] });
  await ask(chatId, leafId, 'Then?');
  expect(prompts.at(-1)?.[0]?.content).toContain('Only lamp 1.');
  await call('briefs.remove', { chatId, briefId: brief?.id ?? '' });
  await ask(chatId, leafId, 'Or?');
  expect(textsOf(prompts.at(-1) ?? [])[0]).toBe(questionOf(0));
  expect((await call('chats.open', { chatId })).messages).toHaveLength(14);
});

test('a second brief stands for the first one too, and a branch beside it has neither', async () => {
  const { call, ask, askMany, made, prompts, textsOf } = await setUp();
  const { chatId, leafId, leaves } = await askMany(4);
  const { brief: first } = await made(chatId, leafId);
  let leaf = leafId;
  for (let i = 4; i < 6; i++) leaf = (await ask(chatId, leaf, questionOf(i))).assistantMessage.id;
  const { brief: second } = await made(chatId, leaf);
  expect(prompts.at(-1)?.[0]?.content).toContain(written);
  expect(second).toMatchObject({ messages: 8, throughId: leaves[3] });
  await ask(chatId, leaf, 'And now?');
  expect(prompts.at(-1)?.[0]?.content.split(written)).toHaveLength(2);
  expect(textsOf(prompts.at(-1) ?? [])).toHaveLength(5);

  // goes on from the first answer: no message that a brief reaches to is on this path
  await ask(chatId, leaves[0] ?? null, 'Other?');
  expect(textsOf(prompts.at(-1) ?? [])).toEqual([questionOf(0), questionOf(0), 'Other?']);
  await call('briefs.remove', { chatId, briefId: second?.id ?? '' });
  const { briefs } = await call('chats.open', { chatId });
  expect(briefs.map(({ id }) => id)).toEqual([first?.id]);
});

test('messages with documents and the system prompt are never shortened', async () => {
  const { call, final, ask, made, prompts } = await setUp();
  await call('settings.update', { systemPrompt: 'Be brief.' });
  const note = await attach(call, 'note.txt', 'A note about the harbor.');
  const { id: chatId } = await call('chats.create', {});
  const turn = await call('turns.send', { chatId, parentId: null, text: questionOf(0), attachments: [note] });
  await final(turn);
  let leaf = turn.assistantMessage.id;
  for (let i = 1; i < 5; i++) leaf = (await ask(chatId, leaf, questionOf(i))).assistantMessage.id;
  const { brief } = await made(chatId, leaf);
  expect(brief?.messages).toBe(4);
  await ask(chatId, leaf, 'And now?');
  const [system, question, answer, behind] = prompts.at(-1) ?? [];
  expect(system).toMatchObject({ role: 'system', content: 'Be brief.' });
  expect(question?.content).toContain('A note about the harbor.');
  expect(answer?.role).toBe('assistant');
  expect(behind?.content).toContain(written);
});

test.each([
  ['nothing', '   ', 'The model wrote nothing. The messages stay as they are.'],
  ['too little', 'The text does not say.', 'What the model wrote says too little. The messages stay as they are.'],
  [
    'the same again and again',
    'the lamp stands by the wall '.repeat(8),
    'What the model wrote repeats itself. The messages stay as they are.',
  ],
])('a brief that says %s is not used', async (_what, text, problem) => {
  const { call, askMany, made } = await setUp({ text });
  const { chatId, leafId } = await askMany(4);
  expect(await made(chatId, leafId)).toEqual({ brief: null, problem });
  expect((await call('chats.open', { chatId })).briefs).toEqual([]);
});

test('what is no shorter than the messages is not used', () => {
  expect(problemOf('One two three.', 30, 30)).toContain('no shorter');
  expect(problemOf('One two three.', 29, 30)).toBeNull();
});

test('a chat with too little to shorten is told so', async () => {
  const { call, askMany } = await setUp();
  const { chatId, leafId } = await askMany(2);
  expect(await call('briefs.plan', { chatId, leafId })).toBeNull();
  await expect(call('briefs.make', { chatId, leafId })).rejects.toMatchObject({
    message: 'There is too little to shorten in this chat.',
  });
});

test('a brief can be canceled, and a question that comes meanwhile waits for its end', async () => {
  const { call, askMany, end, words, final, prompts } = await setUp();
  const { chatId, leafId } = await askMany(4);
  words.hold(2);
  await call('briefs.make', { chatId, leafId });
  await words.reached();
  await call('briefs.cancel', { chatId });
  expect(await end(chatId)).toEqual({ brief: null, problem: null });

  words.hold(2);
  await call('briefs.make', { chatId, leafId });
  await words.reached();
  await expect(call('briefs.make', { chatId, leafId })).rejects.toMatchObject({ code: 'busy' });
  const sent = call('turns.send', { chatId, parentId: leafId, text: 'And now?' });
  words.open();
  const { brief } = await end(chatId, 2);
  expect(brief?.text).toBe(written);
  await final(await sent);
  expect(prompts.at(-1)?.[0]?.content).toContain(written);
});

test('with the setting, an answer that leaves more than three quarters of the context full begins one', async () => {
  const { call, askMany, end } = await setUp({ overflow: 'brief' });
  const { chatId } = await askMany(1);
  expect((await call('chats.open', { chatId })).briefs).toEqual([]);
  // the fake engine's context is as full as its answer is long
  const other = await askMany(4);
  const text = 'word '.repeat(1000).trim();
  await call('turns.send', { chatId: other.chatId, parentId: other.leafId, text });
  expect((await end(other.chatId)).problem).toBeNull();
  expect((await call('chats.open', { chatId: other.chatId })).briefs).toHaveLength(1);
});

test('what a question asks of shortened messages comes back before it, and stays with it', async () => {
  const { call, ask, askMany, made, prompts, textsOf, final } = await setUp({ bundles: await bundlesWithWorkers() });
  const { chatId, leafId } = await askMany(4);
  const budgetOf = (draft: string, leaf = leafId) =>
    call('turns.budget', { chatId, leafId: leaf, draft, attachments: [] });
  expect((await ask(chatId, leafId, 'Where does lamp1 stand?')).userMessage?.recalled).toBeUndefined();
  await made(chatId, leafId);

  const budget = await budgetOf('Where does lamp1 stand?');
  const turn = await ask(chatId, leafId, 'Where does lamp1 stand?');
  const { messages } = await call('chats.open', { chatId });
  const recalled = turn.userMessage?.recalled ?? [];
  expect(recalled.length).toBeGreaterThan(0);
  const stretches = recalled.map(({ messageId, start, end }) =>
    messages.find(({ id }) => id === messageId)?.text.slice(start, end),
  );
  expect(stretches.some((text) => text?.includes('lamp1 stands by wall1'))).toBe(true);
  const last = textsOf(prompts.at(-1) ?? []).at(-1) ?? '';
  expect(last).toMatch(/^From earlier in this conversation:\n\[I wrote\] .*lamp1 stands by wall1/);
  expect(last).toMatch(/\n\nWhere does lamp1 stand\?$/);
  const wordsOf = (prompt: readonly ChatMessage[]) =>
    textsOf([...prompt])
      .join(' ')
      .split(/\s+/)
      .filter(Boolean).length;
  expect(wordsOf(prompts.at(-1) ?? [])).toBe(budget.total);
  // an eighth of the context
  expect(last.split(/\s+/).length).toBeLessThanOrEqual(nCtx / 8 + 4);

  // its bytes stay in the prompts of what follows, and a question about something else brings nothing
  const next = await ask(chatId, turn.assistantMessage.id, 'Zebra?');
  expect(next.userMessage?.recalled).toBeUndefined();
  expect(textsOf(prompts.at(-1) ?? [])).toContain(last);
  // with the messages back, it is there once
  const { briefs } = await call('chats.open', { chatId });
  await call('briefs.remove', { chatId, briefId: briefs[0]?.id ?? '' });
  const again = await call('turns.regenerate', { chatId, messageId: turn.assistantMessage.id });
  await final({ ...again, userMessage: null });
  expect(textsOf(prompts.at(-1) ?? []).at(-1)).toBe('Where does lamp1 stand?');
}, 60_000);

test('briefs are in the log, and in what is exported and imported; what a newer version wrote stays there', async () => {
  const { call, askMany, made, dataFolder } = await setUp();
  const { chatId, leafId } = await askMany(4);
  const { brief } = await made(chatId, leafId);
  expect((await afterPowerCut(dataFolder, chatId)).briefs).toEqual([brief]);
  const { text } = await call('chats.exportText', { chatId, format: 'json', branches: 'shown' });
  const { id } = await call('chats.import', { chat: JSON.parse(text) });
  expect((await call('chats.open', { chatId: id })).briefs).toEqual([brief]);

  const file = join(dataFolder, 'chats', `${chatId}.jsonl`);
  const newer = `${JSON.stringify({ type: 'thread', at: 1, of: 'a later version' })}\n`;
  const later = `${JSON.stringify({ type: 'brief', version: 2, at: 1, brief: 'of another form' })}\n`;
  await appendFile(file, `${newer}${later}{"type":"message","at":5,"mess\n`);
  const copy = await temporaryFolder();
  await mkdir(join(copy, 'chats'));
  await copyFile(file, join(copy, 'chats', `${chatId}.jsonl`));
  const store = new ChatStore(join(copy, 'chats'), join(copy, 'trash'));
  await store.load();
  const chat = await store.open(chatId);
  expect(chat).toMatchObject({ damagedLines: 1, briefs: [brief] });
  expect(chat.messages).toHaveLength(8);
  // it was repaired
  const repaired = await readFile(join(copy, 'chats', `${chatId}.jsonl`), 'utf8');
  expect(repaired).not.toContain('"mess\n');
  expect(repaired).toContain(newer + later);
});
