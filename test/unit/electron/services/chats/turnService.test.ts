import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Message } from '@/electron/contract/chats';
import type { StreamFrame } from '@/electron/contract/engine';
import { ConcertinaError } from '@/electron/contract/errors';
import { settingsSchema } from '@/electron/contract/settings';
import { ChatStore } from '@/electron/services/chats/chatStore';
import { type AnswerEngine, TurnService } from '@/electron/services/chats/turnService';
import { LiveStatus } from '@/electron/services/engine/engineStatus';
import { Emitter } from '@/electron/services/lib/emitter';
import { silentLogger } from '@/electron/services/lib/logger';
import type { ToolRounds } from '@/electron/services/tools/toolRounds';
import { liveStats, answerStats as stats } from '@/test/fixtures/samples';
import { temporaryFolder } from '@/test/fixtures/temporary';

async function setUp(engine: Partial<AnswerEngine>) {
  const folder = await temporaryFolder();
  const store = new ChatStore(join(folder, 'chats'), join(folder, 'trash'));
  await store.load();
  const live = new LiveStatus();
  live.update({ state: 'ready' });
  const whole: AnswerEngine = {
    frames: new Emitter<StreamFrame>(),
    live,
    generate: () => Promise.reject(new ConcertinaError('cancelled', 'Stopped.')),
    whenReady: async () => undefined,
    countTokens: async () => ({ tokens: 1 }),
    contextSize: () => 512,
    modelName: () => 'Tiny',
    ...engine,
  };
  const questions = { prompt: async () => [], promptBefore: async () => [], attachments: async () => [] };
  const summaries = { check: async () => undefined, write: async () => 'end-of-turn' as const };
  const recall = { find: async () => [] };
  const settings = () => settingsSchema.parse({});
  const tools = { write: (...[, , { next }]: Parameters<ToolRounds['write']>) => next() };
  const turns = new TurnService(store, whole, settings, questions, summaries, recall, tools, silentLogger);
  const { id } = await store.create();
  return { store, turns, id };
}

test('a title that cannot be written does not leave a question without the end of its answer', async () => {
  const { store, turns, id } = await setUp({});
  vi.spyOn(store, 'rename').mockRejectedValueOnce(new ConcertinaError('storage-failed', 'The disk is full.'));
  await turns.send(id, null, 'Why?');
  await turns.close();
  expect((await store.open(id)).messages.map(({ stopReason }) => stopReason)).toEqual([null, 'cancelled']);
});

test('an answer that goes on with another model names both, and one that wrote nothing is not named', async () => {
  const model = { name: 'Tiny', text: 'One ' };
  const { store, turns, id } = await setUp({
    modelName: () => model.name,
    generate: async () => ({ text: model.text, thinking: '', toolCalls: [], stopReason: 'max-tokens', stats }),
  });
  const ended = () => new Promise<Message>((done) => turns.finished.on(({ message }) => done(message)));
  const first = ended();
  const { assistantMessage } = await turns.send(id, null, 'Count.');
  expect((await first).modelName).toBe('Tiny');
  for (const [name, text, names] of [
    ['Tiny', 'two ', 'Tiny'],
    ['Large', '', 'Tiny'],
    ['Large', 'three ', 'Tiny, then Large'],
    ['Large', 'four', 'Tiny, then Large'],
  ] as const) {
    Object.assign(model, { name, text });
    const next = ended();
    await turns.continue(id, assistantMessage.id);
    expect((await next).modelName).toBe(names);
  }
  expect((await store.open(id)).messages.at(-1)?.text).toBe('One two three four');
});

test('what is new in an answer is put on the disk a second after it came, once', async () => {
  const frames = new Emitter<StreamFrame>();
  const { store, turns, id } = await setUp({ frames, generate: () => new Promise(() => undefined) });
  const put = vi.spyOn(store, 'addPartial').mockResolvedValue();
  const { requestId, assistantMessage } = await turns.send(id, null, 'Count.');
  const frame = (text: string) =>
    frames.emit({ ...{ requestId, chatId: id, messageId: assistantMessage.id }, text, thinking: '', stats: liveStats });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  frame('One ');
  vi.advanceTimersByTime(900);
  frame('two ');
  vi.advanceTimersByTime(99);
  expect(put).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(put.mock.lastCall).toEqual([id, assistantMessage.id, 'One two ', '']);
  frame('three ');
  vi.advanceTimersByTime(5000);
  expect(put.mock.lastCall).toEqual([id, assistantMessage.id, 'three ', '']);
  expect(put).toHaveBeenCalledTimes(2);
});
