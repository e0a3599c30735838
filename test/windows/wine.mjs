// Windows programs on Linux: a Wine prefix of the tests' own, Node for Windows in it, and the Windows halves of npm packages that
// have one for each system. Nothing of it is shipped.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fetchNodeFor } from '../../native/prepare/node.mjs';
import { fetchPackage } from '../../native/prepare/packages.mjs';
import { BUILD, ROOT } from '../../native/prepare/paths.mjs';
import { must, run } from '../../native/prepare/process.mjs';
import { winePath } from '../../native/prepare/system.mjs';

const PREFIX = path.join(BUILD, 'wine');
export const DRIVE_C = path.join(PREFIX, 'drive_c');
const LOGS = path.join(BUILD, 'logs', 'wine');
const PACKAGES = path.join(BUILD, 'windows-packages');

/** What vitest and the configuration of Vite load on Windows; the versions and hashes are those of package-lock.json. */
const WANTED = [
  'node_modules/@rolldown/binding-win32-x64-msvc',
  'node_modules/@tailwindcss/oxide-win32-x64-msvc',
  'node_modules/@lingui/native-tools-win32-x64-msvc',
  'node_modules/vite/node_modules/lightningcss-win32-x64-msvc',
];

/** A path of this machine as Wine's programs see it. */
export const seenInWine = (file) => `Z:${path.resolve(file).replaceAll('/', '\\')}`;

/** Wine says nothing of its own, opens no window, and finds our prefix. */
const ENVIRONMENT = {
  WINEPREFIX: PREFIX,
  WINEDEBUG: '-all',
  WINEDLLOVERRIDES: 'winemenubuilder.exe,mscoree,mshtml=',
  DISPLAY: '',
  NODE_PATH: seenInWine(path.join(PACKAGES, 'node_modules')),
};

/** @returns {Promise<string>} node.exe */
export async function prepareWine() {
  fs.mkdirSync(LOGS, { recursive: true });
  if (!fs.existsSync(path.join(DRIVE_C, 'windows', 'system32', 'kernel32.dll'))) {
    fs.mkdirSync(PREFIX, { recursive: true });
    await must('Preparing Wine', winePath(), ['wineboot.exe', '--init'], { env: ENVIRONMENT });
    // Node asks for Windows 10
    const version = ['add', 'HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f'];
    await must('Preparing Wine', winePath(), ['reg.exe', ...version], { env: ENVIRONMENT });
  }
  await buildMissingLibrary();
  await fetchWindowsPackages();
  return fetchNodeFor('win32-x64');
}

async function buildMissingLibrary() {
  const library = path.join(DRIVE_C, 'windows', 'system32', 'bcryptprimitives.dll');
  if (fs.existsSync(library)) return;
  const source = path.join(import.meta.dirname, 'bcryptprimitives.c');
  const target = ['--target=x86_64-w64-windows-gnu', '-fuse-ld=lld', '-shared'];
  await must('Building a DLL that Wine lacks', 'clang-19', [...target, '-O2', source, '-ladvapi32', '-o', library]);
}

async function fetchWindowsPackages() {
  const { packages } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8'));
  for (const place of WANTED) {
    const { version, integrity } = packages[place];
    const name = place.split('node_modules/').at(-1);
    const folder = path.join(PACKAGES, 'node_modules', name);
    if (installedVersion(folder) === version) continue;
    const tarball = await fetchPackage({ spec: `${name}@${version}`, integrity, what: 'for the tests in Wine' });
    fs.rmSync(folder, { recursive: true, force: true });
    fs.mkdirSync(folder, { recursive: true });
    await must('Unpacking a package', 'tar', ['-xzf', tarball, '-C', folder, '--strip-components=1']);
    fs.rmSync(tarball);
  }
}

function installedVersion(folder) {
  const file = path.join(folder, 'package.json');
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')).version : null;
}

/**
 * Starts a Windows program. Its output goes to a file: Node for Windows cannot write into pipes of Linux.
 * @param {string} name of the log file
 * @param {string[]} command
 * @param {{env?: Record<string, string>, cwd?: string}} [options] env: on top of this process's
 * @returns {{child: import('node:child_process').ChildProcess, ended: Promise<number>, output: () => string}}
 */
export function startInWine(name, command, { env = {}, cwd = ROOT } = {}) {
  const log = path.join(LOGS, `${name}.log`);
  const file = fs.openSync(log, 'w');
  const child = spawn(winePath(), command, {
    cwd,
    stdio: ['ignore', file, file],
    env: { ...process.env, ...ENVIRONMENT, ...env },
  });
  fs.closeSync(file);
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
  return { child, ended, output: () => fs.readFileSync(log, 'utf8').replaceAll('\r\n', '\n') };
}

/** To its end, or to the limit. @returns {Promise<{code: number, output: string}>} */
export async function runInWine(name, command, { limitMs = 20 * 60_000, ...options } = {}) {
  const { child, ended, output } = startInWine(name, command, options);
  let late = '';
  const timer = setTimeout(() => {
    late = `\n(it had not ended after ${limitMs / 1000} s and was killed)\n`;
    child.kill('SIGKILL');
  }, limitMs);
  const code = await ended;
  clearTimeout(timer);
  return { code, output: output() + late };
}

/** Ends every program of the prefix, also what a test left. */
export async function endWine() {
  await run(winePath('wineserver'), ['--kill'], { env: ENVIRONMENT });
}
