/** Answers that were stopped, or that the app died in: what they have is kept, and they go on. */
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Message } from '@/electron/contract/chats';
import { ChatStore } from '@/electron/services/chats/chatStore';
import { holding, long, setUpServices as setUp } from '@/test/fixtures/services';
import { temporaryFolder } from '@/test/fixtures/temporary';

/** The answer as the next start of the app would find it: another reader stands for the app after a power cut. */
async function asAfterDeath(dataFolder: string, chatId: string): Promise<Message | undefined> {
  const copy = await temporaryFolder();
  await mkdir(join(copy, 'chats'));
  await copyFile(join(dataFolder, 'chats', `${chatId}.jsonl`), join(copy, 'chats', `${chatId}.jsonl`));
  const store = new ChatStore(join(copy, 'chats'), join(copy, 'trash'));
  await store.load();
  return (await store.open(chatId)).messages[1];
}

test('stop keeps what was written; a second stop does nothing', async () => {
  const { call, final, state, begin } = await setUp(holding());
  const { turn } = await begin(long);
  expect((await call('engine.status', undefined)).state).toBe('generating');
  await call('turns.stop', { requestId: turn.requestId });
  const message = await final(turn);
  expect(message).toMatchObject({ stopReason: 'cancelled', error: null, text: expect.stringMatching(/^word/) });
  expect(message.text.length).toBeLessThan(long.length);
  await call('turns.stop', { requestId: turn.requestId });
  await state('ready');
});

test('a stopped answer goes on in the same message, behind what it has, and its figures are of both parts', async () => {
  const { engine, words } = holding(20);
  const { call, events, final, streaming } = await setUp({ engine });
  const { id } = await call('chats.create', {});
  const text = Array.from({ length: 60 }, (_, i) => `word${i}`).join(' ');
  const turn = await call('turns.send', { chatId: id, parentId: null, text });
  await streaming(turn);
  await call('turns.stop', { requestId: turn.requestId });
  const half = await final(turn);
  events.length = 0;
  const goOn = () => call('turns.continue', { chatId: id, messageId: half.id });
  const [more] = await Promise.all([goOn(), expect(goOn()).rejects.toMatchObject({ code: 'busy' })]);
  words.open();
  expect(more.assistantMessage).toEqual({ ...half, stopReason: null });
  // windows that saw it end are told before its next words come
  expect(events.find(({ name }) => name === 'onMessage' || name === 'onStream')).toEqual({
    name: 'onMessage',
    payload: { chatId: id, message: more.assistantMessage },
  });
  const whole = await final(more);
  expect(whole).toMatchObject({
    id: half.id,
    text,
    stopReason: 'end-of-turn',
    stats: { parts: 2, answerTokens: 60 },
  });
  expect(whole.stats?.promptTokens).toBe((half.stats?.promptTokens ?? 0) * 2);
  const { messages } = await call('chats.open', { chatId: id });
  expect(messages).toEqual([turn.userMessage, whole]);
  await expect(call('turns.continue', { chatId: id, messageId: half.id })).rejects.toMatchObject({
    message: 'This answer has come to its end.',
  });
});

test('an answer that other messages build on, or a question, is not continued', async () => {
  const { engine, words } = holding();
  const { call, final, begin } = await setUp({ engine });
  const { id, turn } = await begin(long);
  await call('turns.stop', { requestId: turn.requestId });
  const half = await final(turn);
  words.open();
  await final(await call('turns.send', { chatId: id, parentId: half.id, text: 'And?' }));
  const refused = (messageId: string) => expect(call('turns.continue', { chatId: id, messageId })).rejects;
  await refused(half.id).toMatchObject({ code: 'bad-request', message: 'Other messages build on this answer.' });
  await refused(turn.userMessage?.id ?? '').toMatchObject({ code: 'bad-request' });
  await refused('nobody').toMatchObject({ code: 'not-found' });
});

test('an app that dies while an answer goes on keeps both parts', async () => {
  const { engine, words } = holding();
  const { call, events, final, streaming, dataFolder, begin } = await setUp({ engine });
  const { id, turn } = await begin(long);
  await call('turns.stop', { requestId: turn.requestId });
  const half = await final(turn);
  events.length = 0;
  words.hold(4);
  await streaming(await call('turns.continue', { chatId: id, messageId: half.id }));
  await vi.waitFor(async () =>
    expect(await asAfterDeath(dataFolder, id)).toMatchObject({
      ...{ id: half.id, stopReason: 'interrupted', stats: half.stats },
      text: `${half.text}word word word word `,
    }),
  );
});

test('a partial answer reaches the disk while it is written', async () => {
  const { dataFolder, begin } = await setUp(holding());
  const { id } = await begin(long);
  await vi.waitFor(async () =>
    expect(await asAfterDeath(dataFolder, id)).toMatchObject({ stopReason: 'interrupted', text: 'word word word ' }),
  );
});
