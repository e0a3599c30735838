// The app's bundles (build/app), built again when a file that goes into them changed.

import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { sourceFiles } from '../../electron/notices.mjs';
import { BUILD, ROOT } from './paths.mjs';

const INPUTS = [
  'electron',
  'renderer',
  'assets/locales',
  'lingui.config.mjs',
  'assets/icons',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  // for the third-party notices
  'native/patches/pin.json',
  ...sourceFiles().map((file) => path.relative(ROOT, file)),
];
const OUTPUT = path.join(BUILD, 'app', 'main.cjs');
const STAMP = path.join(BUILD, 'app-stamp.json');

/** @param {{onProgress: (progress: {detail: string, fraction: number}) => void}} options */
export async function ensureApp({ onProgress }) {
  const hash = hashInputs();
  if (readStamp() === stamp(hash)) return;
  const { buildApp } = await import('../../electron/build.mjs');
  await buildApp({ onProgress });
  fs.writeFileSync(STAMP, stamp(hash));
}

/** The time of the output is part of it: a build by hand in between (npm run build) makes the stamp void. */
function stamp(hash) {
  return JSON.stringify({ hash, builtAt: fs.statSync(OUTPUT, { throwIfNoEntry: false })?.mtimeMs ?? null });
}

function readStamp() {
  return fs.existsSync(STAMP) ? fs.readFileSync(STAMP, 'utf8') : undefined;
}

function hashInputs() {
  const hash = crypto.createHash('sha256');
  for (const input of INPUTS) {
    for (const file of filesOf(path.join(ROOT, input))) {
      hash.update(`${path.relative(ROOT, file)}\0`).update(fs.readFileSync(file));
    }
  }
  return hash.digest('hex');
}

function filesOf(entry) {
  const stat = fs.statSync(entry, { throwIfNoEntry: false });
  if (!stat) return [];
  if (stat.isFile()) return [entry];
  return fs
    .readdirSync(entry)
    .sort()
    .flatMap((name) => filesOf(path.join(entry, name)));
}
