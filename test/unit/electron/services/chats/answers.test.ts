/**
 * Questions and their answers over the engine server with a fake engine: turns, branches, the prompt; answers that were
 * stopped, or that the app died in.
 */
import { expect, test, vi } from 'vitest';
import type { AnswerStats, Chat } from '@/electron/contract/chats';
import { addStats } from '@/electron/services/chats/runningAnswer';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { Gate } from '@/test/fixtures/gate';
import { afterPowerCut, holding, long, setUpServices as setUp } from '@/test/fixtures/services';

const part: AnswerStats = {
  ...{ promptTokens: 100, cachedTokens: 40, restoredTokens: 40, rereadTokens: 1, answerTokens: 20, ttftMs: 300 },
  ...{ promptTokensPerSecond: 120, tokensPerSecond: 10, contextUsed: 119, contextSize: 512 },
  ...{ typeK: 'f16', typeV: 'f16', seed: 1, parts: 1 },
};

test('figures of two parts: tokens add up, rates are over all the time, the cache is as it was found last', () => {
  const later = { ...part, promptTokens: 120, cachedTokens: 119, answerTokens: 40, ttftMs: 5, tokensPerSecond: 40 };
  const both = addStats(part, { ...later, promptTokensPerSecond: 0, contextUsed: 159, typeK: 'turbo4', seed: 2 });
  // a first part without figures was cut off by a crash
  expect(addStats(null, part)).toBe(part);
  expect(both).toEqual({
    ...{ promptTokens: 220, cachedTokens: 159, restoredTokens: 80, rereadTokens: 2, answerTokens: 60, ttftMs: 300 },
    // 20 tokens took two seconds, 40 took one
    ...{ promptTokensPerSecond: 120, tokensPerSecond: 20, contextUsed: 159, contextSize: 512 },
    ...{ typeK: 'turbo4', typeV: 'f16', seed: 2, parts: 2 },
  });
});

test('drafts of two parts add up, and it counts whether the chat goes on without', () => {
  const drafts = { drafted: 16, accepted: 10, slower: false };
  const later = { ...part, drafts: { drafted: 8, accepted: 0, slower: true } };
  expect(addStats({ ...part, drafts }, later).drafts).toEqual({ drafted: 24, accepted: 10, slower: true });
  expect(addStats(part, later).drafts).toEqual(later.drafts);
});

test('a turn appends question and answer, streams, and ends with the whole text on disk', async () => {
  const { call, payloads, final, send } = await setUp();
  const { id, turn } = await send('Echo this please');
  expect(turn.userMessage).toMatchObject({ role: 'user', text: 'Echo this please', parentId: null });
  expect(turn.assistantMessage).toMatchObject({ role: 'assistant', parentId: turn.userMessage?.id, stopReason: null });
  const message = await final(turn);
  expect(message).toMatchObject({
    ...{ text: 'Echo this please', stopReason: 'end-of-turn', modelName: 'Tiny', error: null },
    stats: { answerTokens: 3, typeK: 'turbo4' },
  });
  const streamed = payloads('onStream').map(({ text }) => text);
  expect(streamed.join('')).toBe('Echo this please');
  const chat = await call('chats.open', { chatId: id });
  expect(chat).toMatchObject({ title: 'Echo this please', leafId: message.id, messages: [turn.userMessage, message] });
});

test('the prompt is the system prompt and the branch only', async () => {
  const prompts: unknown[] = [];
  const { call, final } = await setUp({ engine: createFakeEngine({ onPrompt: (prompt) => prompts.push(prompt) }) });
  await call('settings.update', { systemPrompt: 'Be brief.' });
  const { id } = await call('chats.create', {});
  const first = await final(await call('turns.send', { chatId: id, parentId: null, text: 'one' }));
  await final(await call('turns.send', { chatId: id, parentId: first.id, text: 'left' }));
  await final(await call('turns.send', { chatId: id, parentId: first.id, text: 'right' }));
  expect(prompts.at(-1)).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'one' },
    { role: 'assistant', content: 'one' },
    { role: 'user', content: 'right' },
  ]);
});

test('regenerate and edit make branches beside the old ones', async () => {
  const { call, final, send } = await setUp();
  const { id, turn } = await send('first');
  const answer = await final(turn);
  const again = await call('turns.regenerate', { chatId: id, messageId: answer.id });
  expect(again).toMatchObject({ userMessage: null, assistantMessage: { parentId: turn.userMessage?.id } });
  await final(again);
  const edited = await call('turns.edit', { chatId: id, messageId: turn.userMessage?.id ?? '', text: 'other words' });
  expect(edited.userMessage).toMatchObject({ parentId: null, text: 'other words' });
  expect(await final(edited)).toMatchObject({ text: 'other words' });
  const chat: Chat = await call('chats.open', { chatId: id });
  expect(chat.messages).toHaveLength(5);
  expect(chat.messages[1]).toEqual(answer);
  expect(chat).toMatchObject({ leafId: edited.assistantMessage.id, title: 'first' });
  const editAnswer = call('turns.edit', { chatId: id, messageId: answer.id, text: 'x' });
  await expect(editAnswer).rejects.toMatchObject({ code: 'bad-request' });
  const nobody = call('turns.regenerate', { chatId: id, messageId: 'nobody' });
  await expect(nobody).rejects.toMatchObject({ code: 'not-found' });
});

test('an answer that is asked for while the model loads waits for it', async () => {
  const loading = new Gate().hold();
  const { services, final, send } = await setUp({ engine: createFakeEngine({ loading }), start: false });
  services.engine.start();
  await loading.reached();
  const { turn } = await send('patience');
  loading.open();
  expect(await final(turn)).toMatchObject({ text: 'patience', modelName: 'Tiny' });
});

test('removing a chat ends its answer first; restore brings the text back', async () => {
  const { call, begin } = await setUp(holding());
  const { id } = await begin(long);
  await call('chats.remove', { chatId: id });
  expect(await call('chats.list', undefined)).toEqual([]);
  await expect(call('chats.open', { chatId: id })).rejects.toMatchObject({ code: 'not-found' });
  await call('chats.restore', { chatId: id });
  const { messages } = await call('chats.open', { chatId: id });
  expect(messages[1]).toMatchObject({ stopReason: 'cancelled', text: expect.stringMatching(/^word/) });
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
  expect(half).toMatchObject({ stopReason: 'cancelled', error: null });
  await call('turns.stop', { requestId: turn.requestId });
  events.length = 0;
  const goOn = () => call('turns.continue', { chatId: id, messageId: half.id });
  const [more] = await Promise.all([goOn(), expect(goOn()).rejects.toMatchObject({ code: 'busy' })]);
  words.open();
  expect(more.assistantMessage).toEqual({ ...half, stopReason: null });
  // windows that saw it end are notified before its next words come
  expect(events.find(({ name }) => name === 'onMessage' || name === 'onStream')).toEqual({
    name: 'onMessage',
    payload: { chatId: id, message: more.assistantMessage, requestId: more.requestId },
  });
  const whole = await final(more);
  expect(whole).toMatchObject({ id: half.id, text, stopReason: 'end-of-turn', stats: { parts: 2, answerTokens: 60 } });
  expect(whole.stats?.promptTokens).toBe((half.stats?.promptTokens ?? 0) * 2);
  const { messages } = await call('chats.open', { chatId: id });
  expect(messages).toEqual([turn.userMessage, whole]);
  await expect(goOn()).rejects.toMatchObject({ code: 'bad-request' });
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
  await refused(half.id).toMatchObject({ code: 'bad-request' });
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
  const kept = {
    ...half,
    stopReason: 'interrupted',
    text: `${half.text}word word word word `,
    error: expect.objectContaining({ code: 'engine-crashed' }),
  };
  await vi.waitFor(async () => expect((await afterPowerCut(dataFolder, id)).messages[1]).toEqual(kept));
});
