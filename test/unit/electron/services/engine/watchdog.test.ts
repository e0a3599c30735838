/** The engine process dies or goes silent: when it is started again, and what that does to an answer and to the model. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { RestartPolicy } from '@/electron/services/engine/watchdog';
import { holding, long, setUpServices as setUp } from '@/test/fixtures/services';

const crash = (key: string) => ({ key, outOfMemory: false });

/** with these crashes behind it: what crashed, and when */
function after(...crashes: [key: string, at: number][]): RestartPolicy {
  const policy = new RestartPolicy();
  for (const [key, at] of crashes) policy.decide(crash(key), at);
  return policy;
}

const early = after(['a', 0], ['b', 10_000]);
early.started(11_000);
const well = after(['a', 0]);
well.succeeded('a');

test.each([
  ['a restart is a minute after the last one, which waited', after(['a', 0], ['b', 10_000]), 'c', 61_000, 59_000, true],
  ['a late one does not wait', after(['a', 0], ['b', 10_000], ['c', 61_000]), 'd', 300_000, 0, true],
  ['the same load is not repeated after its second crash, however late', after(['a', 0]), 'a', 3_600_000, 0, false],
  ['a restart that a person asked for early moves the next one no further away', early, 'c', 20_000, 51_000, true],
  ['an answer that went well between two crashes makes the second one new', well, 'a', 100_000, 0, true],
])('%s', (_, policy, key, at, delayMs, reload) => {
  expect(policy.decide(crash(key), at)).toEqual({ delayMs, reload });
});

test('the engine dies in mid-answer: the text is kept, the error reported, and the next answer works', async () => {
  const { engine, words } = holding();
  const { call, final, state, transports, begin } = await setUp({ engine });
  const { id, turn } = await begin(long);
  transports.at(-1)?.exit({ code: null, signal: 'SIGSEGV' });
  const message = await final(turn);
  expect(message).toMatchObject({
    stopReason: 'interrupted',
    error: { code: 'engine-crashed', message: expect.stringContaining('SIGSEGV') },
    text: expect.stringMatching(/^word/),
  });
  expect((await call('chats.open', { chatId: id })).messages[1]).toEqual(message);
  expect(await state('ready')).toMatchObject({ restarts: 1, error: null, model: { name: 'Tiny' } });
  words.open();
  const next = await call('turns.send', { chatId: id, parentId: message.id, text: 'again' });
  expect(await final(next)).toMatchObject({ text: 'again', stopReason: 'end-of-turn' });
});

test('an engine that goes silent in mid-answer is reported and can be restarted; the text is kept, and the model is loaded', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { call, final, state, transports, services, begin } = await setUp(holding());
  const { turn } = await begin(long);
  const silent = transports.at(-1);
  if (silent) silent.message = () => undefined;
  vi.advanceTimersByTime(35_000);
  expect(services.engine.status()).toMatchObject({ state: 'generating', stalled: 'silent' });
  await call('engine.restart', undefined);
  expect(await final(turn)).toMatchObject({
    stopReason: 'interrupted',
    error: { code: 'engine-crashed', message: 'The engine did not answer and was restarted.' },
    text: expect.stringMatching(/^word/),
  });
  expect(await state('ready')).toMatchObject({ stalled: null, restarts: 0, error: null });
});

test('the same settings that crash twice are not loaded a third time, until a person asks for it', async () => {
  const { call, state, transports } = await setUp();
  transports.at(-1)?.exit({ code: null, signal: 'SIGABRT' });
  await vi.waitFor(() => expect(transports).toHaveLength(2));
  await state('ready');
  transports.at(-1)?.exit({ code: null, signal: 'SIGABRT' });
  const failed = await state('failed');
  expect(failed.error).toMatchObject({ code: 'engine-crashed', hint: expect.stringContaining('before') });
  const { id } = await call('chats.create', {});
  const sent = call('turns.send', { chatId: id, parentId: null, text: 'x' });
  await expect(sent).rejects.toMatchObject({ code: 'engine-crashed' });
  expect((await call('chats.open', { chatId: id })).messages).toEqual([]);
  expect(await call('engine.reload', undefined)).toMatchObject({ state: 'ready' });
});
