/** The services together, over the engine server with a fake engine: what a window would see beside models and answers. */
import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { settingsSchema } from '@/electron/contract/settings';
import { setUpServices as setUp } from '@/test/fixtures/services';
import { temporaryFolder } from '@/test/fixtures/temporary';

test('desktop-only operations are refused in a browser', async () => {
  const { call } = await setUp();
  await expect(call('models.addFromDialog', { kind: 'files' })).rejects.toMatchObject({ code: 'forbidden' });
  await expect(call('documents.attachFromDialog', undefined)).rejects.toMatchObject({ code: 'forbidden' });
  await expect(call('app.openExternal', { url: 'https://example.com' })).rejects.toMatchObject({ code: 'forbidden' });
  await expect(call('app.openExternal', { url: 'file:///etc/passwd' })).rejects.toMatchObject({ code: 'bad-request' });
});

test('a browser deletes no model that was not downloaded', async () => {
  const { call } = await setUp();
  const file = join(await temporaryFolder(), 'own.gguf');
  await copyFile(resolve('test/fixtures/models/concertina-tiny-q8_0.gguf'), file);
  const { added } = await call('models.addPaths', { paths: [file] });
  const refused = call('models.delete', { modelId: added[0]?.id ?? '' });
  await expect(refused).rejects.toMatchObject({ code: 'forbidden', hint: expect.stringContaining('off the list') });
  expect(await call('models.list', undefined)).toHaveLength(2);
});

test('the third-party notices are the file of the build, or a sentence when it is missing', async () => {
  const { call, dataFolder } = await setUp();
  await expect(call('app.thirdPartyNotices', undefined)).rejects.toMatchObject({ code: 'not-found' });
  await writeFile(join(dataFolder, 'THIRD-PARTY-NOTICES.txt'), 'zod 1.2.3: MIT');
  expect(await call('app.thirdPartyNotices', undefined)).toEqual({ text: 'zod 1.2.3: MIT' });
});

test('a damaged file of any store is kept aside, and is a notice of this start; the app goes on without it', async () => {
  const data = await temporaryFolder();
  const names = ['settings', 'model-settings', 'presets', 'models', 'machine'];
  for (const name of names) await writeFile(join(data, `${name}.json`), `{"version":1,"${name}":`);
  const { call } = await setUp({ data });
  const { notices } = await call('app.info', undefined);
  expect(notices).toHaveLength(names.length);
  for (const name of names) {
    const aside = (await readdir(data)).find((file) => file.startsWith(`${name}.corrupt-`)) ?? expect.unreachable(name);
    expect(await readFile(join(data, aside), 'utf8')).toBe(`{"version":1,"${name}":`);
    expect(notices).toContainEqual(expect.stringContaining(` ${aside}`));
  }
  expect(await call('settings.get', undefined)).toEqual(settingsSchema.parse({}));
  expect(await call('presets.list', undefined)).toEqual({ presets: [], defaultId: null });
  expect(await call('models.list', undefined)).toMatchObject([{ fileName: 'tiny.gguf' }]);
});

test.skipIf(process.platform === 'win32')(
  'a pipe, a folder or a link that goes round in place of a store is kept aside, and holds nothing up',
  async () => {
    const data = await temporaryFolder();
    expect(spawnSync('mkfifo', [join(data, 'settings.json')]).status).toBe(0);
    await mkdir(join(data, 'presets.json'));
    await symlink('models.json', join(data, 'models.json'));
    const { call } = await setUp({ data });
    const { notices } = await call('app.info', undefined);
    expect(notices).toHaveLength(3);
    const aside = (await readdir(data)).filter((name) => name.includes('.corrupt-'));
    expect(aside.map((name) => name.replace(/\..*/, '')).sort()).toEqual(['models', 'presets', 'settings']);
    await call('settings.update', { theme: 'dark' });
    expect(JSON.parse(await readFile(join(data, 'settings.json'), 'utf8'))).toMatchObject({ theme: 'dark' });
  },
);

test('the diagnostics tell of this run, and nothing private', async () => {
  vi.stubEnv('CHAT_API_KEY', 'env-lagoon-value');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { call, final, transports, dataFolder, send } = await setUp();
  await call('settings.update', { systemPrompt: 'Prompt lagoon: be brief.', sampling: { stop: ['stop lagoon'] } });
  const { turn } = await send('Question lagoon');
  await final(turn);
  const log = (text: string) =>
    transports[0]?.message({ type: 'event', name: 'onLog', payload: { level: 'warn', text } });
  log('llama_context: the cache is cold');
  log(`cannot map ${join(dataFolder, 'lagoon.gguf')} with env-lagoon-value`);
  log('near Prompt lagoon: be brief. and token=lagoon1');

  const { text } = await call('app.diagnostics', undefined);
  expect(text).not.toContain('lagoon');
  expect(text).not.toContain(dataFolder);
  expect(text).toContain('warn llama_context: the cache is cold');
  expect(text).toContain('warn cannot map <path> with <private>');
  expect(text).toMatch(/answer 2 at [\d.]+ tok\/s/);
});
