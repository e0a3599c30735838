/** What is half there is taken up again, whatever the size that the hub gave for the whole. */
import { createHash } from 'node:crypto';
import { mkdirSync, statSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { PartFile, sidecarPath } from '@/electron/services/downloads/partFile';
import { chunk, hubClient, received, testHub } from '@/test/fixtures/hub/client';
import { sampleGguf } from '@/test/fixtures/hub/sampleGguf';
import { canMount, smallDisk, unmountDisk } from '@/test/fixtures/smallDisk';
import { temporaryFolder } from '@/test/fixtures/temporary';

const smallChunk = 1024;
const path = 'model.gguf';

/** A step that is repeated for ever holds the thread, so that no time limit of a test would end it: this one throws. */
function endEndlessLoops(): void {
  const { pop } = Array.prototype;
  let inVain = 0;
  const spy = vi.spyOn(Array.prototype, 'pop').mockImplementation(function (this: unknown[]) {
    if (this.length === 0 && ++inVain > 10_000) throw new Error('a loop has no end');
    return pop.call(this);
  });
  onTestFinished(() => spy.mockRestore());
}

async function openPart(folder: string, bytes: number, sha256: string | null = null): Promise<PartFile> {
  const parts = [{ path, bytes, sha256 }];
  const origin = { repo: 'someone/model', revision: 'main', file: path, title: 'model', quant: null, parts };
  const file = await PartFile.open(join(folder, path), { version: 1, origin, path }, smallChunk);
  onTestFinished(() => file.close());
  await file.readAgain();
  return file;
}

test.each([-5, 0, 5.5, 1e300, 2 ** 53 + 2])('a size of %d has an end', async (bytes) => {
  endEndlessLoops();
  const file = await openPart(await temporaryFolder(), bytes);
  expect(file.have).toBe(0);
});

const partContent = Buffer.from(Array.from({ length: 3 * smallChunk + 100 }, (_, index) => index % 251));
const sha256 = createHash('sha256').update(partContent).digest('hex');
const never = new AbortController().signal;

test('a half download of an earlier version goes on with all of its bytes', async () => {
  const folder = await temporaryFolder();
  // what a run that is killed leaves behind: the first two chunks are in the log, more is on the disk
  const killed = await openPart(folder, partContent.length, sha256);
  await killed.write(partContent.subarray(0, 2 * smallChunk));
  await killed.write(partContent.subarray(2 * smallChunk, 2 * smallChunk + 50));
  await killed.close();
  // it kept the state of the checksum, where connections met, and which chunks it had fetched again
  const log = sidecarPath(join(folder, path));
  const [head = ''] = (await readFile(log, 'utf8')).split('\n');
  const lines = [{ etag: '"a"' }, { end: smallChunk, state: 'c3RhdGU=' }, { seam: 1 }, { checked: 0 }];
  await writeFile(log, [head, ...lines.map((line) => `\n${JSON.stringify(line)}\n`)].join('\n'));
  const file = await openPart(folder, partContent.length, sha256);
  expect([file.have, file.etag, file.verified]).toEqual([2 * smallChunk + 50, '"a"', false]);
  await file.write(partContent.subarray(file.have));
  expect(file.matches()).toBe(true);
  // and with those of its last state when others turn out wrong
  expect(await file.goBack(never)).toBe(true);
  expect(file.have).toBe(smallChunk);
});

// A disk that is really full in the middle of a download: a small one in memory, where this process may mount one.

const repo = 'someone/Model-GGUF';
const file = 'Model-Q4_K_M.gguf';

// elsewhere the fake figure of downloads.test.ts has to do
test.runIf(canMount)(
  'the disk is full in the middle: paused, nothing lost, and it goes on when there is room',
  async () => {
    const disk = smallDisk(2_000_000);
    if (!disk) throw new Error('a disk could be mounted before');
    onTestFinished(() => unmountDisk(disk));
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
    const before = received(hub);
    await client.downloads.resume(paused.id);
    expect((await client.downloads.settled(paused.id)).state).toBe('done');
    expect((await readFile(place)).equals(content)).toBe(true);
    expect(received(hub) - before).toBeLessThanOrEqual(content.length - kept + chunk);
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
