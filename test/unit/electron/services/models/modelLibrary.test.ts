/** The list of models: what is added, folders that change, files that are there twice, and the trash. */
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ConcertinaError } from '@/electron/contract/errors';
import { Deletions } from '@/electron/services/models/deletion';
import { Duplicates } from '@/electron/services/models/duplicates';
import { FolderWatch } from '@/electron/services/models/folderWatch';
import { foundFile, ModelList } from '@/electron/services/models/modelFiles';
import { type LibraryParts, ModelLibrary } from '@/electron/services/models/modelLibrary';
import { hashFiles } from '@/electron/workers/hashFiles';
import { Gate } from '@/test/fixtures/gate';
import { hubTree, model, ollamaTree, put } from '@/test/fixtures/modelTrees';
import { modelInfo } from '@/test/fixtures/samples';
import { temporaryFolder } from '@/test/fixtures/temporary';

async function setUp() {
  const folder = await temporaryFolder();
  const models = join(folder, 'models');
  for (const name of ['app/tiny.gguf', 'models/a.gguf', 'models/deeper/b.GGUF']) await put(join(folder, name), 'GGUF');
  await put(join(models, 'notes.txt'), 'no model');
  const inspect = vi.fn(async (path: string) => {
    if (path.includes('broken')) throw new ConcertinaError('model-invalid', 'The header is cut off.');
    return modelInfo;
  });
  const open = async (parts: Partial<LibraryParts> = {}) => {
    const added = new ModelList(join(folder, 'models.json'));
    await added.load();
    return new ModelLibrary({ embeddedFolder: join(folder, 'app'), added, inspector: { inspect }, ...parts });
  };
  const deleting = (deletions: Deletions) => open({ deletions });
  return { folder, models, inspect, open, deleting, library: await open() };
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

test('what cannot be used is refused with its name and a reason; the rest is added in place, for later starts too', async () => {
  const { library, models, open } = await setUp();
  await writeFile(join(models, 'broken.gguf'), 'GGUF');
  await writeFile(join(models, 'empty.gguf'), '');
  await mkdir(join(models, 'nothing'));
  const tried = ['notes.txt', 'broken.gguf', 'empty.gguf', 'missing.gguf', 'nothing', 'a.gguf'];
  const { added, refused } = await library.add(tried.map((name) => join(models, name)));
  const facts = { source: 'file', location: models, info: modelInfo, problem: null };
  expect(added).toMatchObject([{ fileName: 'a.gguf', ...facts }]);
  expect(refused.map(({ name, error }) => [name, error.code])).toEqual([
    ['notes.txt', 'model-invalid'],
    ['broken.gguf', 'model-invalid'],
    ['empty.gguf', 'model-invalid'],
    ['missing.gguf', 'model-missing'],
    ['nothing', 'not-found'],
  ]);
  for (const { name, error } of refused) expect(error.message).toContain(name);
  const again = await open();
  for (const one of [library, again]) expect(names(await one.list())).toEqual(['tiny.gguf', 'a.gguf']);
  expect(await again.pathOf(added[0]?.id ?? '')).toBe(join(models, 'a.gguf'));
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
    expect(broken?.problem?.message).toContain('cut off');
  });
});

test('remove takes a model off the list and leaves its file; adding it again brings it back', async () => {
  const { library, models, open } = await setUp();
  const { added } = await library.add([models]);
  await library.remove(added[0]?.id ?? '');
  expect(names(await (await open()).list())).toEqual(['tiny.gguf', 'b.GGUF']);
  expect(await readFile(join(models, 'a.gguf'), 'utf8')).toBe('GGUF');
  await library.add([models]);
  expect(names(await library.list())).toEqual(['tiny.gguf', 'a.gguf', 'b.GGUF']);
  await expect(library.remove((await library.list())[0]?.id ?? '')).rejects.toMatchObject({ code: 'forbidden' });
});

test('the model that drafts is named by its id, its name or a path; one that is not there is left to the engine', async () => {
  const { library, models } = await setUp();
  const { added } = await library.add([join(models, 'a.gguf')]);
  const path = join(models, 'a.gguf');
  const of = async (draftModel: string, speculation: 'draft' | 'ngram' = 'draft') =>
    (await library.withFiles(path, { speculation, draftModel })).draftModel;
  const id = added[0]?.id ?? '';
  expect([await of(id), await of('a.gguf'), await of('a'), await of(path)]).toEqual([path, path, path, path]);
  expect([await of('nothing'), await of(''), await of(id, 'ngram')]).toEqual(['nothing', '', id]);
});

test('a listed file that is gone stays listed with its problem, and its path is refused', async () => {
  const { library, models } = await setUp();
  const { added } = await library.add([join(models, 'a.gguf')]);
  await rm(join(models, 'a.gguf'));
  const entry = (await library.list()).find(({ id }) => id === added[0]?.id);
  expect(entry?.problem?.message).toContain('a.gguf');
  await expect(library.pathOf(added[0]?.id ?? '')).rejects.toMatchObject({ code: 'model-missing' });
});

test('a file that was looked at while the engine crashed can be added again; an engine that is not there says nothing', async () => {
  const { library, models, inspect } = await setUp();
  inspect.mockRejectedValueOnce(new ConcertinaError('out-of-memory', 'The system ended the engine.'));
  const { refused } = await library.add([join(models, 'a.gguf')]);
  expect(refused).toMatchObject([{ error: { code: 'out-of-memory' } }]);
  inspect.mockRejectedValueOnce(new ConcertinaError('engine-unavailable', 'Not running.'));
  const { added } = await library.add([join(models, 'a.gguf')]);
  expect(added).toMatchObject([{ info: null, problem: null }]);
  await library.list();
  await vi.waitFor(async () => expect((await library.list())[1]?.info).toEqual(modelInfo));
});

test('a deleted model leaves the list at once, and its file when nobody has kept it', async () => {
  const { models, deleting } = await setUp();
  const pause = new Gate().hold();
  const library = await deleting(new Deletions((signal) => pause.pass(signal)));
  const { added } = await library.add([join(models, 'a.gguf'), join(models, 'deeper', 'b.GGUF')]);
  const [first = '', second = ''] = added.map(({ id }) => id);
  const remover = vi.fn(() => (path: string) => rm(path));
  const there = () => library.list().then((list) => names(list).filter((name) => name !== 'tiny.gguf'));

  const kept = library.delete(first, remover);
  await pause.reached();
  expect(await there()).toEqual(['b.GGUF']);
  await expect(library.pathOf(first)).rejects.toMatchObject({ code: 'not-found' });
  library.keep(first);
  expect(await kept).toBe(false);
  expect(await there()).toEqual(['a.gguf', 'b.GGUF']);
  expect(await readdir(models)).toContain('a.gguf');

  const gone = library.delete(first, remover);
  await pause.reached();
  pause.open();
  expect(await gone).toBe(true);
  expect(remover).toHaveBeenLastCalledWith('file');
  expect(await readdir(models)).not.toContain('a.gguf');
  expect(await there()).toEqual(['b.GGUF']);
  expect(() => library.keep(first)).toThrow('deleted already');

  // what waits when the app ends is deleted: the person has said so
  pause.hold();
  const last = library.delete(second, remover);
  await pause.reached();
  await library.close();
  expect(await last).toBe(true);
  expect(await readdir(join(models, 'deeper'))).toEqual([]);
});

test('what cannot be deleted after the wait is back on the list, with the reason', async () => {
  const { models, deleting } = await setUp();
  const library = await deleting(new Deletions(() => Promise.resolve()));
  const { added } = await library.add([join(models, 'a.gguf')]);
  const refused = library.delete(added[0]?.id ?? '', () => () => Promise.reject(new Error('read-only disk')));
  await expect(refused).rejects.toMatchObject({
    code: 'storage-failed',
    message: expect.stringContaining('read-only'),
  });
  expect(names(await library.list())).toContain('a.gguf');
});

test('the built-in model is not deleted, nor what may not be removed from where it was asked', async () => {
  const { models, library } = await setUp();
  const { added } = await library.add([join(models, 'a.gguf')]);
  const remover = vi.fn(() => {
    throw new ConcertinaError('forbidden', 'Not from here.');
  });
  const builtIn = (await library.defaultModelId()) ?? '';
  await expect(library.delete(builtIn, remover)).rejects.toMatchObject({ code: 'forbidden' });
  expect(remover).not.toHaveBeenCalled();
  await expect(library.delete(added[0]?.id ?? '', remover)).rejects.toThrow('Not from here.');
  expect(names(await library.list())).toContain('a.gguf');
});

describe('the list over folders that change, files that are there twice, and the trash', () => {
  async function setUp() {
    const home = await temporaryFolder();
    await mkdir(join(home, 'app'));
    await mkdir(join(home, 'models'));
    const duplicates = new Duplicates(join(home, 'hashes.json'), hashFiles);
    const added = new ModelList(join(home, 'models.json'));
    const library = new ModelLibrary({
      ...{ embeddedFolder: join(home, 'app'), added, duplicates, watch: true },
      inspector: { inspect: async () => modelInfo },
      machine: { platform: 'linux', home, environment: {} },
    });
    onTestFinished(() => library.close());
    const reported: string[][] = [];
    library.changed.on((entries) => reported.push(entries.map(({ fileName }) => fileName)));
    return { home, models: join(home, 'models'), library, reported };
  }

  test('what changes in an added folder is reported, also below it, and when the folder goes', async () => {
    const { models, library, reported } = await setUp();
    await put(join(models, 'a.gguf'), model('a'));
    await library.add([models]);
    await put(join(models, 'new', 'b.gguf'), model('b'));
    await vi.waitFor(() => expect(reported.at(-1)).toEqual(['a.gguf', 'b.gguf']));
    await put(join(models, 'new', 'c.gguf'), model('c'));
    await vi.waitFor(() => expect(reported.at(-1)).toEqual(['a.gguf', 'b.gguf', 'c.gguf']));
    await rename(models, `${models}-away`);
    await vi.waitFor(() => expect(reported.at(-1)).toEqual([]));
    expect((await library.places()).folders).toMatchObject([{ there: false, models: 0 }]);
  });

  describe('watching', () => {
    const timing = { restMs: 5, mostMs: 50, pollMs: 20 };
    function setTick(): void {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
      onTestFinished(() => void vi.useRealTimers());
    }

    /** A system that watches what is `there`, and reports a change when the test says so. */
    function fakeSystem(...there: string[]) {
      const reported = new Map<string, () => void>();
      const open = (folder: string, _: unknown, onChange: () => void) => {
        if (!there.includes(folder)) throw new Error('ENOSPC');
        reported.set(folder, onChange);
        return { on: () => undefined, close: () => reported.delete(folder) };
      };
      return { there, open: open as never, change: (folder: string) => reported.get(folder)?.() };
    }

    test('where the system does not watch, it is looked at every now and then', () => {
      setTick();
      const changed = vi.fn();
      const blind = new FolderWatch(changed, timing, fakeSystem().open);
      blind.set(['a']);
      vi.advanceTimersByTime(60);
      expect(changed).toHaveBeenCalledTimes(3);
      blind.close();
      vi.advanceTimersByTime(60);
      expect(changed).toHaveBeenCalledTimes(3);
    });

    test('a folder that comes back is watched again, and not looked at any more until it changes', () => {
      setTick();
      const changed = vi.fn();
      const system = fakeSystem();
      const seeing = new FolderWatch(changed, timing, system.open);
      onTestFinished(() => seeing.close());
      seeing.set(['gone']);
      vi.advanceTimersByTime(20);
      expect(changed).toHaveBeenCalledTimes(1);
      system.there.push('gone');
      seeing.set(['gone']);
      vi.advanceTimersByTime(60);
      expect(changed).toHaveBeenCalledTimes(1);
      // a copy goes on: reported when it rests, and every now and then before
      system.change('gone');
      vi.advanceTimersByTime(4);
      system.change('gone');
      vi.advanceTimersByTime(4);
      expect(changed).toHaveBeenCalledTimes(1);
      vi.advanceTimersByTime(1);
      expect(changed).toHaveBeenCalledTimes(2);
      for (let write = 0; write < 20; write++) {
        system.change('gone');
        vi.advanceTimersByTime(3);
      }
      expect(changed).toHaveBeenCalledTimes(3);
    });

    test('a real folder is watched', async () => {
      const folder = await temporaryFolder();
      const changed = vi.fn();
      const seeing = new FolderWatch(changed, { ...timing, pollMs: 1e6 });
      onTestFinished(() => seeing.close());
      seeing.set([folder]);
      await writeFile(join(folder, 'a'), '');
      await vi.waitFor(() => expect(changed).toHaveBeenCalled());
    });
  });

  test('a file that is there three times is one entry with three places; others of its size are not', async () => {
    const { home, models, library } = await setUp();
    const content = model('the same weights');
    await put(join(models, 'a.gguf'), content);
    await put(join(models, 'b.gguf'), model('not those, really'.slice(0, 16)));
    await hubTree(join(home, 'hub'), 'org/repo', 'linked.gguf', content);
    await ollamaTree(join(home, '.ollama', 'models'), 'registry.ollama.ai/library/same/latest', content);
    await library.add([models, join(home, 'hub'), join(home, '.ollama', 'models')]);
    await vi.waitFor(async () => expect(await library.list()).toHaveLength(2));
    const [first, second] = await library.list();
    expect(first?.places).toMatchObject([
      { fileName: 'a.gguf', app: null },
      { fileName: 'linked.gguf', app: null },
      { fileName: 'same:latest', app: 'Ollama' },
    ]);
    expect(second?.places).toHaveLength(1);
    for (const place of first?.places ?? []) expect(await library.pathOf(place.id)).toMatch(/./);
  });

  test('only what is alike at both ends is read whole, once, also after a restart', async () => {
    const folder = await temporaryFolder();
    const big = Buffer.alloc(3 * 1024 * 1024, 1);
    const middle = Buffer.from(big);
    middle[1.5 * 1024 * 1024] = 2;
    const end = Buffer.from(big);
    end[end.length - 1] = 2;
    const contents = { 'one.gguf': big, 'two.gguf': big, 'middle.gguf': middle, 'end.gguf': end };
    const files = [];
    for (const [name, content] of Object.entries(contents)) {
      files.push((await foundFile(await put(join(folder, name), content))) ?? expect.unreachable());
    }
    const hash = vi.fn(hashFiles);
    const duplicates = new Duplicates(join(folder, 'hashes.json'), hash);
    expect(await duplicates.look(files)).toBe(true);
    const digests = files.map((file) => duplicates.digestOf(file));
    expect(digests[0]).toBe(digests[1]);
    expect(digests[2]).not.toBe(digests[0]);
    expect(digests[3]).toBeNull();
    const whole = hash.mock.calls.flatMap(([paths, sample]) => (sample ? [] : paths.map((path) => basename(path))));
    expect(whole).toEqual(['one.gguf', 'two.gguf', 'middle.gguf']);
    const next = new Duplicates(join(folder, 'hashes.json'), hash);
    await next.load();
    hash.mockClear();
    expect(await next.look(files)).toBe(false);
    expect(hash).not.toHaveBeenCalled();
    expect(files.map((file) => next.digestOf(file))).toEqual(digests);
  });

  test('the trash gets every part of a model, and nothing that another one needs', async () => {
    const { home, models, library } = await setUp();
    for (const number of [1, 2]) await put(join(models, `big-0000${number}-of-00002.gguf`), model(`part ${number}`));
    await hubTree(join(home, 'hub'), 'org/repo', 'linked.gguf', model('linked'));
    const store = join(home, '.ollama', 'models');
    await ollamaTree(store, 'registry.ollama.ai/library/same/latest', model('shared'));
    await ollamaTree(store, 'registry.ollama.ai/library/same/8b', model('shared'));
    await library.add([models, join(home, 'hub'), store]);
    const idOf = async (name: string) =>
      (await library.list()).flatMap(({ places }) => places).find(({ fileName }) => fileName === name)?.id ?? '';

    const gone: string[] = [];
    const trash = async (path: string) => {
      gone.push(basename(path));
      await rm(path);
    };
    await library.delete(await idOf('big-00001-of-00002.gguf'), () => trash, false);
    expect(gone.splice(0)).toEqual(['big-00001-of-00002.gguf', 'big-00002-of-00002.gguf']);
    await library.delete(await idOf('linked.gguf'), () => trash, false);
    expect(gone.splice(0)).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), 'linked.gguf']);
    await library.delete(await idOf('same:8b'), () => trash, false);
    expect(gone.splice(0)).toEqual(['8b']);
    await library.delete(await idOf('same:latest'), () => trash, false);
    expect(gone).toEqual([expect.stringMatching(/^sha256-/), 'latest']);
    expect(await library.list()).toEqual([]);
  });

  test('what the trash refuses is reported and stays on the list', async () => {
    const { models, library } = await setUp();
    const { added } = await library.add([await put(join(models, 'a.gguf'), model('a'))]);
    const refusal = () => Promise.reject(new Error('no trash on this disk'));
    const message = expect.stringMatching(/^a\.gguf .*no trash on this disk\.$/);
    await expect(library.delete(added[0]?.id ?? '', () => refusal, false)).rejects.toMatchObject({
      code: 'storage-failed',
      message,
    });
    expect(await library.list()).toHaveLength(1);
  });

  test('a folder whose search was canceled is not added, and what was added before it is', async () => {
    const { home, models, library } = await setUp();
    await writeFile(join(models, 'm.gguf'), 'GGUF and so on');
    const large = join(home, 'large');
    for (const name of ['a', 'b']) await put(join(large, name, `${name}.gguf`), 'GGUF and so on');
    let searches = 0;
    const off = library.addProgress.on(({ folders, models: found }) => {
      // the first folder is searched too fast to be reported twice
      if (folders === 0 && found === 0 && ++searches === 2) library.cancelAdd();
    });
    const { added, refused } = await library.add([models, large]);
    expect(added.map(({ fileName }) => fileName)).toEqual(['m.gguf']);
    expect(refused).toEqual([]);
    expect((await library.list()).map(({ fileName }) => fileName)).toEqual(['m.gguf']);
    off();
    expect((await library.add([large])).added).toHaveLength(2);
  });
});
