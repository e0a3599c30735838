/** A data folder of the version whose built-in model was concertina-tiny, opened with another one built in. */
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { builtInIdOf } from '@/electron/services/models/modelFiles';
import { setUpServices } from '@/test/fixtures/services';
import { temporaryFolder } from '@/test/fixtures/temporary';

const former = builtInIdOf('concertina-tiny-q8_0.gguf');
const current = builtInIdOf('tiny.gguf');

async function formerData(): Promise<string> {
  const data = await temporaryFolder();
  await cp(resolve('test/fixtures/data-concertina-tiny'), data, { recursive: true });
  expect(await readFile(join(data, 'settings.json'), 'utf8')).toContain(former);
  return data;
}

test('settings, presets and settings of its own open with the new one, which is said once', async () => {
  const data = await formerData();
  const first = await setUpServices({ data });
  expect((await first.state('ready')).modelId).toBe(current);
  expect((await first.call('settings.get', { scope: 'all' })).modelId).toBe(current);
  // the context of the model's own settings
  expect((await first.call('settings.get', undefined)).context.nCtx).toBe(4096);
  const { presets } = await first.call('presets.list', undefined);
  expect(presets.map(({ name, engine }) => [name, engine?.modelId ?? null])).toEqual([
    ['Short', current],
    ['No model', null],
  ]);
  const notice =
    'concertina-tiny is no longer built in: the settings and presets that named it now use the new built-in model.';
  expect((await first.call('app.info', undefined)).notices).toEqual([notice]);
  await first.services.close();

  const second = await setUpServices({ data });
  expect((await second.call('app.info', undefined)).notices).toEqual([]);
  expect((await second.state('ready')).modelId).toBe(current);
});

test('its chats open, and go on with the new one', async () => {
  const { call, final } = await setUpServices({ data: await formerData() });
  const [summary] = await call('chats.list', undefined);
  const chat = await call('chats.open', { chatId: summary?.id ?? '' });
  expect(chat.messages.map(({ modelName }) => modelName)).toEqual(['', 'concertina-tiny']);
  const turn = await call('turns.send', { chatId: chat.id, parentId: chat.leafId, text: 'And the oars?' });
  expect(await final(turn)).toMatchObject({ stopReason: 'end-of-turn', error: null });
});

test('what is set for the new one goes before what was set for the former one', async () => {
  const data = await formerData();
  const file = join(data, 'model-settings.json');
  const kept = JSON.parse(await readFile(file, 'utf8'));
  const own = { ...kept.models[0], ids: [current], defaults: { context: null, sampling: null, systemPrompt: 'Mine.' } };
  await writeFile(file, JSON.stringify({ ...kept, models: [...kept.models, own] }));
  const { call } = await setUpServices({ data });
  expect(await call('settings.get', undefined)).toMatchObject({ systemPrompt: 'Mine.', context: { nCtx: 8192 } });
  expect(JSON.parse(await readFile(file, 'utf8')).models).toEqual([own]);
});

test('while the former one is built in, nothing changes', async () => {
  const data = await formerData();
  const embedded = join(data, 'models');
  await mkdir(embedded);
  await writeFile(join(embedded, 'concertina-tiny-q8_0.gguf'), 'GGUF and so on');
  const { call, state } = await setUpServices({ data, models: embedded });
  expect((await state('ready')).modelId).toBe(former);
  expect((await call('app.info', undefined)).notices).toEqual([]);
});
