/** `concertina estimate`, with the real engine process. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@playwright/test';
import { tinyModel } from '../../models.mjs';
import { root } from '../app';

const run = promisify(execFile);
const serve = path.join(root, 'build', 'app', 'serve.cjs');

test('estimate prints the parts and the longest contexts, and ends', async () => {
  const line = [serve, 'estimate', tinyModel, '--context', '4096', '--type-k', 'f16', '--type-v', 'f16'];
  const { stdout } = await run(process.execPath, line);
  expect(stdout).toContain('trained for 8192 tokens');
  // 8 layers, 2 heads of 128 values, K and V of 2 bytes
  expect(stdout).toMatch(/KV cache +32 MiB/);
  expect(stdout).toMatch(/RAM +fits/);
  expect(stdout).toMatch(/turbo3 +turbo3 +8192/);
});

test('estimate of a file that is no model says so', async () => {
  const failure = await run(process.execPath, [serve, 'estimate', path.join(root, 'README.md')]).catch(
    (error) => error,
  );
  expect(failure).toMatchObject({ code: 1, stderr: expect.stringContaining('README.md') });
});
