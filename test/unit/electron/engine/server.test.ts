import { expect, test, vi } from 'vitest';
import type { StreamFrame } from '@/electron/contract/engine';
import type { GenerateRequest } from '@/electron/contract/engineContract';
import { ConcertinaError } from '@/electron/contract/errors';
import { contextSettingsSchema, samplingSettingsSchema } from '@/electron/contract/settings';
import type { Engine } from '@/electron/engine/native/types';
import { createEngineServer } from '@/electron/engine/server';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { Gate } from '@/test/fixtures/gate';

const context = contextSettingsSchema.parse({});
const calibration = { folder: '/none', textFile: '/none/text.txt' };

function setUp(engine: Engine = createFakeEngine()) {
  const frames: StreamFrame[] = [];
  const progress: number[] = [];
  const { handlers } = createEngineServer(() => engine, {
    frame: (frame) => frames.push(frame),
    loadProgress: (_step, fraction) => progress.push(fraction),
  });
  return { handlers, frames, progress, load: () => handlers.load({ path: '/m.gguf', context, calibration }) };
}

function request(requestId: string, content: string): GenerateRequest {
  return {
    requestId,
    chatId: 'chat',
    messageId: `message-${requestId}`,
    messages: [{ role: 'user', content }],
    now: 0,
    sampling: samplingSettingsSchema.parse({ seed: 7 }),
    jsonSchema: null,
  };
}

test('load reports progress and what is loaded; generate streams the text of its result', async () => {
  const { handlers, frames, progress, load } = setUp();
  const loaded = await load();
  expect(progress).toEqual([0.25, 0.5, 1]);
  expect(loaded.context.nCtx).toBe(8192);
  expect(loaded.memory.process).toBeGreaterThan(0);
  const result = await handlers.generate(request('a', 'one two three'));
  expect(result).toMatchObject({
    stopReason: 'end-of-turn',
    text: 'one two three',
    stats: { answerTokens: 3, seed: 7 },
  });
  expect(frames.map(({ text }) => text).join('')).toBe('one two three');
});

test('without a model every call that needs one says so', async () => {
  const { handlers } = setUp();
  const hint = expect.stringContaining('Choose');
  await expect(handlers.generate(request('a', 'x'))).rejects.toMatchObject({ code: 'model-missing', hint });
  await expect(handlers.countTokens({ messages: [], now: 0 })).rejects.toMatchObject({ code: 'model-missing' });
  expect(await handlers.memory(undefined)).toEqual({ memory: null, contextUsed: 0 });
});

test('whether drafting pays is measured over the answers of a chat, and anew in another context', async () => {
  const { handlers, load } = setUp(createFakeEngine({ drafts: true }));
  await load();
  const draftedIn = async (chatId: string) =>
    (await handlers.generate({ ...request('a', 'one two three'), chatId })).stats.drafts?.drafted;
  expect([await draftedIn('chat'), await draftedIn('chat'), await draftedIn('other')]).toEqual([3, 6, 3]);
  await load();
  expect(await draftedIn('chat')).toBe(3);
});

test('answers are written one after the other; the waiting one says that it is queued', async () => {
  const words = new Gate().hold(2);
  const { handlers, frames, load } = setUp(createFakeEngine({ words }));
  await load();
  const order: string[] = [];
  const answers = ['first', 'second'].map((id) =>
    handlers.generate(request(id, `the ${id} answer of them`)).then(() => order.push(id)),
  );
  await vi.waitFor(() => expect(frames.map(({ text }) => text).join('')).toBe('the first '));
  words.open();
  await Promise.all(answers);
  expect(order).toEqual(['first', 'second']);
  const ofSecond = frames.filter(({ requestId }) => requestId === 'second');
  expect(ofSecond[0]?.stats.phase).toBe('queued');
  const firstWord = frames.findIndex(({ requestId, text }) => requestId === 'second' && text !== '');
  const lastOfFirst = frames.findLastIndex(({ requestId }) => requestId === 'first');
  expect(firstWord).toBeGreaterThan(lastOfFirst);
});

test('cancel ends a running answer with its text, and a queued one without any', async () => {
  const { handlers, frames, load } = setUp(createFakeEngine({ words: new Gate().hold(3) }));
  await load();
  const running = handlers.generate(request('running', 'word '.repeat(1000)));
  const queued = handlers.generate(request('queued', 'never seen'));
  await vi.waitFor(() => expect(frames.some(({ text }) => text !== '')).toBe(true));
  await handlers.cancel({ requestId: 'queued' });
  await handlers.cancel({ requestId: 'running' });
  expect(await running).toMatchObject({ stopReason: 'cancelled', text: expect.stringMatching(/^word /) });
  expect(await queued).toMatchObject({ stopReason: 'cancelled', text: '' });
});

test('a load that fails leaves nothing loaded and the next one works', async () => {
  const engine = createFakeEngine();
  const { handlers, load } = setUp(engine);
  await load();
  vi.spyOn(engine, 'loadModel').mockRejectedValueOnce(Object.assign(new Error('too big'), { code: 'out-of-memory' }));
  const failing = handlers.load({ path: '/other.gguf', context, calibration });
  await expect(failing).rejects.toMatchObject({ code: 'out-of-memory', hint: expect.stringContaining('context') });
  expect(await handlers.memory(undefined)).toMatchObject({ memory: null });
  await load();
  expect((await handlers.memory(undefined)).memory).not.toBeNull();
});

test('a changed context on the same weights does not load the file again', async () => {
  const engine = createFakeEngine();
  const { handlers, load } = setUp(engine);
  const spy = vi.spyOn(engine, 'loadModel');
  await load();
  const again = await handlers.load({ path: '/m.gguf', context: { ...context, nCtx: 2048 }, calibration });
  expect(again.context.nCtx).toBe(2048);
  expect(spy).toHaveBeenCalledTimes(1);
  await handlers.load({ path: '/m.gguf', context: { ...context, gpuLayers: 3 }, calibration });
  expect(spy).toHaveBeenCalledTimes(2);
});

test('cancelLoad ends a load with the code cancelled; a later load replaces an earlier one', async () => {
  const loading = new Gate().hold(1);
  const { handlers, load } = setUp(createFakeEngine({ loading }));
  const loaded = load();
  await loading.reached();
  await handlers.cancelLoad(undefined);
  await expect(loaded).rejects.toMatchObject({ code: 'cancelled' });
  const first = load();
  await loading.reached();
  const second = handlers.load({ path: '/second.gguf', context: { ...context, nCtx: 1024 }, calibration });
  await expect(first).rejects.toMatchObject({ code: 'cancelled' });
  loading.open();
  expect((await second).context.nCtx).toBe(1024);
});

test('a binary that cannot be loaded is reported by every call', async () => {
  const { handlers } = createEngineServer(
    () => {
      throw new ConcertinaError('engine-unavailable', 'No such file.');
    },
    { frame: () => undefined, loadProgress: () => undefined },
  );
  await expect(handlers.capabilities(undefined)).rejects.toMatchObject({ code: 'engine-unavailable' });
});
