// `npm start`: opens the app in Electron. Without a display, or where the Electron binary cannot be had, it says why in one
// sentence and starts headless mode, which prints a URL.
// CLI: node electron/start.mjs [--test-runtime] [-- arguments of the app]
// CONCERTINA_TEST_RUNTIME=1 (or --test-runtime): the Electron that the tests run in. Out of support, never used unasked.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const APP = path.join(ROOT, 'build', 'app');
const ELECTRON = path.join(ROOT, 'node_modules', 'electron');

const flag = '--test-runtime';
const given = process.argv.slice(2);
const appArgs = given.filter((arg) => arg !== flag && arg !== '--');
const wantsTestRuntime = given.includes(flag) || process.env.CONCERTINA_TEST_RUNTIME === '1';

/** Why the app goes on in a browser; the message is for the person. */
class NoWindow extends Error {}

try {
  await openWindow();
} catch (error) {
  if (!(error instanceof NoWindow)) throw error;
  console.log(
    `${error.message} Starting headless mode instead; open the address below in a browser of this machine.\n`,
  );
  await run(process.execPath, [path.join(APP, 'serve.cjs'), 'serve', ...appArgs]);
}

async function openWindow() {
  requireDisplay();
  const { executablePath, args, env } = wantsTestRuntime ? await testRuntime() : await realElectron();
  await run(executablePath, [...args, ROOT, ...appArgs], env);
}

function requireDisplay() {
  if (process.platform !== 'linux' || process.env.DISPLAY || process.env.WAYLAND_DISPLAY) return;
  throw new NoWindow('There is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set).');
}

async function testRuntime() {
  const { ensureTestRuntime, RUNTIME_VERSION } = await import('../test/e2e/runtime.mjs');
  const runtime = await ensureTestRuntime({ onProgress: ({ detail }) => console.log(`test runtime: ${detail}`) });
  console.log(
    `Using the test runtime (Electron ${RUNTIME_VERSION}), because you asked for it. It is out of support and gets no ` +
      'security updates: use it for trying the app, not for work.',
  );
  return { ...runtime, env: { CONCERTINA_TEST_RUNTIME: '1' } };
}

async function realElectron() {
  const version = JSON.parse(fs.readFileSync(path.join(ELECTRON, 'package.json'), 'utf8')).version;
  if (!installedBinary()) await fetchElectron(version);
  const executablePath = installedBinary();
  if (!executablePath) throw new NoWindow(`Electron ${version} is not in ${path.join(ELECTRON, 'dist')}.`);
  return { executablePath, args: sandboxArgs(executablePath), env: {} };
}

/** The package writes the place of its binary into path.txt when it has fetched it. */
function installedBinary() {
  const file = path.join(ELECTRON, 'path.txt');
  if (!fs.existsSync(file)) return null;
  const binary = path.join(ELECTRON, 'dist', fs.readFileSync(file, 'utf8').trim());
  return fs.existsSync(binary) ? binary : null;
}

async function fetchElectron(version) {
  console.log(`Fetching Electron ${version} (once, about 120 MB) ...`);
  const seconds = setInterval(() => process.stderr.write('.'), 2000);
  const { code, errors } = await collect(process.execPath, [path.join(ELECTRON, 'install.js')]);
  clearInterval(seconds);
  if (code === 0) return;
  const reason = errors.split('\n').find((line) => /error|fail|refused/i.test(line)) ?? `exit code ${code}`;
  const other = process.platform === 'linux' && process.arch === 'x64';
  throw new NoWindow(
    `Electron ${version} could not be downloaded (${reason.trim()}).` +
      (other ? ' To try the window with the out-of-support test runtime: npm start -- --test-runtime.' : ''),
  );
}

/** Chromium's sandbox on Linux needs user namespaces or a set-uid helper, and never works for root. */
function sandboxArgs(executablePath) {
  if (process.platform !== 'linux') return [];
  if (process.getuid?.() === 0) {
    console.log(
      'Running as root: Chromium cannot use its sandbox, so it is off. Better start the app as another user.',
    );
    return ['--no-sandbox'];
  }
  const helper = path.join(path.dirname(executablePath), 'chrome-sandbox');
  if (!namespacesRestricted() || isSetUidRoot(helper)) return [];
  throw new NoWindow(
    `Chromium's sandbox cannot start for this user. Allow it once with: sudo chown root '${helper}' && sudo chmod 4755 '${helper}'.`,
  );
}

function namespacesRestricted() {
  try {
    return fs.readFileSync('/proc/sys/kernel/apparmor_restrict_unprivileged_userns', 'utf8').trim() === '1';
  } catch {
    return false;
  }
}

function isSetUidRoot(file) {
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  return stat?.uid === 0 && (stat.mode & 0o4000) !== 0;
}

function collect(command, args) {
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ code: 1, errors: error.message }));
    child.on('close', (code) => resolve({ code, errors }));
  });
}

/** Runs until the app ends; Ctrl-C reaches the app, which closes by itself. */
function run(command, args, env = {}) {
  const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...env } });
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
      resolve();
    });
  });
}
