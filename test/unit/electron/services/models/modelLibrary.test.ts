import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { ConcertinaError } from '@/electron/contract/errors';
import { ModelList } from '@/electron/services/models/modelFiles';
import { ModelLibrary } from '@/electron/services/models/modelLibrary';
import { modelInfo } from '@/test/fixtures/samples';
import { temporaryFolder } from '@/test/fixtures/temporary';

async function setUp(listText?: string) {
  const folder = await temporaryFolder();
  const embedded = join(folder, 'app');
  const models = join(folder, 'models');
  await mkdir(embedded);
  await mkdir(join(models, 'deeper'), { recursive: true });
  await writeFile(join(embedded, 'tiny.gguf'), 'GGUF');
  await writeFile(join(models, 'a.gguf'), 'GGUF');
  await writeFile(join(models, 'deeper', 'b.GGUF'), 'GGUF');
  await writeFile(join(models, 'notes.txt'), 'no model');
  const listPath = join(folder, 'models.json');
  if (listText !== undefined) await writeFile(listPath, listText);
  const inspect = vi.fn(async (path: string) => {
    if (path.includes('broken')) throw new ConcertinaError('model-invalid', 'The header is cut off.');
    return modelInfo;
  });
  const open = async () => {
    const list = new ModelList(listPath, () => new Date('2026-11-21T12:00:00Z'));
    await list.load();
    return { list, library: new ModelLibrary({ embeddedFolder: embedded, added: list, inspector: { inspect } }) };
  };
  return { folder, models, inspect, listPath, open, ...(await open()) };
}

const names = (entries: { fileName: string }[]) => entries.map(({ fileName }) => fileName);

test('the embedded model is listed, and its id does not depend on where the app lies', async () => {
  const { library } = await setUp();
  const other = await setUp();
  const [entry] = await library.list();
  expect(entry).toMatchObject({ fileName: 'tiny.gguf', source: 'embedded', fileBytes: 4 });
  expect((await other.library.list())[0]?.id).toBe(entry?.id);
  expect(await library.defaultModelId()).toBe(entry?.id);
});

test('headers are read once and follow the list as an event', async () => {
  const { library, inspect } = await setUp();
  const changed = vi.fn();
  library.changed.on(changed);
  expect((await library.list())[0]?.info).toBeNull();
  await vi.waitFor(() => expect(changed).toHaveBeenCalled());
  expect(changed.mock.lastCall?.[0][0].info).toEqual(modelInfo);
  await library.list();
  expect(inspect).toHaveBeenCalledTimes(1);
});

test('a file is added in place and is there after a restart', async () => {
  const { library, models, open } = await setUp();
  const { added, refused } = await library.add([join(models, 'a.gguf')]);
  expect(refused).toEqual([]);
  expect(added).toMatchObject([
    { fileName: 'a.gguf', source: 'file', location: models, info: modelInfo, problem: null },
  ]);
  const again = (await open()).library;
  expect(names(await again.list())).toEqual(['tiny.gguf', 'a.gguf']);
  expect(await again.pathOf(added[0]?.id ?? '')).toBe(join(models, 'a.gguf'));
});

test('what cannot be used is refused with its name and a reason; the rest is added', async () => {
  const { library, models } = await setUp();
  await writeFile(join(models, 'broken.gguf'), 'GGUF');
  await writeFile(join(models, 'empty.gguf'), '');
  const paths = ['notes.txt', 'broken.gguf', 'empty.gguf', 'missing.gguf', 'a.gguf'].map((name) => join(models, name));
  const { added, refused } = await library.add(paths);
  expect(names(added)).toEqual(['a.gguf']);
  expect(refused.map(({ name, error }) => [name, error.code])).toEqual([
    ['notes.txt', 'model-invalid'],
    ['broken.gguf', 'model-invalid'],
    ['empty.gguf', 'model-invalid'],
    ['missing.gguf', 'model-missing'],
  ]);
  for (const { name, error } of refused) expect(error.message).toContain(name);
  expect(names(await library.list())).toEqual(['tiny.gguf', 'a.gguf']);
});

test('a folder brings all its models, deeper ones too, and new ones later; a broken one shows its problem', async () => {
  const { library, models } = await setUp();
  await symlink(models, join(models, 'deeper', 'loop'));
  const { added } = await library.add([models]);
  expect(names(added)).toEqual(['a.gguf', 'b.GGUF']);
  await writeFile(join(models, 'broken.gguf'), 'GGUF');
  await library.list();
  await vi.waitFor(async () => {
    const broken = (await library.list()).find(({ fileName }) => fileName === 'broken.gguf');
    expect(broken?.problem).toContain('cut off');
  });
});

test('a folder without models is refused', async () => {
  const { library, folder } = await setUp();
  await mkdir(join(folder, 'nothing'));
  const { refused } = await library.add([join(folder, 'nothing')]);
  expect(refused).toMatchObject([{ name: 'nothing', error: { code: 'not-found' } }]);
});

test('remove takes a model off the list and leaves its file; adding it again brings it back', async () => {
  const { library, models, open } = await setUp();
  const { added } = await library.add([models]);
  await library.remove(added[0]?.id ?? '');
  expect(names(await (await open()).library.list())).toEqual(['tiny.gguf', 'b.GGUF']);
  expect(await readFile(join(models, 'a.gguf'), 'utf8')).toBe('GGUF');
  await library.add([models]);
  expect(names(await library.list())).toEqual(['tiny.gguf', 'a.gguf', 'b.GGUF']);
  await expect(library.remove((await library.list())[0]?.id ?? '')).rejects.toMatchObject({ code: 'forbidden' });
});

test('a listed file that is gone stays listed with its problem, and its path is refused', async () => {
  const { library, models } = await setUp();
  const { added } = await library.add([join(models, 'a.gguf')]);
  await rm(join(models, 'a.gguf'));
  const entry = (await library.list()).find(({ id }) => id === added[0]?.id);
  expect(entry?.problem).toContain('a.gguf');
  await expect(library.pathOf(added[0]?.id ?? '')).rejects.toMatchObject({ code: 'model-missing' });
});

test('an engine that is not there says nothing about a file', async () => {
  const { library, models, inspect } = await setUp();
  inspect.mockRejectedValueOnce(new ConcertinaError('engine-unavailable', 'Not running.'));
  const { added } = await library.add([join(models, 'a.gguf')]);
  expect(added).toMatchObject([{ info: null, problem: null }]);
  await library.list();
  await vi.waitFor(async () => expect((await library.list())[1]?.info).toEqual(modelInfo));
});

test('a file that was looked at while the engine crashed can be added once more', async () => {
  const { library, models, inspect } = await setUp();
  inspect.mockRejectedValueOnce(new ConcertinaError('out-of-memory', 'The system ended the engine.'));
  const { refused } = await library.add([join(models, 'a.gguf')]);
  expect(refused).toMatchObject([{ error: { code: 'out-of-memory' } }]);
  const { added } = await library.add([join(models, 'a.gguf')]);
  expect(added).toMatchObject([{ fileName: 'a.gguf', info: modelInfo, problem: null }]);
});

test('files that are added at the same time do not undo each other', async () => {
  const { library, models, open } = await setUp();
  await Promise.all([library.add([join(models, 'a.gguf')]), library.add([join(models, 'deeper', 'b.GGUF')])]);
  expect(names(await (await open()).library.list())).toHaveLength(3);
});

test('a corrupt list is set aside with a notice', async () => {
  const { list, library, folder } = await setUp('{"files":');
  expect(list.notices).toEqual([expect.stringContaining('list of models could not be read')]);
  expect(names(await library.list())).toEqual(['tiny.gguf']);
  expect(await readFile(join(folder, 'models.corrupt-2026-11-21T12-00-00.json'), 'utf8')).toBe('{"files":');
});
