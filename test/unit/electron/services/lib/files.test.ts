import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  appendText,
  readTextIfThere,
  replaceFile,
  sweepHalfWritten,
  writeFileAtomic,
} from '@/electron/services/lib/files';
import { JsonFile } from '@/electron/services/lib/jsonFile';
import { createFileLogger } from '@/electron/services/lib/logger';
import { temporaryFolder } from '@/test/fixtures/temporary';

test('a write replaces the whole file, makes its folder, and leaves nothing else behind', async () => {
  const folder = join(await temporaryFolder(), 'new');
  const path = join(folder, 'a.json');
  await writeFileAtomic(path, 'a long first text');
  await writeFileAtomic(path, 'short');
  expect(await readFile(path, 'utf8')).toBe('short');
  expect(await readdir(folder)).toEqual(['a.json']);
  // Windows keeps rights in lists of its own, which the folder of the person has
  if (process.platform !== 'win32') expect((await stat(path)).mode & 0o077).toBe(0);
});

test('a write that fails leaves the old file as it was, and no temporary file', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'a.json');
  // a rename onto a folder that is not empty fails after the temporary file was written
  await mkdir(path);
  await writeFile(join(path, 'inside'), 'kept');
  await expect(writeFileAtomic(path, 'new')).rejects.toMatchObject({ code: 'storage-failed' });
  expect(await readdir(folder)).toEqual(['a.json']);
  expect(await readFile(join(path, 'inside'), 'utf8')).toBe('kept');
});

describe('a file that another program has open', () => {
  /** Refuses so many times, as Windows does. */
  async function replace(times: number, code: string, platform: NodeJS.Platform) {
    const tried: unknown[] = [];
    const paused: number[] = [];
    const move = async (from: unknown) => {
      tried.push(from);
      if (tried.length <= times) throw Object.assign(new Error('held'), { code });
    };
    const pause = async (ms: number) => void paused.push(ms);
    const outcome = await replaceFile('a', 'b', { platform, move, pause }).then(
      () => 'done',
      (error: { code: string }) => error.code,
    );
    return { outcome, tries: tried.length, paused };
  }

  test('is tried again on Windows, each time later', async () => {
    expect(await replace(2, 'EPERM', 'win32')).toEqual({ outcome: 'done', tries: 3, paused: [10, 40] });
    expect(await replace(1, 'EBUSY', 'win32')).toMatchObject({ outcome: 'done' });
  });

  test('is given up after some time; what is no matter of time, at once', async () => {
    expect(await replace(99, 'EACCES', 'win32')).toMatchObject({ outcome: 'EACCES', tries: 6 });
    expect(await replace(99, 'ENOENT', 'win32')).toMatchObject({ outcome: 'ENOENT', tries: 1 });
    expect(await replace(99, 'EPERM', 'linux')).toMatchObject({ outcome: 'EPERM', tries: 1 });
  });
});

test('what a killed write left is swept, and nothing else', async () => {
  const folder = await temporaryFolder();
  for (const name of ['a.json', 'a.json.0123abcd.tmp', 'notes.tmp']) await writeFile(join(folder, name), 'x');
  await sweepHalfWritten([folder, join(folder, 'none')]);
  expect((await readdir(folder)).sort()).toEqual(['a.json', 'notes.tmp']);
});

test('append adds to the end; a missing file reads as null, an unreadable one is an error', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'log');
  expect(await readTextIfThere(path)).toBeNull();
  await appendText(path, 'one\n', true);
  await appendText(path, 'two\n', false);
  expect(await readTextIfThere(path)).toBe('one\ntwo\n');
  await expect(readTextIfThere(folder)).rejects.toMatchObject({ code: 'data-corrupt' });
});

test('lines have a time and a level; the file is turned over when it is full', async () => {
  const folder = join(await temporaryFolder(), 'logs');
  const path = join(folder, 'concertina.log');
  const log = createFileLogger(path, () => new Date('2026-11-21T12:00:00Z'));
  log.warn('first\n');
  expect(await readFile(path, 'utf8')).toBe('2026-11-21T12:00:00.000Z warn first\n');
  await writeFile(path, 'x'.repeat(1_000_001));
  log.error('second');
  expect(await readFile(path, 'utf8')).toBe('2026-11-21T12:00:00.000Z error second\n');
  expect((await readdir(folder)).sort()).toEqual(['concertina.1.log', 'concertina.log']);
});

test('a line of any length is cut, and says so; the lines beside it are whole', async () => {
  const path = join(await temporaryFolder(), 'concertina.log');
  createFileLogger(path, () => new Date('2026-11-21T12:00:00Z')).warn(`first\n${'x'.repeat(400_000)}\nlast`);
  const cut = `${'x'.repeat(2000)} … (cut: 400000 characters)`;
  expect(await readFile(path, 'utf8')).toBe(`2026-11-21T12:00:00.000Z warn first\n${cut}\nlast\n`);
});

const schema = z.object({ names: z.array(z.string()) });
const withName = (name: string) => (list: z.infer<typeof schema>) => ({ names: [...list.names, name] });

async function setUp(content?: string, options: { asideNotice?: (name: string) => string; compact?: boolean } = {}) {
  const folder = await temporaryFolder();
  const path = join(folder, 'list.json');
  if (content !== undefined) await writeFile(path, content);
  const migrations = { 1: ({ name }: Record<string, unknown>) => ({ names: [name] }) };
  const now = () => new Date(0);
  const open = () => new JsonFile({ path, version: 2, schema, initial: { names: [] }, migrations, now, ...options });
  const file = open();
  await file.load();
  return { folder, path, file, open };
}

const aside = { asideNotice: (name: string) => `kept as ${name}` };

test('changes are written whole, one after the other, and read again', async () => {
  const { path, file, open } = await setUp();
  const listener = vi.fn();
  file.changed.on(listener);
  await Promise.all(['a', 'b', 'c'].map((name) => file.change(withName(name))));
  expect(await readFile(path, 'utf8')).toBe('{\n  "version": 2,\n  "names": [\n    "a",\n    "b",\n    "c"\n  ]\n}\n');
  expect(listener.mock.calls.map(([{ names }]) => names.length)).toEqual([1, 2, 3]);
  const next = open();
  await next.load();
  expect(next.get()).toEqual({ names: ['a', 'b', 'c'] });
});

test('a step that throws or changes nothing writes nothing, and the next one runs', async () => {
  const { folder, file } = await setUp(undefined, { compact: true });
  const refused = file.change(() => {
    throw new Error('no');
  });
  const same = file.change((list) => list);
  await expect(refused).rejects.toThrow('no');
  expect(await same).toEqual({ names: [] });
  expect(await readdir(folder)).toEqual([]);
  await file.change(withName('a'));
  expect(await readFile(join(folder, 'list.json'), 'utf8')).toBe('{"version":2,"names":["a"]}\n');
});

test('what cannot be written does not count, unless it can be found out again', async () => {
  const { folder, file } = await setUp();
  await mkdir(join(folder, 'list.json'));
  await expect(file.change(withName('a'))).rejects.toMatchObject({ code: 'storage-failed' });
  expect(file.get().names).toEqual([]);
  await file.remember(withName('b'));
  expect(file.get().names).toEqual(['b']);
  await rm(join(folder, 'list.json'), { recursive: true });
  await file.change(withName('c'));
  expect(file.get().names).toEqual(['b', 'c']);
});

test.each(['', 'null', '[]', '{"names":1}', '{"version":3,"names":[]}', '{"version":0}'])(
  'a file that cannot be used (%s) is set aside with a notice, or replaced when it is only a cache',
  async (content) => {
    const kept = await setUp(content, aside);
    expect(kept.file.notices).toEqual(['kept as list.corrupt-1970-01-01T00-00-00.json']);
    expect(await readFile(join(kept.folder, 'list.corrupt-1970-01-01T00-00-00.json'), 'utf8')).toBe(content);
    const cache = await setUp(content);
    expect(cache.file.get()).toEqual({ names: [] });
    await cache.file.change(withName('a'));
    expect(await readdir(cache.folder)).toEqual(['list.json']);
  },
);

test('an older version is migrated at once, and kept', async () => {
  const old = '{"version":1,"name":"a"}';
  const { path, file } = await setUp(old, aside);
  expect(file.get()).toEqual({ names: ['a'] });
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ version: 2, names: ['a'] });
  expect(await readFile(`${path}.v1.bak`, 'utf8')).toBe(old);
});
