/** Changed settings of the context load the model again, after the answer that is being written. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { holding, long, setUpServices as setUp } from '@/test/fixtures/services';

/** The pause after which changed settings count is over when the test says so. */
function holdTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

test('a changed context loads again by itself, once, after the answer; the chat goes on', async () => {
  const { engine, words } = holding();
  const { services, call, final, streaming } = await setUp({ engine });
  const { id } = await call('chats.create', {});
  const turn = await call('turns.send', { chatId: id, parentId: null, text: 'word '.repeat(200).trim() });
  await streaming(turn);
  await words.reached();
  const loads = services.engine.loads();
  holdTimers();
  await call('settings.update', { context: { nCtx: 1024 } });
  vi.advanceTimersByTime(499);
  await call('settings.update', { context: { nCtx: 2048 } });
  // the first change does not count any more
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(499);
  await vi.advanceTimersByTimeAsync(1);
  expect(services.engine.status()).toMatchObject({ state: 'generating', context: { nCtx: 8192 } });
  vi.useRealTimers();
  words.open();
  expect(await final(turn)).toMatchObject({ stopReason: 'end-of-turn' });
  await vi.waitFor(() => expect(services.engine.status().context?.nCtx).toBe(2048));
  expect(services.engine.loads()).toBe(loads + 1);
  holdTimers();
  await call('settings.update', { sampling: { temperature: 0 } });
  expect(vi.getTimerCount()).toBe(0);
  expect(services.engine.status().state).toBe('ready');
});

test('an answer that ends at the close does not bring the engine back for changed settings', async () => {
  const { services, call, streaming, final, transports } = await setUp(holding());
  const { id } = await call('chats.create', {});
  const turn = await call('turns.send', { chatId: id, parentId: null, text: long });
  await streaming(turn);
  holdTimers();
  await call('settings.update', { context: { nCtx: 1024 } });
  // from now on the load waits for the end of the answer
  await vi.advanceTimersByTimeAsync(500);
  vi.useRealTimers();
  const states = statesOf(services);
  await services.engine.close();
  expect(await final(turn)).toMatchObject({ stopReason: 'interrupted' });
  expect(states).not.toContain('loading');
  expect(transports).toHaveLength(1);
});

test('settings that change after the close do not start the engine', async () => {
  const { services, call, transports } = await setUp();
  await services.engine.close();
  const states = statesOf(services);
  holdTimers();
  await call('settings.update', { context: { nCtx: 1024 } });
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(500);
  expect(states).not.toContain('loading');
  expect(transports).toHaveLength(1);
});

/** every one from now on: a load shows before it asks anything of anybody */
function statesOf({ engine }: Awaited<ReturnType<typeof setUp>>['services']): string[] {
  const states: string[] = [];
  engine.changed.on(({ state }) => states.push(state));
  return states;
}
