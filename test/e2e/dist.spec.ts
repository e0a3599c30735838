/** The packaged app starts and answers. Reached over the browser's debugging port: its fuses shut Node's inspector. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { chromium, expect, test } from '@playwright/test';
import { buildDist } from '../../electron/dist.mjs';
import { ask, ready } from './chat';

test('the packaged app starts and answers', async ({ browserName: _ }, info) => {
  test.skip(process.platform !== 'linux', 'packs around the test runtime, which is for Linux');
  test.setTimeout(180_000);
  const { folder } = await buildDist({ dirOnly: true, output: info.outputPath('release') });
  const unpacked = path.join(folder, 'linux-unpacked');
  const resources = await readdir(path.join(unpacked, 'resources'));
  expect(resources.sort()).toEqual(['app.asar', 'models', 'native']);

  const data = info.outputPath('data');
  await mkdir(data);
  const args = ['--no-sandbox', `--user-data-dir=${data}`, '--remote-debugging-port=0'];
  const app = spawn(path.join(unpacked, 'concertina'), args, { stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    const browser = await chromium.connectOverCDP(await debuggingUrl(app.stderr));
    const context = browser.contexts()[0];
    const page = context?.pages()[0] ?? (await context?.waitForEvent('page'));
    if (!page) throw new Error('the packaged app shows no window');
    const { context: loaded } = await ready(page);
    expect(loaded?.typeK.effective).toBe('turbo4');
    expect((await ask(page, 'Hello, who are you?')).trim()).not.toBe('');
    await browser.close();
  } finally {
    app.kill();
    if (app.exitCode === null && app.signalCode === null) await once(app, 'exit');
  }
  // 250 MB that a passed test leaves nobody any use of
  await rm(folder, { recursive: true });
});

function debuggingUrl(output: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    output.on('data', (chunk) => {
      text += chunk;
      const found = /DevTools listening on (ws:\S+)/.exec(text);
      if (found?.[1]) resolve(found[1]);
    });
    output.on('end', () => reject(new Error(`the packaged app ended:\n${text}`)));
  });
}
