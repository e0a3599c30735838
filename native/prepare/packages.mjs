// node_modules as package-lock.json says, through npm; left alone when it agrees already.

import fs from 'node:fs';
import path from 'node:path';
import { ROOT } from './paths.mjs';
import { PrepareError, run } from './process.mjs';

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
