import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keptToken } from '@/electron/server/options';
import { temporaryFolder } from '@/test/fixtures/temporary';

test('the key of a data folder stays, and only its owner may read it', async () => {
  const folder = await temporaryFolder();
  const token = keptToken(folder);
  expect(token).toMatch(/^[A-Za-z0-9_-]{32}$/);
  expect(keptToken(folder)).toBe(token);
  expect(keptToken(await temporaryFolder())).not.toBe(token);
  expect((await stat(join(folder, 'serve.key'))).mode & 0o777).toBe(0o600);
});

test('a damaged key is replaced', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'serve.key'), '');
  expect(keptToken(folder)).toMatch(/^[A-Za-z0-9_-]{32}$/);
});
