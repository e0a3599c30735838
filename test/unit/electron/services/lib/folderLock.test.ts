/** One process at a time has a data folder, and a dead one keeps nobody out. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { lockFolder } from '@/electron/services/lib/folderLock';
import { temporaryFolder } from '@/test/fixtures/temporary';
import { bundleForNode } from '../../../../../electron/build.mjs';

const bundles = resolve('build/test-bundles');
beforeAll(() => bundleForNode('folderLock', 'electron/services/lib/folderLock.ts', bundles), 60_000);

/** Another process that has the folder. */
async function ownerOf(folder: string): Promise<ChildProcess> {
  const script = join(await temporaryFolder(), 'owner.cjs');
  await writeFile(
    script,
    `require(process.argv[2]).lockFolder(process.argv[3]).then(() => process.send('locked'));
     process.on('disconnect', () => process.exit());`,
  );
  const child = fork(script, [join(bundles, 'folderLock.cjs'), folder]);
  onTestFinished(() => void child.kill('SIGKILL'));
  expect(await once(child, 'message')).toContain('locked');
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('a data folder', () => {
  test('has one owner at a time, and is free once that was killed', async () => {
    const folder = await temporaryFolder();
    const owner = await ownerOf(folder);
    const message = expect.stringMatching(new RegExp(`already runs with the folder .*process ${owner.pid}`));
    await expect(lockFolder(folder)).rejects.toMatchObject({ code: 'busy', message });
    await kill(owner);
    // a pipe of Windows goes with its process
    if (process.platform !== 'win32') expect(existsSync(join(folder, 'in-use.sock'))).toBe(true);
    await lockFolder(folder);
    // a second time is no harm
    await lockFolder(folder);
  });

  test.skipIf(process.platform === 'win32')('belongs to a process that is stopped, too', async () => {
    const folder = await temporaryFolder();
    const owner = await ownerOf(folder);
    owner.kill('SIGSTOP');
    await expect(lockFolder(folder)).rejects.toMatchObject({ code: 'busy' });
  });

  test.skipIf(process.platform === 'win32')('is closed to others once it is used', async () => {
    const folder = await temporaryFolder();
    await chmod(folder, 0o777);
    await lockFolder(folder);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  test.skipIf(process.platform === 'win32')('of another user that anybody can write to is refused', async () => {
    const folder = await temporaryFolder();
    await chmod(folder, 0o777);
    // root may give a folder away; anybody else is another user than that of /tmp
    vi.spyOn(process, 'getuid').mockReturnValue((await stat(folder)).uid + 1);
    await expect(lockFolder(folder)).rejects.toMatchObject({
      ...{ code: 'storage-failed', message: expect.stringContaining('belongs to another user') },
    });
    await chmod(folder, 0o755);
    await lockFolder(folder);
  });

  test('may have a path that is too long for a socket', async () => {
    const folder = join(await temporaryFolder(), 'long'.repeat(30));
    await mkdir(folder);
    const owner = await ownerOf(folder);
    await expect(lockFolder(folder)).rejects.toMatchObject({ code: 'busy' });
    await kill(owner);
    await lockFolder(folder);
  });
});
