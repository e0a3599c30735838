/** Questions that are asked while an answer is being written: when they are sent, when they stay, and what survives. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { ConcertinaError } from '@/electron/contract/errors';
import type { Attachment } from '@/electron/contract/lib/attachments';
import { attach, holding, long, setUpServices, waiting } from '@/test/fixtures/services';

type Opened = Awaited<ReturnType<typeof setUpServices>>;

/** An answer that has begun and stands still, until `words` is opened. */
async function answering() {
  const { engine, words } = holding();
  const opened = await setUpServices({ engine });
  const { id: chatId, turn } = await opened.begin(long);
  const wait = (text: string, attachments: Attachment[] = []) =>
    opened.call('waiting.add', { chatId, text, attachments });
  return { ...opened, words, chatId, turn, wait };
}

const listed = async ({ call }: Pick<Opened, 'call'>) => (await call('waiting.list', undefined)).messages;

/** Of the chat: role and text of each message whose answer has ended, or that is a question. */
async function texts({ call }: Pick<Opened, 'call'>, chatId: string): Promise<string[]> {
  const { messages } = await call('chats.open', { chatId });
  return messages.flatMap(({ role, text, stopReason }) => (role === 'user' || stopReason !== null ? text : []));
}

test('each is sent when the answer before it has ended, in their order, below that answer', async () => {
  const opened = await answering();
  const { chatId, words, wait, call, payloads } = opened;
  await wait('Second?');
  await wait('Third?');
  expect((await listed(opened)).map(({ text, held }) => ({ text, held }))).toEqual([
    { text: 'Second?', held: null },
    { text: 'Third?', held: null },
  ]);
  words.open();
  await vi.waitFor(
    async () => expect(await texts(opened, chatId)).toEqual([long, long, 'Second?', 'Second?', 'Third?', 'Third?']),
    waiting,
  );
  await vi.waitFor(async () => expect(await listed(opened)).toEqual([]), waiting);
  const { messages } = await call('chats.open', { chatId });
  expect(messages.map(({ parentId }) => parentId)).toEqual([null, ...messages.slice(0, -1).map(({ id }) => id)]);
  // a window hears what each answer is stopped by
  const begun = payloads('onMessage').filter(({ requestId }) => requestId !== undefined);
  expect(begun.map(({ message }) => message.id)).toEqual(
    messages.filter(({ role }) => role === 'assistant').map(({ id }) => id),
  );
});

test('one that comes when the answer has just ended is sent at once, with its documents', async () => {
  const opened = await setUpServices();
  const { call, send, final } = opened;
  const { id: chatId, turn } = await send('First?');
  await final(turn);
  const document = await attach(call, 'a.txt', 'words of a document');
  await call('waiting.add', { chatId, text: 'Second?', attachments: [document] });
  expect(await listed(opened)).toEqual([]);
  const { messages } = await call('chats.open', { chatId });
  expect(messages[2]).toMatchObject({ parentId: turn.assistantMessage.id, attachments: [document] });
});

test('behind an answer that was stopped they stay, with the reason, until a person sends them', async () => {
  const opened = await answering();
  const { chatId, turn, words, wait, call, final } = opened;
  await wait('Second?');
  await wait('Third?');
  await call('turns.stop', { requestId: turn.requestId });
  await final(turn);
  await vi.waitFor(
    async () =>
      expect((await listed(opened)).map(({ held }) => held)).toEqual(Array(2).fill(expect.stringMatching(/stopped/))),
    waiting,
  );
  words.open();
  const [second, third] = await listed(opened);
  await call('waiting.send', { id: third?.id ?? '' });
  await vi.waitFor(async () => expect((await texts(opened, chatId)).slice(2)).toEqual(['Third?', 'Third?']), waiting);
  expect(await listed(opened)).toEqual([second]);
  await call('waiting.remove', { id: second?.id ?? '' });
  expect(await listed(opened)).toEqual([]);
  await expect(call('waiting.remove', { id: second?.id ?? '' })).rejects.toMatchObject({ code: 'not-found' });
  await expect(call('waiting.send', { id: second?.id ?? '' })).rejects.toMatchObject({ code: 'not-found' });
});

test('one that is held and sent while another answer is being written goes behind that', async () => {
  const opened = await answering();
  const { chatId, turn, words, wait, call, final, streaming } = opened;
  await wait('Second?');
  await call('turns.stop', { requestId: turn.requestId });
  await final(turn);
  await vi.waitFor(async () => expect((await listed(opened))[0]?.held).not.toBeNull(), waiting);
  words.open();
  words.hold(3);
  const other = await call('turns.send', { chatId, parentId: turn.assistantMessage.id, text: long });
  await streaming(other);
  await call('waiting.send', { id: (await listed(opened))[0]?.id ?? '' });
  expect(await listed(opened)).toMatchObject([{ text: 'Second?', held: null }]);
  words.open();
  await vi.waitFor(async () => expect((await texts(opened, chatId)).slice(4)).toEqual(['Second?', 'Second?']), waiting);
});

test('nothing is lost when the engine dies: it stays, and says why', async () => {
  const opened = await answering();
  const { turn, wait, final, transports } = opened;
  await wait('Second?');
  transports[0]?.exit({ code: null, signal: 'SIGKILL' });
  expect(await final(turn)).toMatchObject({ stopReason: 'interrupted' });
  await vi.waitFor(
    async () => expect(await listed(opened)).toMatchObject([{ held: expect.stringContaining('engine stopped') }]),
    waiting,
  );
});

test('what the services refuse to send stays with the reason', async () => {
  const opened = await answering();
  const { words, wait } = opened;
  await wait('Second?', [{ documentId: 'a'.repeat(64), name: 'gone.txt', part: { kind: 'whole' } }]);
  await wait('Third?');
  words.open();
  await vi.waitFor(async () => {
    const [second, third] = await listed(opened);
    expect(second?.held).toMatch(/could not be sent\..*gone\.txt/);
    expect(third?.held).not.toBeNull();
  }, waiting);
});

test('nothing is lost when the app is closed, and the chat is only gone on with when a person says so', async () => {
  const opened = await answering();
  const { chatId, wait, call, services, dataFolder } = opened;
  const document = await attach(call, 'a.txt', 'words of a document');
  await wait('Second?', [document]);
  await services.close();
  expect(JSON.parse(await readFile(join(dataFolder, 'waiting.json'), 'utf8'))).toMatchObject({
    messages: [{ held: null }],
  });
  const again = await setUpServices({ data: dataFolder });
  expect(await listed(again)).toMatchObject([
    { chatId, text: 'Second?', attachments: [document], held: expect.stringMatching(/closed/) },
  ]);
  // nobody else names its document
  expect((await again.call('documents.usage', undefined)).unused.count).toBe(0);
  await again.call('waiting.send', { id: (await listed(again))[0]?.id ?? '' });
  await vi.waitFor(async () => expect((await texts(again, chatId)).slice(2)).toHaveLength(2), waiting);
});

test('they are deleted with their chat, and stay while it lies in the trash', async () => {
  const opened = await answering();
  const { chatId, wait, call } = opened;
  await wait('Second?');
  await call('chats.remove', { chatId });
  await vi.waitFor(async () => expect((await listed(opened))[0]?.held).toMatch(/stopped/), waiting);
  await call('chats.destroy', { chatIds: [chatId] });
  expect(await listed(opened)).toEqual([]);
});

test('more than a hundred are refused', async () => {
  const opened = await answering();
  for (let i = 0; i < 100; i++) await opened.wait(`Number ${i}?`);
  await expect(opened.wait('One more?')).rejects.toThrow(ConcertinaError);
  expect(await listed(opened)).toHaveLength(100);
});
