/** Changed settings of the context load the model again, after the answer that is being written. */
import { expect, test, vi } from 'vitest';
import { long, setUpServices as setUp, slow } from '../../../../fixtures/services';

test('a changed context loads again by itself, once, after the answer; the chat goes on', async () => {
  const engine = slow();
  const { call, final, streaming } = await setUp({ engine });
  const { id } = await call('chats.create', {});
  const turn = await call('turns.send', { chatId: id, parentId: null, text: 'word '.repeat(200).trim() });
  await streaming(turn);
  await call('settings.update', { context: { nCtx: 1024 } });
  await call('settings.update', { context: { nCtx: 2048 } });
  expect(await final(turn)).toMatchObject({ stopReason: 'end-of-turn' });
  await vi.waitFor(async () => expect((await call('engine.status', undefined)).context?.nCtx).toBe(2048), 3000);
  await call('settings.update', { sampling: { temperature: 0 } });
  expect((await call('engine.status', undefined)).state).toBe('ready');
});

test('an answer that ends at the close does not bring the engine back for changed settings', async () => {
  const { services, call, streaming, final, transports } = await setUp({ engine: slow() });
  const { id } = await call('chats.create', {});
  const turn = await call('turns.send', { chatId: id, parentId: null, text: long });
  await streaming(turn);
  await call('settings.update', { context: { nCtx: 1024 } });
  await new Promise((resolve) => setTimeout(resolve, 600));
  await services.engine.close();
  expect(await final(turn)).toMatchObject({ stopReason: 'interrupted' });
  expect(transports).toHaveLength(1);
});

test('settings that change after the close do not start the engine', async () => {
  const { services, call, transports } = await setUp();
  await services.engine.close();
  await call('settings.update', { context: { nCtx: 1024 } });
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(transports).toHaveLength(1);
});
