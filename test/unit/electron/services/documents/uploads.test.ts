/** Files that a browser sends in parts: pages that are gone keep nobody out. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Uploads } from '@/electron/services/documents/uploads';
import { temporaryFolder } from '@/test/fixtures/temporary';

const part = { uploadId: null, name: 'a.txt', bytes: 8, offset: 0, data: Buffer.from('half').toString('base64') };

async function setUp() {
  const root = await temporaryFolder();
  const clock = { now: 0 };
  const made: string[] = [];
  const folders = {
    temporary: async () => {
      const folder = await mkdtemp(join(root, 'upload-'));
      made.push(folder);
      return folder;
    },
    discard: (folder: string) => rm(folder, { recursive: true, force: true }),
  };
  return { clock, made, uploads: new Uploads(folders, () => clock.now) };
}

test('16 uploads of pages that are gone give way after seconds, the idlest first', async () => {
  const { clock, made, uploads } = await setUp();
  const ids: string[] = [];
  for (let n = 0; n < 16; n++) {
    clock.now = n;
    ids.push((await uploads.take(part)).uploadId);
  }
  // each has sent something a moment ago
  await expect(uploads.take(part)).rejects.toMatchObject({ code: 'busy' });
  clock.now = 10_000;
  const { uploadId } = await uploads.take(part);
  expect(existsSync(made[0] ?? '')).toBe(false);
  expect(existsSync(made[1] ?? '')).toBe(true);
  const rest = { ...part, offset: 4, data: Buffer.from('rest').toString('base64') };
  await expect(uploads.take({ ...rest, uploadId: ids[0] ?? '' })).rejects.toMatchObject({ code: 'not-found' });
  expect((await uploads.take({ ...rest, uploadId })).file).not.toBeNull();
  expect((await uploads.take({ ...rest, uploadId: ids[1] ?? '' })).file).not.toBeNull();
});
