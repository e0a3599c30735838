/**
 * A data folder that a newer app has written, opened by this one: it starts, says what it cannot read, and nothing is lost. Each
 * kind of file is that of a release with a version that does not exist yet and a field that nobody knows; the way up is in
 * oldData.test.ts and settingsStore.test.ts.
 */

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { setUpServices } from '@/test/fixtures/services';
import { temporaryFolder } from '@/test/fixtures/temporary';

const documentId = '3a9d3f8e09e929d8b0fa4eae53288e57062ba543711255e5e2a6b3323eb5480a';
const unknownLine = '{"type":"drawing","at":1,"v":7,"strokes":[[1,2]]}';

/** made again from the files beside them */
const derived = /^(chats\/(index|trash)\.json|version\.json|models\/.*)$/;

type Files = Record<string, string>;

async function futureFolder(): Promise<{ folder: string; files: Files }> {
  const folder = await temporaryFolder();
  const files: Files = JSON.parse(await readFile('test/fixtures/data-a9e6396.json', 'utf8'));
  for (const name of ['machine', 'models', 'waiting', 'shelf', 'version']) files[`${name}.json`] = '{"version":1}';
  for (const [path, text] of Object.entries(files)) {
    if (path.startsWith('models/')) delete files[path];
    else if (path.endsWith('.json'))
      files[path] = JSON.stringify({ ...JSON.parse(text), version: 99, later: ['kept'] });
    else if (path.endsWith('.jsonl')) files[path] = `${text.trimEnd()}\n${unknownLine}\n`;
  }
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return { folder, files };
}

/** Of all files below a folder. */
async function textsIn(folder: string): Promise<Set<string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return new Set(await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8'))));
}

test('each file is read or set aside with a notice, and all that stood in it is still there', async () => {
  const { folder, files } = await futureFolder();
  const { call, services } = await setUpServices({ data: folder });

  const { notices } = await call('app.info', undefined);
  for (const name of ['settings', 'model-settings', 'presets', 'machine', 'models', 'waiting', 'shelf', 'downloads'])
    expect(
      notices.some((notice) => notice.includes(`${name}.corrupt-`)),
      `${name}: ${notices.join('\n')}`,
    ).toBe(true);

  const chats = await call('chats.list', undefined);
  expect(chats.map(({ title }) => title).sort()).toEqual(['A name of its own', 'What is a bellows?']);
  for (const { id } of chats) expect((await call('chats.open', { chatId: id })).messages.length).toBeGreaterThan(1);
  expect(await call('chats.trash', undefined)).toMatchObject([{ title: 'In the trash' }]);
  await expect(call('documents.get', { documentId })).rejects.toThrow('newer version of Concertina');

  // what is written now replaces none of it
  await call('settings.update', { theme: 'light' });
  await call('chats.rename', { chatId: chats[0]?.id ?? '', title: 'Renamed below' });
  await call('documents.sweep', undefined);
  await services.close();

  const there = await textsIn(folder);
  for (const [path, text] of Object.entries(files)) {
    if (derived.test(path)) continue;
    const kept = [...there].some((one) => one === text || (path.endsWith('.jsonl') && one.startsWith(text)));
    expect(kept, `${path} is lost`).toBe(true);
  }
});

describe('settings', () => {
  test.each([1, 2, 3])('version %i goes up, and the file of before is kept beside it', async (version) => {
    const folder = await temporaryFolder();
    const before = JSON.stringify({ version, theme: 'dark', sampling: { temperature: 0.5 }, context: { nCtx: 4096 } });
    await writeFile(join(folder, 'settings.json'), before);
    const { call } = await setUpServices({ data: folder });
    const settings = await call('settings.get', undefined);
    expect(settings).toMatchObject({
      version: 3,
      theme: 'dark',
      sampling: { temperature: 0.5 },
      context: { nCtx: 4096 },
    });
    if (version < 3) expect(await readFile(join(folder, `settings.json.v${version}.bak`), 'utf8')).toBe(before);
  });
});
