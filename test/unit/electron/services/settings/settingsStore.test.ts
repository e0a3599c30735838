import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { type ModelDefaults, samplingSettingsSchema, settingsSchema } from '@/electron/contract/settings';
import { ModelDefaultsStore } from '@/electron/services/settings/perModelSettings';
import { SettingsService, SettingsStore } from '@/electron/services/settings/settingsStore';
import { setUpServices } from '@/test/fixtures/services';
import { temporaryFolder } from '@/test/fixtures/temporary';

const defaults = settingsSchema.parse({});
const noon = () => new Date('2026-11-21T12:00:00.000Z');

async function setUp(content?: string) {
  const folder = await temporaryFolder();
  const path = join(folder, 'settings.json');
  if (content !== undefined) await writeFile(path, content);
  const store = new SettingsStore(path, noon);
  return { folder, path, store };
}

test('without a file the defaults hold, and nothing is written', async () => {
  const { folder, store } = await setUp();
  await store.load();
  expect(store.get()).toEqual(defaults);
  expect(store.get().context).toMatchObject({ nCtx: 8192, typeK: 'turbo4', typeV: 'turbo4' });
  expect(await readdir(folder)).toEqual([]);
});

test('a patch changes the named keys only, is announced, and survives a restart', async () => {
  const { path, store } = await setUp();
  await store.load();
  const listener = vi.fn();
  store.changed.on(listener);
  await store.update({ context: { typeV: 'turbo3' }, theme: 'dark' });
  const expected = { ...defaults, theme: 'dark', context: { ...defaults.context, typeV: 'turbo3' } };
  expect(listener.mock.calls).toEqual([[expected]]);
  const again = new SettingsStore(path);
  await again.load();
  expect(again.get()).toEqual(expected);
});

test('patches at the same time do not undo each other', async () => {
  const { store } = await setUp();
  await store.load();
  await Promise.all([store.update({ theme: 'dark' }), store.update({ systemPrompt: 'Be brief.' })]);
  expect(store.get()).toMatchObject({ theme: 'dark', systemPrompt: 'Be brief.' });
});

test.each(['{"version":1,"theme":', 'null', '[]', '{"context":{"nCtx":-5}}', '{"version":99}', ''])(
  'a file that cannot be used (%s) is set aside, said, and defaults are used',
  async (content) => {
    const { folder, store } = await setUp(content);
    await store.load();
    expect(store.get()).toEqual(defaults);
    expect(store.notices).toEqual([expect.stringContaining('settings file could not be read')]);
    expect(await readdir(folder)).toEqual(['settings.corrupt-2026-11-21T12-00-00.json']);
    expect(await readFile(join(folder, 'settings.corrupt-2026-11-21T12-00-00.json'), 'utf8')).toBe(content);
  },
);

test('an older version is migrated, and the old file is kept', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'settings.json');
  const old = JSON.stringify({ version: 0, colours: 'dark' });
  await writeFile(path, old);
  const store = new SettingsStore(path, noon, { 0: ({ colours }) => ({ theme: colours }) });
  await store.load();
  expect(store.get()).toEqual({ ...defaults, theme: 'dark' });
  expect(store.notices).toEqual([]);
  expect(await readFile(`${path}.v0.bak`, 'utf8')).toBe(old);
  expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ version: 1, theme: 'dark' });
});

test('a change that cannot be written is an error and does not count', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'data'), 'a file where the folder should be');
  const store = new SettingsStore(join(folder, 'data', 'settings.json'));
  await expect(store.update({ theme: 'dark' })).rejects.toMatchObject({ code: 'storage-failed' });
  expect(store.get().theme).toBe('system');
});

describe('the service', () => {
  const context = { nCtx: 4096, typeK: 'q8_0', typeV: 'turbo3', gpuLayers: 3 } as const;
  const sampling = { ...samplingSettingsSchema.parse({}), temperature: 0.1 };
  const own: ModelDefaults = { context, sampling, systemPrompt: 'Rhyme.' };

  async function setUp(folder?: string) {
    const data = folder ?? (await temporaryFolder());
    const store = new SettingsStore(join(data, 'settings.json'));
    const defaults = new ModelDefaultsStore(join(data, 'model-settings.json'), () => new Date('2026-11-22T01:00:00Z'));
    await Promise.all([store.load(), defaults.load()]);
    return { data, store, defaults, settings: new SettingsService(store, defaults) };
  }

  test('what is set for a model counts while it is in use, and after a restart', async () => {
    const { data, settings } = await setUp();
    const heard = vi.fn();
    settings.changed.on(heard);
    await settings.setDefaults('a', own);
    expect(heard).not.toHaveBeenCalled();
    settings.follow('a');
    expect(heard).toHaveBeenCalledTimes(1);
    expect(settings.get()).toMatchObject({ context: { ...context, batch: 512 }, sampling, systemPrompt: 'Rhyme.' });
    settings.follow('b');
    expect(settings.get()).toMatchObject({ context: { nCtx: 8192 }, systemPrompt: '' });
    const again = await setUp(data);
    expect(again.settings.of('a').context.typeV).toBe('turbo3');
    await again.settings.setDefaults('a', null);
    expect(again.settings.of('a')).toEqual(again.settings.of(null));
  });

  test('a change goes to where the value stands; the rest, and what is meant for all, to all models', async () => {
    const { settings, store } = await setUp();
    await settings.setDefaults('a', { ...own, sampling: null });
    settings.follow('a');
    const after = await settings.update({
      theme: 'dark',
      systemPrompt: 'Count.',
      context: { nCtx: 512, batch: 64 },
      sampling: { topK: 3 },
    });
    expect(after).toMatchObject({
      theme: 'dark',
      systemPrompt: 'Count.',
      context: { nCtx: 512, batch: 64 },
      sampling: { topK: 3 },
    });
    expect(store.get()).toMatchObject({
      theme: 'dark',
      systemPrompt: '',
      context: { nCtx: 8192, batch: 64 },
      sampling: { topK: 3 },
    });
    await settings.update({ systemPrompt: 'For all.' }, 'all');
    expect([settings.get().systemPrompt, store.get().systemPrompt]).toEqual(['Count.', 'For all.']);
    await settings.update({ systemPrompt: 'From afar.' }, { modelId: 'b' });
    expect([settings.get().systemPrompt, store.get().systemPrompt]).toEqual(['Count.', 'From afar.']);
  });

  test('a file that cannot be read is kept aside with a notice', async () => {
    const data = await temporaryFolder();
    await writeFile(join(data, 'model-settings.json'), '{"models":');
    const { defaults, settings } = await setUp(data);
    expect(defaults.notices).toEqual([expect.stringContaining('model-settings.corrupt-2026-11-22T01-00-00.json')]);
    expect(await readFile(join(data, 'model-settings.corrupt-2026-11-22T01-00-00.json'), 'utf8')).toBe('{"models":');
    expect(settings.get().context.nCtx).toBe(8192);
  });

  test('a model is loaded with its own settings; taking them away loads it with those of all; both are told to the window', async () => {
    const { call, events, services, dataFolder } = await setUpServices();
    const file = join(dataFolder, 'other.gguf');
    await writeFile(file, 'GGUF and more');
    const { added } = await call('models.addPaths', { paths: [file] });
    const modelId = added[0]?.id ?? '';
    await call('models.setDefaults', { modelId, defaults: { ...own, sampling: null } });
    expect((await call('settings.get', undefined)).context.nCtx).toBe(8192);
    const loads = services.engine.loads();
    const status = await call('models.select', { modelId });
    expect(status.context?.nCtx).toBe(4096);
    expect(services.engine.loads()).toBe(loads + 1);
    expect(await call('settings.get', undefined)).toMatchObject({ context, systemPrompt: 'Rhyme.' });
    expect(await call('settings.get', { scope: 'all' })).toMatchObject({ context: { nCtx: 8192 }, systemPrompt: '' });
    const listed = (await call('models.list', undefined)).find(({ id }) => id === modelId);
    expect(listed?.defaults).toEqual({ ...own, sampling: null });
    await call('models.setDefaults', { modelId, defaults: null });
    await vi.waitFor(() => expect(services.engine.status().context?.nCtx).toBe(8192), 5000);
    expect(events.findLast(({ name }) => name === 'onSettings')?.payload).toMatchObject({ systemPrompt: '' });
    await call('models.setDefaults', { modelId, defaults: own });
    const embedded = (await call('models.list', undefined)).find(({ source }) => source === 'embedded');
    await call('models.select', { modelId: embedded?.id ?? '' });
    expect((await call('settings.get', undefined)).context.nCtx).toBe(8192);
    // no report has what was written for one model
    expect((await call('app.diagnostics', undefined)).text).not.toContain('Rhyme');
  });
});
