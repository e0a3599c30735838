import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { settingsSchema } from '@/electron/contract/settings';
import { SettingsStore } from '@/electron/services/settings/settingsStore';
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
