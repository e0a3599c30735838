/** The packaged app starts, answers and reads documents. Reached over the browser's debugging port: its fuses shut Node's inspector. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { chromium, expect, type Page, test } from '@playwright/test';
import { buildDist } from '../../electron/dist.mjs';
import { makePdf } from '../fixtures/documents/pdf';
import { pageWith, scanned } from '../fixtures/documents/scans';
import { smallModel } from '../models.mjs';
import { ask, call, ready } from './chat';

test('the packaged app starts, answers and reads a document', async ({ browserName: _ }, info) => {
  test.skip(process.platform !== 'linux', 'packs around the test runtime, which is for Linux');
  test.setTimeout(180_000);
  const { folder } = await buildDist({ dirOnly: true, output: info.outputPath('release') });
  const unpacked = path.join(folder, 'linux-unpacked');
  const resources = await readdir(path.join(unpacked, 'resources'));
  expect(resources.sort()).toEqual([
    'LICENSE.txt',
    'THIRD-PARTY-NOTICES.txt',
    'app.asar',
    'calibration',
    'catalog',
    'models',
    'native',
  ]);
  const notices = await readFile(path.join(unpacked, 'resources', 'THIRD-PARTY-NOTICES.txt'), 'utf8');
  for (const name of ['llama.cpp', 'react-dom', 'Electron']) expect(notices).toContain(name);
  // to which the notices point
  expect(await readdir(unpacked)).toEqual(expect.arrayContaining(['LICENSE.electron.txt', 'LICENSES.chromium.html']));
  const models = await readdir(path.join(unpacked, 'resources', 'models'));
  expect(models.sort()).toEqual(['README.md', 'SOURCES.md', path.basename(smallModel)]);
  expect(await fuses(path.join(unpacked, 'concertina'))).toEqual({
    runAsNode: '0',
    cookieEncryption: '1',
    nodeOptions: '0',
    nodeCliInspect: '0',
    asarIntegrity: '1',
    onlyLoadAppFromAsar: '1',
    browserSnapshot: '0',
    fileProtocolPrivileges: '0',
  });

  const data = info.outputPath('data');
  await mkdir(data);
  const args = ['--no-sandbox', `--user-data-dir=${data}`, '--remote-debugging-port=0'];
  const app = spawn(path.join(unpacked, 'concertina'), args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, CONCERTINA_FIRST_PROBE: 'off' },
  });
  try {
    // noDefaults: Electron manages no browser contexts, so Playwright must not try to set one up
    const browser = await chromium.connectOverCDP(await debuggingUrl(app.stderr), { noDefaults: true });
    const context = browser.contexts()[0];
    const page = context?.pages()[0] ?? (await context?.waitForEvent('page'));
    if (!page) throw new Error('the packaged app shows no window');
    const { context: loaded } = await ready(page);
    expect(loaded?.typeK.effective).toBe('turbo4');
    expect((await ask(page, 'Hello, who are you?')).trim()).not.toBe('');
    expect(await readPdf(page, makePdf([{ lines: ['\u4e2d\u6587'] }], { chinese: true }))).toBe('\u4e2d\u6587');
    const scans = await scanned([{ lines: ['Nine years by the harbor.'] }]);
    expect(await readPdf(page, makePdf(scans.map(pageWith)))).toBe('Nine years by the harbor.');
    await page.keyboard.press('Control+d');
    await page.getByTestId('third-party-open').click();
    const shown = page.getByTestId('third-party-text');
    await expect(shown).toContainText('Permission is hereby granted');
    expect(await shown.textContent()).toBe(notices);
    await browser.close();
  } finally {
    app.kill();
    if (app.exitCode === null && app.signalCode === null) await once(app, 'exit');
  }
  // 250 MB that a passed test leaves nobody any use of
  await rm(folder, { recursive: true });
});

/** The process and the thread that read it, the map of its letters and what OCR needs lie in the archive of the app. */
async function readPdf(page: Page, pdf: Buffer): Promise<string> {
  const file = { uploadId: null, name: 'words.pdf', bytes: pdf.length, offset: 0, data: pdf.toString('base64') };
  const { jobId } = await call(page, 'documents.upload', file);
  const job = async () => (await call(page, 'documents.jobs', undefined)).find(({ id }) => id === jobId);
  await expect.poll(async () => (await job())?.document ?? (await job())?.error ?? null).not.toBeNull();
  const documentId = (await job())?.document?.id ?? '';
  return (await call(page, 'documents.text', { documentId, start: 0, end: 100 })).text;
}

/** Electron's binary holds its fuses behind a fixed text: a byte of version, one of count, then '0' or '1' for each. */
async function fuses(binary: string): Promise<Record<string, string>> {
  const names = [
    'runAsNode',
    'cookieEncryption',
    'nodeOptions',
    'nodeCliInspect',
    'asarIntegrity',
    'onlyLoadAppFromAsar',
    'browserSnapshot',
    'fileProtocolPrivileges',
  ];
  const sentinel = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX';
  const content = await readFile(binary);
  const wire = content.subarray(content.indexOf(sentinel) + sentinel.length + 2).subarray(0, names.length);
  return Object.fromEntries(names.map((name, index) => [name, String.fromCharCode(wire[index] ?? 0)]));
}

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
