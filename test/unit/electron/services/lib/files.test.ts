import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { appendText, readTextIfThere, sweepHalfWritten, writeFileAtomic } from '@/electron/services/lib/files';
import { temporaryFolder } from '@/test/fixtures/temporary';

test('a write replaces the whole file, makes its folder, and leaves nothing else behind', async () => {
  const folder = join(await temporaryFolder(), 'new');
  const path = join(folder, 'a.json');
  await writeFileAtomic(path, 'a long first text');
  await writeFileAtomic(path, 'short');
  expect(await readFile(path, 'utf8')).toBe('short');
  expect(await readdir(folder)).toEqual(['a.json']);
  expect((await stat(path)).mode & 0o077).toBe(0);
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
  await expect(readTextIfThere(folder)).rejects.toMatchObject({ code: 'storage-failed' });
});
