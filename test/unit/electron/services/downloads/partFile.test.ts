/** What is half there is taken up again, whatever the size that the hub gave for the whole. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { PartFile, partPath } from '@/electron/services/downloads/partFile';
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

async function openPart(folder: string, bytes: number): Promise<PartFile> {
  const parts = [{ path, bytes, sha256: null }];
  const origin = { repo: 'someone/model', revision: 'main', file: path, title: 'model', quant: null, parts };
  const file = await PartFile.open(join(folder, path), { version: 1, origin, path }, { chunk });
  onTestFinished(() => file.close());
  return file;
}

test.each([-5, 0, 5.5, 1e300, 2 ** 53 + 2])('a size of %d has an end', async (bytes) => {
  endEndlessLoops();
  const file = await openPart(await temporaryFolder(), bytes);
  expect(file.have).toBe(0);
});

test('checkpoints beyond what is there are forgotten, those before are used', async () => {
  const folder = await temporaryFolder();
  const content = Buffer.alloc(3 * chunk + 100, 7);
  const first = await openPart(folder, 10 * chunk);
  await first.write(content);
  const digest = first.digest();
  await first.close();
  // the app died, and the disk lost what came last
  await writeFile(partPath(join(folder, path)), content.subarray(0, 2 * chunk + 50));
  const second = await openPart(folder, 10 * chunk);
  expect(second.have).toBe(2 * chunk + 50);
  await second.write(content.subarray(second.have));
  expect(second.digest()).toBe(digest);
});
