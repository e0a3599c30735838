/** The packaged app starts, answers and reads documents. */
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { expect } from '@playwright/test';
import { buildDist, builtFile } from '../../electron/dist.mjs';
import { releaseProblems } from '../../electron/release.mjs';
import { makePdf } from '../fixtures/documents/pdf';
import { pageWith, scanned } from '../fixtures/documents/scans';
import { smallModel } from '../models.mjs';
import { ask, ready } from './chat';
import { test } from './display';
import { readPdf, startPacked } from './packedApp';

test('the packaged app starts, answers and reads a document', async ({ browserName: _ }, info) => {
  test.skip(process.platform !== 'linux', 'packs around the test runtime, which is for Linux');
  test.setTimeout(180_000);
  const { folder, runtime } = await buildDist({ dirOnly: true, output: info.outputPath('release') });
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
  // a driver's loader of our own would hide the system's from it
  expect(await readdir(path.join(unpacked, 'resources', 'native'))).toEqual(['concertina.node']);
  const built = JSON.parse(await readFile(path.join(folder, builtFile(runtime.arch)), 'utf8'));
  expect(built).toMatchObject({ runtime, files: [] });
  if (runtime.standIn) expect(releaseProblems(folder).join('\n')).toContain('test runtime');
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
  const app = await startPacked([path.join(unpacked, 'concertina')], ['--no-sandbox', `--user-data-dir=${data}`]);
  try {
    const { page } = app;
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
  } finally {
    await app.close();
  }
  // 250 MB that a passed test leaves nobody any use of
  await rm(folder, { recursive: true });
});

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
