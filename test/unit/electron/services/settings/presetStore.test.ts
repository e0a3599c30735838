import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { PresetContent } from '@/electron/contract/lib/presets';
import { settingsSchema } from '@/electron/contract/settings';
import { PresetStore } from '@/electron/services/settings/presetStore';
import { setUpServices } from '@/test/fixtures/services';
import { temporaryFolder } from '@/test/fixtures/temporary';

const { sampling, context } = settingsSchema.parse({});
const preset = (name: string, more: Partial<PresetContent> = {}): PresetContent => ({
  name,
  systemPrompt: `I am ${name}.`,
  sampling: { ...sampling, temperature: 0.2 },
  engine: null,
  ...more,
});

async function setUp() {
  const path = join(await temporaryFolder(), 'presets.json');
  const open = async () => {
    const store = new PresetStore(path);
    await store.load();
    return store;
  };
  return { path, open, store: await open() };
}

test('presets are there after a restart, with the default one', async () => {
  const { open, store } = await setUp();
  const engine = { modelId: 'm', context: { nCtx: 4096, typeK: 'turbo3', typeV: 'turbo3' } as const };
  const listener = vi.fn();
  store.changed.on(listener);
  await Promise.all([store.save(null, preset('Reader', { engine })), store.save(null, preset('Writer'))]);
  const [reader] = store.get().presets;
  await store.setDefault(reader?.id ?? '');
  await store.save(reader?.id ?? '', preset('Reader 2', { engine }));
  const again = await open();
  expect(again.get()).toEqual(store.get());
  expect(listener.mock.lastCall?.[0]).toEqual(store.get());
  expect(again.default()).toMatchObject({ id: reader?.id, name: 'Reader 2', engine });
  expect(again.get().presets.map(({ name }) => name)).toEqual(['Reader 2', 'Writer']);
});

test('a name is given once, and what is not there is refused; the default goes with its preset', async () => {
  const { store } = await setUp();
  const { presets } = await store.save(null, preset('Reader'));
  const id = presets[0]?.id ?? '';
  await expect(store.save(null, preset('reader'))).rejects.toMatchObject({ code: 'bad-request' });
  await store.save(id, preset('READER'));
  await expect(store.save('nobody', preset('Other'))).rejects.toMatchObject({ code: 'not-found' });
  await expect(store.setDefault('nobody')).rejects.toMatchObject({ code: 'not-found' });
  await store.setDefault(id);
  expect(await store.remove(id)).toEqual({ presets: [], defaultId: null });
});

test('the app begins with the default preset, and only with its prompt and sampling', async () => {
  const first = await setUpServices({ start: false });
  const engine = { modelId: 'm', context: { ...context, nCtx: 4096 } };
  const { presets } = await first.call('presets.save', { presetId: null, preset: preset('Reader', { engine }) });
  await first.call('presets.setDefault', { presetId: presets[0]?.id ?? null });
  expect(first.events.filter(({ name }) => name === 'onPresets')).toHaveLength(2);
  await first.services.close();
  const second = await setUpServices({ start: false, data: first.dataFolder });
  expect(await second.call('settings.get', undefined)).toMatchObject({
    systemPrompt: 'I am Reader.',
    sampling: { temperature: 0.2 },
    context: { nCtx: context.nCtx },
  });
});

test('a chat keeps the system prompt of its first question until its own is changed', async () => {
  const { call, final } = await setUpServices();
  const promptOf = async () => (await call('chats.open', { chatId: id })).systemPrompt;
  const tokens = async () =>
    (await call('turns.budget', { chatId: id, leafId: null, draft: 'x', attachments: [] })).total;
  await call('settings.update', { systemPrompt: 'Be brief.' });
  const { id } = await call('chats.create', {});
  expect(await promptOf()).toBeNull();
  await final(await call('turns.send', { chatId: id, parentId: null, text: 'one' }));
  expect(await promptOf()).toBe('Be brief.');
  const before = await tokens();
  await call('settings.update', { systemPrompt: 'Be as long as you can, please, and then longer.' });
  expect([await promptOf(), await tokens()]).toEqual(['Be brief.', before]);
  await call('chats.setSystemPrompt', { chatId: id, systemPrompt: '' });
  expect(await promptOf()).toBe('');
  expect(await tokens()).toBeLessThan(before);
  const leafId = (await call('chats.open', { chatId: id })).leafId;
  await final(await call('turns.send', { chatId: id, parentId: leafId, text: 'two' }));
  expect(await promptOf()).toBe('');
});
