/** What was read of model files, over several starts. */
import { readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { ConcertinaError } from '@/electron/contract/errors';
import { ModelList } from '@/electron/services/models/modelFiles';
import { ModelLibrary } from '@/electron/services/models/modelLibrary';
import { Inspections } from '@/electron/services/models/scan';
import { put } from '@/test/fixtures/modelTrees';
import { modelInfo } from '@/test/fixtures/samples';
import { temporaryFolder } from '@/test/fixtures/temporary';

const names = ['a.gguf', 'b.gguf', 'broken.gguf'];

async function setUp() {
  const folder = await temporaryFolder();
  const app = join(folder, 'app');
  for (const name of names) await put(join(app, name), 'GGUF');
  const kept = join(folder, 'inspections.json');

  /** @returns the names of the files that a start reads, and what it says of them */
  async function start(version: string) {
    const read: string[] = [];
    const inspect = vi.fn(async (path: string) => {
      read.push(path.slice(app.length + 1));
      if (path.includes('broken')) throw new ConcertinaError('model-unsupported', 'A newer architecture.');
      return modelInfo;
    });
    const inspections = new Inspections({ path: kept, app: version });
    await inspections.load();
    const added = new ModelList(join(folder, 'models.json'));
    const library = new ModelLibrary({ embeddedFolder: app, added, inspector: { inspect }, inspections });
    const first = await library.list();
    await vi.waitFor(async () => {
      expect((await library.list()).every(({ info, problem }) => info ?? problem)).toBe(true);
      // what is kept is on the disk
      const { app: by, files } = JSON.parse(await readFile(kept, 'utf8'));
      expect([by, Object.keys(files).length]).toEqual([version, 2]);
    });
    return { read, infos: first.map(({ info }) => info) };
  }
  return { app, kept, start };
}

test('a later start reads only what was replaced, and what had a problem', async () => {
  const { app, start } = await setUp();
  expect((await start('1')).read).toEqual(names);
  const again = await start('1');
  expect(again.read).toEqual(['broken.gguf']);
  expect(again.infos).toEqual([modelInfo, modelInfo, null]);
  await utimes(join(app, 'b.gguf'), 1, 1);
  expect((await start('1')).read).toEqual(['b.gguf', 'broken.gguf']);
});

test('another version of the app, and one that finds a damaged file, read everything', async () => {
  const { kept, start } = await setUp();
  await start('1');
  expect((await start('2')).read).toEqual(names);
  await writeFile(kept, '{"version":1,"app":"2","files":{"x":{}}}');
  expect((await start('2')).read).toEqual(names);
});
