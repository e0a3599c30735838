/** What is half there is taken up again, whatever the size that the hub gave for the whole. */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { PartFile, partPath, sidecarPath } from '@/electron/services/downloads/partFile';
import { temporaryFolder } from '@/test/fixtures/temporary';

const chunk = 1024;
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
  const file = await PartFile.open(join(folder, path), { version: 1, origin, path }, chunk);
  onTestFinished(() => file.close());
  await file.readAgain();
  return file;
}

test.each([-5, 0, 5.5, 1e300, 2 ** 53 + 2])('a size of %d has an end', async (bytes) => {
  endEndlessLoops();
  const file = await openPart(await temporaryFolder(), bytes);
  expect(file.have).toBe(0);
});

const content = Buffer.from(Array.from({ length: 3 * chunk + 100 }, (_, index) => index % 251));
const sha256 = createHash('sha256').update(content).digest('hex');
const never = new AbortController().signal;

/** What a run that is killed leaves behind: the first two chunks are in the log, more is on the disk. */
async function killed(folder: string): Promise<void> {
  const file = await openPart(folder, content.length, sha256);
  await file.write(content.subarray(0, 2 * chunk));
  await file.write(content.subarray(2 * chunk, 2 * chunk + 50));
  await file.close();
}

test('what a killed run wrote is used, and right', async () => {
  const folder = await temporaryFolder();
  await killed(folder);
  const file = await openPart(folder, content.length, sha256);
  expect(file.have).toBe(2 * chunk + 50);
  await file.write(content.subarray(file.have));
  expect(file.matches()).toBe(true);
});

test('what the disk lost behind the last flush is dropped first, then all', async () => {
  const folder = await temporaryFolder();
  await killed(folder);
  await writeFile(partPath(join(folder, path)), Buffer.concat([content.subarray(0, 2 * chunk), Buffer.alloc(chunk)]));
  const file = await openPart(folder, content.length, sha256);
  expect(file.have).toBe(3 * chunk);
  await file.write(content.subarray(file.have));
  expect(file.matches()).toBe(false);
  expect(await file.goBack(never)).toBe(true);
  expect(file.have).toBe(2 * chunk);
  await file.write(content.subarray(file.have));
  expect(file.matches()).toBe(true);
  expect(await file.goBack(never)).toBe(false);
  expect(file.have).toBe(0);
});

test('a log that promises more than the disk has is not believed', async () => {
  const folder = await temporaryFolder();
  await killed(folder);
  await writeFile(partPath(join(folder, path)), content.subarray(0, chunk));
  const file = await openPart(folder, content.length, sha256);
  expect(file.have).toBe(chunk);
  await file.write(content.subarray(file.have));
  expect(file.matches()).toBe(true);
});

test('a half download of an earlier version goes on with all of its bytes', async () => {
  const folder = await temporaryFolder();
  await killed(folder);
  // it kept the state of the checksum, where connections met, and which chunks it had fetched again
  const log = sidecarPath(join(folder, path));
  const [head = ''] = (await readFile(log, 'utf8')).split('\n');
  const lines = [{ etag: '"a"' }, { end: chunk, state: 'c3RhdGU=' }, { seam: 1 }, { checked: 0 }];
  await writeFile(log, [head, ...lines.map((line) => `\n${JSON.stringify(line)}\n`)].join('\n'));
  const file = await openPart(folder, content.length, sha256);
  expect([file.have, file.etag, file.verified]).toEqual([2 * chunk + 50, '"a"', false]);
  await file.write(content.subarray(file.have));
  expect(file.matches()).toBe(true);
  // and with those of its last state when others turn out wrong
  expect(await file.goBack(never)).toBe(true);
  expect(file.have).toBe(chunk);
});
