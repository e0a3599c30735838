/** A disk that is really full in the middle of a download: a small one in memory, where this process may mount one. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { chunk, hubClient, received, testHub } from '@/test/fixtures/hub/client';
import { sampleGguf } from '@/test/fixtures/hub/sampleGguf';
import { temporaryFolder } from '@/test/fixtures/temporary';

const repo = 'someone/Model-GGUF';
const file = 'Model-Q4_K_M.gguf';

/** null: mounting is not allowed here */
function smallDisk(bytes: number): string | null {
  const folder = mkdtempSync(join(os.tmpdir(), 'concertina-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder], { stdio: 'ignore' });
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    return null;
  }
}

function unmount(folder: string): void {
  execFileSync('umount', ['-l', folder], { stdio: 'ignore' });
  rmSync(folder, { recursive: true, force: true });
}

const probe = process.platform === 'linux' ? smallDisk(65_536) : null;
if (probe) unmount(probe);

// elsewhere the fake figure of downloads.test.ts has to do
test.runIf(probe !== null)(
  'the disk is full in the middle: paused, nothing lost, and it goes on when there is room',
  async () => {
    const disk = smallDisk(2_000_000);
    if (!disk) throw new Error('a disk could be mounted before');
    onTestFinished(() => unmount(disk));
    const folder = join(disk, 'models');
    mkdirSync(folder);
    const ballast = join(disk, 'ballast');
    await writeFile(ballast, Buffer.alloc(1_200_000));
    const content = sampleGguf(20 * chunk);
    const hub = await testHub([{ id: repo, files: { [file]: content } }]);
    const client = await hubClient(hub, {
      dataFolder: await temporaryFolder(),
      downloadSettings: () => ({ parallel: 2, folder }),
      // the figures come too late, as when another program fills the disk
      free: async () => null,
    });
    const paused = await client.pull(repo, file);
    expect(paused).toMatchObject({ state: 'paused', error: { code: 'disk-full', message: 'The disk is full.' } });
    const place = join(folder, ...repo.split('/'), file);
    const kept = statSync(`${place}.part`).size;
    expect(kept).toBeGreaterThan(5 * chunk);
    await rm(ballast);
    const before = hub.seen.reduce((sum, { where, sent }) => sum + (where === 'cdn' ? sent : 0), 0);
    await client.downloads.resume(paused.id);
    expect((await client.downloads.settled(paused.id)).state).toBe('done');
    expect((await readFile(place)).equals(content)).toBe(true);
    const after = hub.seen.reduce((sum, { where, sent }) => sum + (where === 'cdn' ? sent : 0), 0);
    expect(after - before).toBeLessThanOrEqual(content.length - kept + chunk);
  },
);

test('a disk that is too small for it: paused with figures before anything is fetched, and resumable', async () => {
  let free = 100_000;
  const hub = await testHub([{ id: repo, files: { [file]: sampleGguf(20 * chunk) } }]);
  const client = await hubClient(hub, { free: async () => free });
  const paused = await client.pull(repo, file);
  expect(paused).toMatchObject({ state: 'paused', error: { code: 'disk-full' } });
  expect(received(hub)).toBe(0);
  free = 1e12;
  await client.downloads.resume(paused.id);
  expect((await client.downloads.settled(paused.id)).state).toBe('done');
});
