// Packages of npm: node_modules as package-lock.json says, left alone when it agrees already; and single ones that are
// unpacked for what is in them.

import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CACHE, ROOT } from './paths.mjs';
import { must, PrepareError, run } from './process.mjs';

/** @param {{onLine: (line: string) => void}} options */
export async function ensurePackages({ onLine }) {
  if (agrees()) return;
  // --ignore-scripts: none of our packages needs one, and a download in one could not be had everywhere
  const { code, stderr } = await run('npm', ['ci', '--ignore-scripts', '--no-progress'], { cwd: ROOT, onLine });
  if (code === 0) return;
  throw new PrepareError(
    `npm ci failed (the packages of package-lock.json):\n${stderr.trim()}\nCheck the network and run the same command again.`,
  );
}

/** npm writes down what it installed when it is done, so a broken-off installation does not agree. */
function agrees() {
  const installed = readPackages(path.join(ROOT, 'node_modules', '.package-lock.json'));
  if (!installed) return false;
  const wanted = readPackages(path.join(ROOT, 'package-lock.json')) ?? {};
  return Object.entries(wanted).every(
    ([folder, { version, optional, devOptional, peer }]) =>
      folder === '' || optional || devOptional || peer || installed[folder]?.version === version,
  );
}

function readPackages(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/**
 * One package as a tarball in build/cache: fetched when it is not there, and always checked.
 * @param {{spec: string, integrity: string, what: string}} options spec: name@version; what: is in it, for the error message
 * @returns {Promise<string>} the tarball
 */
export async function fetchPackage({ spec, integrity, what }) {
  const [, name, version] = /^@?(.+)@(.+)$/.exec(spec);
  const tarball = path.join(CACHE, `${name.replace('/', '-')}-${version}.tgz`);
  if (!fs.existsSync(tarball)) {
    fs.mkdirSync(CACHE, { recursive: true });
    await must(
      `Fetching ${spec} (${what}) failed; check the network and npm's registry setting, then run the same command again`,
      'npm',
      ['pack', spec, '--ignore-scripts', '--pack-destination', CACHE],
    );
  }
  await checkIntegrity(tarball, integrity);
  return tarball;
}

/**
 * @param {string} tarball deleted when its hash is another, so that the next run fetches it anew
 * @param {string} integrity as in package-lock.json: `sha512-` and the hash in base64
 */
export async function checkIntegrity(tarball, integrity) {
  const [algorithm] = integrity.split('-', 1);
  const hash = crypto.createHash(algorithm);
  await pipeline(fs.createReadStream(tarball), hash);
  const found = `${algorithm}-${hash.digest('base64')}`;
  if (found === integrity) return;
  fs.rmSync(tarball);
  throw new PrepareError(
    `${path.basename(tarball)} does not match its pinned integrity hash and was deleted.\n` +
      `  expected ${integrity}\n  found    ${found}\nRun again to fetch it anew; if it differs again, do not use it.`,
  );
}
