/** Settings of single models follow their files: through the library, over a real folder. */
import { copyFile, mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ModelDefaults } from '@/electron/contract/settings';
import { Duplicates } from '@/electron/services/models/duplicates';
import { ModelList, modelIdOf } from '@/electron/services/models/modelFiles';
import { ModelLibrary } from '@/electron/services/models/modelLibrary';
import { ModelDefaultsStore } from '@/electron/services/settings/perModelSettings';
import { hashFiles } from '@/electron/workers/hashFiles';
import { model, put } from '@/test/fixtures/modelTrees';
import { modelInfo } from '@/test/fixtures/samples';
import { temporaryFolder } from '@/test/fixtures/temporary';

const own = (systemPrompt: string): ModelDefaults => ({ ...nothingOwn, systemPrompt });
const nothingOwn = { context: null, sampling: null, template: null, adapters: null };

async function setUp() {
  const home = await temporaryFolder();
  const models = join(home, 'models');
  const file = join(home, 'model-settings.json');
  await mkdir(join(home, 'app'));
  await put(join(models, 'a.gguf'), model('a'));
  // what was read is known by place, size and time
  await utimes(await put(join(models, 'b.gguf'), model('b')), 1000, 1000);
  const at = (name: string) => join(models, name);
  const hash = vi.fn(hashFiles);

  /** as after a start of the app */
  async function open() {
    const added = new ModelList(join(home, 'models.json'));
    const defaults = new ModelDefaultsStore(file);
    const duplicates = new Duplicates(join(home, 'hashes.json'), hash);
    await Promise.all([added.load(), defaults.load(), duplicates.load()]);
    const library = new ModelLibrary({
      ...{ embeddedFolder: join(home, 'app'), added, duplicates, defaults },
      inspector: { inspect: async () => modelInfo },
      machine: { platform: 'linux', home, environment: {} },
    });
    onTestFinished(() => library.close());
    defaults.changed.on(() => void library.refresh());
    if (added.get().folders.length === 0) await library.add([models]);
    await library.list();
    const prompt = (name: string) => defaults.of(modelIdOf(at(name)))?.systemPrompt ?? null;
    const set = async (name: string, one: ModelDefaults | null) => {
      await defaults.set(modelIdOf(at(name)), one);
      await library.refresh();
    };
    return { library, defaults, prompt, set };
  }
  return { at, file, hash, open };
}

test('they stay with a file that is renamed and moved, and with nothing else that comes into its place', async () => {
  const { at, open } = await setUp();
  const { library, prompt, set } = await open();
  await set('a.gguf', own('Of a.'));
  await rename(at('a.gguf'), at('c.gguf'));
  const listed = await library.list();
  expect(listed.find(({ fileName }) => fileName === 'c.gguf')?.defaults).toEqual(own('Of a.'));
  await mkdir(at('deeper'));
  await rename(at('c.gguf'), at('deeper/d.gguf'));
  await rename(at('b.gguf'), at('c.gguf'));
  const again = await open();
  expect(['a.gguf', 'c.gguf', 'deeper/d.gguf'].map(again.prompt)).toEqual([null, null, 'Of a.']);
  expect(prompt('b.gguf')).toBeNull();
});

test('files that change places keep their own', async () => {
  const { at, open } = await setUp();
  const { set } = await open();
  await set('a.gguf', own('Of a.'));
  await set('b.gguf', own('Of b.'));
  await rename(at('a.gguf'), at('x'));
  await rename(at('b.gguf'), at('a.gguf'));
  await rename(at('x'), at('b.gguf'));
  const { prompt } = await open();
  expect([prompt('a.gguf'), prompt('b.gguf')]).toEqual(['Of b.', 'Of a.']);
});

test('two copies share one set', async () => {
  const { at, open } = await setUp();
  const { library, prompt, set } = await open();
  await set('a.gguf', own('Of a.'));
  await copyFile(at('a.gguf'), at('copy.gguf'));
  await library.list();
  expect(prompt('copy.gguf')).toBe('Of a.');
  await set('copy.gguf', own('Of both.'));
  expect(prompt('a.gguf')).toBe('Of both.');
  await rm(at('a.gguf'));
  expect((await open()).prompt('copy.gguf')).toBe('Of both.');
});

test('they stay with the place where a newer version of the file comes', async () => {
  const { at, open } = await setUp();
  await (await open()).set('a.gguf', own('Of a.'));
  await writeFile(at('a.gguf'), model('a, but newer'));
  const { prompt, set } = await open();
  expect(prompt('a.gguf')).toBe('Of a.');
  await set('a.gguf', null);
  expect((await open()).prompt('a.gguf')).toBeNull();
});

test('those of a place, as older versions kept them, count at once and follow the file from the first sight on', async () => {
  const { at, file, open, hash } = await setUp();
  const [a, b] = [modelIdOf(at('a.gguf')), modelIdOf(at('gone.gguf'))];
  await writeFile(file, JSON.stringify({ version: 1, models: { [a]: own('Of a.'), [b]: own('Of one away.') } }));
  const { prompt } = await open();
  expect([prompt('a.gguf'), prompt('b.gguf'), prompt('gone.gguf')]).toEqual(['Of a.', null, 'Of one away.']);
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
    version: 3,
    models: [
      { ids: [a], content: expect.stringMatching(/^\d+-[0-9a-f]{64}$/) },
      { ids: [b], content: null },
    ],
  });
  await rename(at('a.gguf'), at('c.gguf'));
  expect((await open()).prompt('c.gguf')).toBe('Of a.');
  expect(hash.mock.calls.every(([, sample]) => sample)).toBe(true);
});

test('copies that had each its own keep it', async () => {
  const { at, file, open } = await setUp();
  await copyFile(at('a.gguf'), at('copy.gguf'));
  const [a, copy] = [modelIdOf(at('a.gguf')), modelIdOf(at('copy.gguf'))];
  await writeFile(file, JSON.stringify({ version: 1, models: { [a]: own('Of a.'), [copy]: own('Of the copy.') } }));
  const { library, prompt } = await open();
  expect([prompt('a.gguf'), prompt('copy.gguf')]).toEqual(['Of a.', 'Of the copy.']);
  await rename(at('copy.gguf'), at('moved.gguf'));
  await library.list();
  expect([prompt('a.gguf'), prompt('moved.gguf')]).toEqual(['Of a.', 'Of the copy.']);
});
