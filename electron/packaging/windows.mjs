// A package for Windows that can be made and run on Linux: headless mode with Node for Windows and the cross-built engine, as a zip and
// as an installer. No Electron for Windows can be had here, so it has no window: it proves engine, bundles and installation, is called
// -test, and is not for anyone to use. The release's packages are electron-builder's (electron-builder.config.cjs).
// CLI: node electron/packaging/windows.mjs     (npm run dist:windows)

import fs from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import JSZip from 'jszip';
import { fetchNodeFor } from '../../native/prepare/node.mjs';
import { BUILD, ROOT, WINDOWS_BIN } from '../../native/prepare/paths.mjs';
import { cli, must } from '../../native/prepare/process.mjs';

const { version } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
const NAME = `concertina-${version}-windows-x64-test`;

/** Windows ends lines so. */
const lines = (...list) => list.map((line) => `${line}\r\n`).join('');

const LAUNCHER = lines('@echo off', '"%~dp0runtime\\concertina.exe" "%~dp0app\\build\\app\\serve.cjs" %*');
const ABOUT = lines(
  `Concertina ${version} for Windows x64: a test package, made on Linux.`,
  'It has headless mode and the command line, and no window. It is not a release.',
  'concertina.cmd serve      serves the app to a browser of this machine',
  'concertina.cmd --help     lists the other commands',
);

/**
 * @param {{output?: string}} [options] folder instead of release/
 * @returns {Promise<{folder: string, zip: string, installer: string}>} folder: what is in both, unpacked
 */
export async function packWindows({ output = path.join(ROOT, 'release') } = {}) {
  const folder = path.join(BUILD, 'windows-package', NAME);
  await collect(folder);
  fs.mkdirSync(output, { recursive: true });
  const zip = path.join(output, `${NAME}.zip`);
  const installer = path.join(output, `${NAME}-setup.exe`);
  await writeZip(folder, zip);
  await makeInstaller(folder, installer);
  return { folder, zip, installer };
}

/** As a checkout lies, so that the bundles find engine and models where they look for them. */
async function collect(folder) {
  fs.rmSync(folder, { recursive: true, force: true });
  const app = path.join(folder, 'app');
  const copy = (from, to, filter) => fs.cpSync(path.join(ROOT, from), path.join(app, to), { recursive: true, filter });
  copy('build/app', 'build/app', (file) => !/\.map$|[\\/](?:main|preload)\.cjs$/.test(file));
  for (const name of ['models', 'calibration', 'catalog']) copy(`assets/${name}`, `assets/${name}`);
  copy('package.json', 'package.json');
  const engine = path.join(app, 'build', 'native', 'bin');
  fs.mkdirSync(engine, { recursive: true });
  fs.copyFileSync(path.join(WINDOWS_BIN, 'concertina.node'), path.join(engine, 'concertina.node'));
  const runtime = path.join(folder, 'runtime');
  fs.mkdirSync(runtime, { recursive: true });
  // another name than node.exe: the addon must find Node-API in whatever program loads it
  fs.copyFileSync(await fetchNodeFor('win32-x64'), path.join(runtime, 'concertina.exe'));
  fs.writeFileSync(path.join(folder, 'concertina.cmd'), LAUNCHER);
  fs.writeFileSync(path.join(folder, 'TEST-PACKAGE.txt'), ABOUT);
  fs.copyFileSync(path.join(ROOT, 'LICENSE'), path.join(folder, 'LICENSE.txt'));
  const notices = 'THIRD-PARTY-NOTICES.txt';
  fs.copyFileSync(path.join(ROOT, 'build', 'app', notices), path.join(folder, notices));
}

/** With one folder in it, as a person expects. The same files give the same bytes. */
async function writeZip(folder, to) {
  const zip = new JSZip();
  const date = new Date('2020-01-01T00:00:00Z');
  for (const file of filesOf(folder)) {
    const name = [NAME, ...path.relative(folder, file).split(path.sep)].join('/');
    zip.file(name, fs.readFileSync(file), { date, createFolders: false });
  }
  const stream = zip.generateNodeStream({ compression: 'DEFLATE', compressionOptions: { level: 6 } });
  await pipeline(stream, fs.createWriteStream(to));
}

async function makeInstaller(folder, to) {
  const bytes = filesOf(folder).reduce((sum, file) => sum + fs.statSync(file).size, 0);
  const defines = { VERSION: version, SOURCE: folder, OUTPUT: to, KILOBYTES: Math.ceil(bytes / 1024) };
  const args = Object.entries(defines).map(([name, value]) => `-D${name}=${value}`);
  await must('Making the installer', 'makensis', ['-V2', ...args, path.join(import.meta.dirname, 'windows.nsi')]);
}

function filesOf(folder) {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

await cli(import.meta.url, async () => {
  const { zip, installer } = await packWindows();
  for (const file of [zip, installer]) {
    console.log(`${path.relative(process.cwd(), file)} ${(fs.statSync(file).size / 1e6).toFixed(1)} MB`);
  }
});
