/** A data folder that cannot be used: a sentence and exit code 1, where Chromium alone would end as a second instance does. */
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from '@playwright/test';
import { root } from '../app';
import { ensureTestRuntime } from '../runtime.mjs';

test.skip(process.platform !== 'linux', 'elsewhere the sentence is a dialog, which waits for a person');

/** Not by Playwright, which waits for a window. */
async function start(argument: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { executablePath, args } = await ensureTestRuntime();
  const app = spawn(executablePath, [...args, root, argument], { timeout: 60_000, killSignal: 'SIGKILL' });
  let stdout = '';
  let stderr = '';
  app.stdout.on('data', (text) => {
    stdout += text;
  });
  app.stderr.on('data', (text) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve) => app.on('close', resolve));
  return { code, stdout, stderr };
}

for (const option of ['--user-data-dir', '--data']) {
  test(`${option}: a file, and a place where no folder can be made`, async () => {
    const file = test.info().outputPath('file');
    await writeFile(file, 'mine');
    for (const [where, why] of [
      [file, 'it, or a folder above it, is a file'],
      [path.join(file, 'data'), 'it, or a folder above it, is a file'],
      ['/proc/concertina', 'no folder can be made there'],
    ]) {
      const { code, stderr } = await start(`${option}=${where}`);
      expect(stderr).toContain(`Concertina cannot write to ${where}: ${why}. Choose another folder with --data=FOLDER`);
      expect(code).toBe(1);
    }
  });
}
