import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ModelList } from '@/electron/services/models/modelFiles';
import { ModelLibrary } from '@/electron/services/models/modelLibrary';
import { appOf, knownPlaces, placesHere } from '@/electron/services/models/places';
import { lmStudioTree, model, ollamaTree } from '@/test/fixtures/modelTrees';
import { modelInfo } from '@/test/fixtures/samples';
import { temporaryFolder } from '@/test/fixtures/temporary';

test('each app has its places on each platform, and the environment moves them', () => {
  const onMac = knownPlaces({ platform: 'darwin', home: '/Users/me', environment: {} }).map(({ folder }) => folder);
  expect(onMac).toContain('/Users/me/Library/Application Support/Jan/data/models');
  expect(onMac).toContain('/Users/me/Library/Caches/llama.cpp');
  const machine = {
    platform: 'linux' as const,
    home: '/home/me',
    environment: { OLLAMA_MODELS: '/big/ollama', HF_HOME: '/big/hf', LLAMA_CACHE: '/big/llama' },
  };
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
  return {
    home,
    machine,
    read,
    library: new ModelLibrary({ embeddedFolder: join(home, 'app'), added, inspector: { inspect }, machine }),
  };
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
  expect(half?.problem).toContain('its download has not ended');
  await expect(library.pathOf(half?.id ?? '')).rejects.toMatchObject({ code: 'model-invalid' });
  await library.remove(added.find(({ fileName }) => fileName === 'tiny:latest')?.id ?? '');
  expect((await library.list()).map(({ fileName }) => fileName)).toEqual([
    'downloading_tiny-q4_0.gguf.part',
    'tiny-q8_0.gguf',
  ]);
});
