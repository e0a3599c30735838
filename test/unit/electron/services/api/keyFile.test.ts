/** The key in its file: kept from start to start, and never one that another user could have read or written. */
import { spawnSync } from 'node:child_process';
import { chmod, lstat, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keptKey, newKey } from '@/electron/services/api/access';
import { temporaryFolder } from '@/test/fixtures/temporary';

test('a key is kept, readable for its owner alone', async () => {
  const path = join(await temporaryFolder(), 'api.key');
  const key = keptKey(path);
  expect(keptKey(path)).toBe(key);
  expect((await lstat(path)).mode & 0o777).toBe(0o600);
});

test.skipIf(process.platform === 'win32')(
  'a file that others can read, or a link to one, gives a new key',
  async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'api.key');
    const foreign = join(folder, 'foreign');
    const open = keptKey(path);
    await chmod(path, 0o644);
    const next = keptKey(path);
    expect(next).not.toBe(open);
    await writeFile(foreign, next, { mode: 0o600 });
    for (const make of [keptKey, newKey]) {
      await rm(path);
      await symlink(foreign, path);
      expect(make(path)).not.toBe(next);
    }
    expect(await readFile(foreign, 'utf8')).toBe(next);
    expect((await lstat(path)).isFile()).toBe(true);
  },
);

test.skipIf(process.platform === 'win32')('a pipe or a folder in its place gives a new key, too', async () => {
  const path = join(await temporaryFolder(), 'api.key');
  expect(spawnSync('mkfifo', ['-m', '600', path]).status).toBe(0);
  expect(keptKey(path)).toMatch(/^[\w-]{32}$/);
  expect((await lstat(path)).isFile()).toBe(true);
  await rm(path);
  await mkdir(join(path, 'inner'), { recursive: true });
  expect(keptKey(path)).toMatch(/^[\w-]{32}$/);
  expect((await lstat(path)).isFile()).toBe(true);
});
