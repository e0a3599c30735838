/**
 * A data folder as the release at a9e6396 wrote it, file by file (test/fixtures/data-a9e6396.json): everything in it opens with
 * today's services. It was made with that release's own services over its fake engine, and with its downloads over the test hub.
 */

import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { autoContext } from '@/electron/contract/settings';
import { builtInIdOf } from '@/electron/services/models/modelFiles';
import { chunk, hubClient, received, testHub } from '@/test/fixtures/hub/client';
import { sampleGguf } from '@/test/fixtures/hub/sampleGguf';
import { setUpServices } from '@/test/fixtures/services';
import { temporaryFolder } from '@/test/fixtures/temporary';

const repo = 'someone/Model-GGUF';
const file = 'Model-Q4_K_M.gguf';
const content = sampleGguf(4 * chunk, 'a');
const half = 2 * chunk;

async function oldFolder(): Promise<string> {
  const folder = await temporaryFolder();
  const files = JSON.parse(await readFile('test/fixtures/data-a9e6396.json', 'utf8')) as Record<string, string>;
  // bytes of noise, which the samples make again
  files[`models/${repo}/${file}.part`] = '';
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  await writeFile(join(folder, `models/${repo}/${file}.part`), content.subarray(0, half));
  return folder;
}

test('chats with their branches, the trash, documents, settings, presets and comparisons', async () => {
  const { call } = await setUpServices({ data: await oldFolder() });
  // a store that cannot read its file says so here
  expect((await call('app.info', undefined)).notices).toEqual([]);

  const [named, pinned] = await call('chats.list', undefined);
  expect(pinned).toMatchObject({ title: 'What is a bellows?', pinned: true, folder: null });
  expect(named).toMatchObject({ title: 'A name of its own', pinned: false, folder: 'Leases' });
  expect(await call('chats.trash', undefined)).toMatchObject([{ title: 'In the trash' }]);

  const chat = await call('chats.open', { chatId: pinned?.id ?? '' });
  expect(chat.systemPrompt).toBe('Answer in one sentence.');
  const questions = chat.messages.filter(({ role }) => role === 'user');
  expect(questions.map(({ text }) => text)).toEqual([
    'What is a bellows?',
    'What is the rent?',
    'What is the deposit?',
  ]);
  const [first, rent, deposit] = questions;
  const answersTo = (id = '') => chat.messages.filter(({ parentId, role }) => parentId === id && role === 'assistant');
  expect([first, rent, deposit].map((question) => answersTo(question?.id).length)).toEqual([2, 1, 1]);
  expect(deposit?.parentId).toBe(rent?.parentId);
  expect(chat.leafId).toBe(answersTo(deposit?.id)[0]?.id);

  const other = await call('chats.open', { chatId: named?.id ?? '' });
  expect(other.messages.at(-1)).toMatchObject({ role: 'assistant', stopReason: 'cancelled' });
  expect(other.messages.at(-1)?.text).not.toBe('');

  const { documentId = '', name } = rent?.attachments?.[0] ?? {};
  expect(name).toBe('lease.txt');
  expect(await call('documents.get', { documentId })).toMatchObject({ name: 'lease.txt' });
  const { text } = await call('documents.text', { documentId, start: 0, end: 1000 });
  expect(text).toContain('The deposit is 1,800.');
  expect((await call('documents.sections', { documentId })).map(({ label }) => label)).toEqual(['Rent', 'Deposit']);

  const all = await call('settings.get', { scope: 'all' });
  expect(all).toMatchObject({ theme: 'dark', systemPrompt: 'Be brief.' });
  // what was the default then is nobody's choice
  expect(all.sampling).toEqual({ temperature: 0.3 });
  expect(all.context).toMatchObject({ nCtx: 4096, typeK: 'turbo4', typeV: 'turbo3' });
  const [model] = await call('models.list', undefined);
  expect(model?.defaults?.context).toMatchObject({ nCtx: 8192, typeK: 'q8_0', typeV: 'turbo4' });
  const { presets } = await call('presets.list', undefined);
  expect(presets).toMatchObject([{ name: 'Careful', sampling: { temperature: 0.3 } }]);
  expect(Object.keys(presets[0]?.sampling ?? {})).toEqual(['temperature']);

  const [listed] = await call('compare.list', undefined);
  const run = await call('compare.get', { runId: listed?.id ?? '' });
  expect(run).toMatchObject({ name: 'Kept run', state: 'done' });
  const types = run.columns.map(({ configuration, context }) => [configuration.typeK, context?.nCtx]);
  expect(types).toEqual([
    ['f16', 8192],
    ['turbo4', 8192],
  ]);
});

test('half a download goes on where it was', async () => {
  const hub = await testHub([{ id: repo, files: { [file]: content } }]);
  const client = await hubClient(hub, { dataFolder: await oldFolder() });
  await client.downloads.open();
  const [paused] = client.downloads.list();
  expect(paused).toMatchObject({ repo, file, state: 'paused', done: half, bytes: content.length });
  await client.downloads.resume(paused?.id ?? '');
  expect(await client.downloads.settled(paused?.id ?? '')).toMatchObject({ state: 'done', done: content.length });
  expect((await client.read(repo, file)).equals(content)).toBe(true);
  expect(received(hub)).toBe(content.length - half);
});

/** A data folder of the version whose built-in model was concertina-tiny, opened with another one built in. */

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
  const nothing = { context: null, sampling: null, template: null, adapters: null };
  const own = { ...kept.models[0], ids: [current], defaults: { ...nothing, systemPrompt: 'Mine.' } };
  await writeFile(file, JSON.stringify({ ...kept, models: [...kept.models, own] }));
  const { call } = await setUpServices({ data });
  expect(await call('settings.get', undefined)).toMatchObject({
    systemPrompt: 'Mine.',
    context: { nCtx: autoContext },
  });
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
