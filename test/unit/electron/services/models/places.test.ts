import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AddProgress } from '@/electron/contract/models';
import { ModelList } from '@/electron/services/models/modelFiles';
import { ModelLibrary } from '@/electron/services/models/modelLibrary';
import { appOf, knownPlaces, placesHere } from '@/electron/services/models/places';
import { walkModels } from '@/electron/services/models/walk';
import { hubTree, lmStudioTree, model, ollamaTree, put } from '@/test/fixtures/modelTrees';
import { modelInfo } from '@/test/fixtures/samples';
import { temporaryFolder } from '@/test/fixtures/temporary';

test('each app has its places on each platform, and the environment moves them', () => {
  const onMac = knownPlaces({ platform: 'darwin', home: '/Users/me', environment: {} }).map(({ folder }) => folder);
  expect(onMac).toContain('/Users/me/Library/Application Support/Jan/data/models');
  expect(onMac).toContain('/Users/me/Library/Caches/llama.cpp');
  const environment = { OLLAMA_MODELS: '/big/ollama', HF_HOME: '/big/hf', LLAMA_CACHE: '/big/llama' };
  const machine = { platform: 'linux' as const, home: '/home/me', environment };
  expect(appOf('/big/ollama/blobs/sha256-1', machine)).toBe('Ollama');
  expect(appOf('/big/hf/hub/models--a--b/blobs/1', machine)).toBe('Hugging Face');
  expect(appOf('/big/llama/a.gguf', machine)).toBe('llama.cpp');
  expect(appOf('/home/me/.lmstudio/models/a/b/c.gguf', machine)).toBe('LM Studio');
  expect(appOf('/home/me/.lmstudio/models-of-mine/c.gguf', machine)).toBeNull();
});

async function setUp() {
  const home = await temporaryFolder();
  const machine = { platform: 'linux' as const, home, environment: {} };
  await lmStudioTree(join(home, '.lmstudio', 'models'), model('weights'));
  await ollamaTree(join(home, '.ollama', 'models'), 'registry.ollama.ai/library/tiny/latest', model('other weights'));
  await mkdir(join(home, 'app'));
  const added = new ModelList(join(home, 'models.json'));
  const read: string[] = [];
  const inspect = async (path: string) => {
    read.push(path);
    return modelInfo;
  };
  const library = new ModelLibrary({ embeddedFolder: join(home, 'app'), added, inspector: { inspect }, machine });
  return { machine, read, library };
}

test('places that are there are offered and nothing of them is read; one that was added is a folder of the list', async () => {
  const { library, machine, read } = await setUp();
  expect((await placesHere(machine)).map(({ app }) => app)).toEqual(['LM Studio', 'Ollama']);
  const { offered, folders } = await library.places();
  expect(offered).toMatchObject([
    { app: 'LM Studio', location: '~/.lmstudio/models' },
    { app: 'Ollama', location: '~/.ollama/models' },
  ]);
  expect(folders).toEqual([]);
  expect(await library.list()).toEqual([]);
  expect(read).toEqual([]);

  const { added } = await library.addPlaces([offered[1]?.id ?? '']);
  expect(added).toMatchObject([{ fileName: 'tiny:latest', source: 'folder', places: [{ app: 'Ollama' }] }]);
  const after = await library.places();
  expect(after.offered.map(({ app }) => app)).toEqual(['LM Studio']);
  expect(after.folders).toMatchObject([{ app: 'Ollama', there: true, models: 1 }]);
  expect(await library.pathOf(added[0]?.id ?? '')).toMatch(/blobs\/sha256-[0-9a-f]{64}$/);

  await library.removeFolder(after.folders[0]?.id ?? '');
  expect(await library.list()).toEqual([]);
  expect((await library.places()).offered).toHaveLength(2);
});

test('a model of Ollama that was taken off the list stays off; what is not whole is listed and cannot be used', async () => {
  const { library } = await setUp();
  const { offered } = await library.places();
  const { added } = await library.addPlaces(offered.map(({ id }) => id));
  const half = added.find(({ problem }) => problem !== null);
  expect(half?.problem?.message).toContain('its download is not complete');
  expect(half?.problem?.said?.message).toMatchObject({ message: '{title}: its download is not complete.' });
  await expect(library.pathOf(half?.id ?? '')).rejects.toMatchObject({ code: 'model-invalid' });
  await library.remove(added.find(({ fileName }) => fileName === 'tiny:latest')?.id ?? '');
  expect((await library.list()).map(({ fileName }) => fileName)).toEqual([
    'downloading_tiny-q4_0.gguf.part',
    'tiny-q8_0.gguf',
  ]);
});

/** name, bytes and the beginning of the problem of each */
async function seen(folder: string) {
  const { files } = await walkModels(folder);
  return files.map(({ name, bytes, problem }) => [name, bytes, problem?.message ?? '']);
}

test('Ollama: models by their tags, from blobs without an ending', async () => {
  const above = await temporaryFolder();
  const folder = join(above, 'models');
  await ollamaTree(folder, 'registry.ollama.ai/library/llama3/8b', model('llama'));
  await ollamaTree(folder, 'registry.ollama.ai/someone/own/latest', model('own'));
  const lost = await ollamaTree(folder, 'hf.co/org/Some-GGUF/Q4_K_M', model('lost, its blob'));
  const { files } = await walkModels(folder);
  const blob = files.find(({ key }) => key === lost)?.path ?? '';
  await rm(blob);
  await put(join(folder, 'manifests', 'registry.ollama.ai', 'library', 'odd', 'latest'), 'no JSON');
  await put(join(folder, 'manifests', 'registry.ollama.ai', 'library', 'cloud', 'latest'), '{"layers":[]}');
  expect(await seen(folder)).toEqual([
    ['hf.co/org/Some-GGUF:Q4_K_M', 18, 'hf.co/org/Some-GGUF:Q4_K_M is not whole.'],
    ['llama3:8b', 9, ''],
    ['someone/own:latest', 7, ''],
  ]);
  // the folder above, which a person would choose, too
  expect(await seen(above)).toHaveLength(3);
});

test('the cache of the hub: links are followed, also to a folder; a half blob is reported by the name of its model', async () => {
  const folder = await temporaryFolder();
  await hubTree(join(folder, 'hub'), 'org/Tiny-GGUF', 'tiny.gguf', model('linked'));
  await put(join(folder, 'hub', 'models--org--Half', 'blobs', `${'b'.repeat(64)}.incomplete`), model('half'));
  await put(join(folder, 'hub', 'models--org--Half', 'blobs', `${'c'.repeat(64)}.incomplete`), 'a picture');
  await symlink('gone', join(folder, 'broken.gguf'));
  await mkdir(join(folder, 'far'));
  await put(join(folder, 'far', 'away.gguf'), model('far away'));
  await mkdir(join(folder, 'hub', 'more'));
  await symlink(join(folder, 'far'), join(folder, 'hub', 'more', 'link'));
  await symlink(folder, join(folder, 'hub', 'more', 'loop'));
  expect(await seen(join(folder, 'hub'))).toEqual([
    ['org/Half', 8, 'org/Half: its download is not complete.'],
    ['tiny.gguf', 10, ''],
    ['away.gguf', 12, ''],
    ['broken.gguf', 0, 'broken.gguf leads to a file that is not there any more.'],
  ]);
});

test('a split file is one; a part without the first is reported', async () => {
  const folder = await temporaryFolder();
  for (const number of [1, 2, 3]) await put(join(folder, `big-0000${number}-of-00003.gguf`), model('part'));
  for (const number of [2, 3]) await put(join(folder, `cut-0000${number}-of-00003.gguf`), model('part'));
  expect(await seen(folder)).toEqual([
    ['big-00001-of-00003.gguf', 24, ''],
    ['cut-00002-of-00003.gguf', 8, 'cut-00002-of-00003.gguf is one of 3 parts of a model. Its first part is missing.'],
  ]);
});

test('our own half downloads have a list of their own', async () => {
  const folder = await temporaryFolder();
  await put(join(folder, 'a.gguf.part'), model('half'));
  await put(join(folder, 'a.gguf.part.log'), '{}');
  expect(await seen(folder)).toEqual([]);
});

test('a search reports its progress', async () => {
  const folder = await temporaryFolder();
  for (const name of ['a', 'b', 'c', 'd']) await put(join(folder, name, 'm.gguf'), model('and so on'));
  const steps: AddProgress[] = [];
  await walkModels(folder, { onStep: (step) => steps.push(step) });
  expect(steps.map(({ folders, models }) => `${folders} ${models}`)).toEqual(['0 0', '1 0', '2 1', '3 2', '4 3']);
});
