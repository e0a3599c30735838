// Brings the pinned llama.cpp to build/upstream/llama.cpp with our patch series applied.
// CLI: node native/prepare/upstream.mjs

import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { WorkTree } from './git-tree.mjs';
import { fetchPackage } from './packages.mjs';
import { BUILD, CACHE, PATCHES, PRISTINE, TREE, UPSTREAM } from './paths.mjs';
import { cli, must, PrepareError, withLock } from './process.mjs';
import { readSeries } from './series.mjs';

const STAMP = path.join(UPSTREAM, 'stamp.json');

/**
 * @typedef {{package: string, version: string, integrity: string, bundle: string, commit: string, llama: string, ggml: string}} Pin
 * @typedef {(progress: {stage: string, fraction: number}) => void} OnProgress
 */

/** @returns {Pin} */
export function readPin() {
  return JSON.parse(fs.readFileSync(path.join(PATCHES, 'pin.json'), 'utf8'));
}

/** Hash of everything that decides the patched tree: pin, series, patches. */
export function seriesHash() {
  const hash = crypto.createHash('sha256').update(JSON.stringify(readPin()));
  for (const { name, text } of readSeries()) hash.update(`\0${name}\0${text}`);
  return hash.digest('hex');
}

/**
 * Makes the patched tree; does nothing when the stamp says that it is there already.
 * @param {{onProgress?: OnProgress}} [options]
 * @returns {Promise<{folder: string, commit: string, changed: boolean}>}
 * @throws {PrepareError} network, integrity, commit or patch trouble, each with what to do
 */
export function prepareUpstream({ onProgress = () => {} } = {}) {
  return withLock(path.join(BUILD, 'upstream.lock'), () => prepare(onProgress), console.error);
}

async function prepare(onProgress) {
  const pin = readPin();
  const hash = seriesHash();
  const stamp = readStamp();
  if (stamp?.hash === hash && fs.existsSync(TREE)) return { folder: TREE, commit: pin.commit, changed: false };

  if (stamp && fs.existsSync(PRISTINE)) await refuseUnexportedEdits(stamp);
  if (!fs.existsSync(PRISTINE) || stamp?.commit !== pin.commit) await unpackPristine(pin, onProgress);

  onProgress({ stage: 'patch', fraction: 0 });
  const fresh = path.join(UPSTREAM, 'fresh');
  fs.rmSync(fresh, { recursive: true, force: true });
  fs.mkdirSync(fresh, { recursive: true });
  const work = new WorkTree(fresh);
  try {
    await work.git('unpack llama.cpp', 'read-tree', pin.commit);
    // -u: git apply --index compares the index with the files' times and sizes
    await work.git('unpack llama.cpp', 'checkout-index', '--all', '-u');
    await applySeries(work, readSeries(), onProgress);
    const tree = await work.writeTree();
    const files = (await work.git('list the tree', 'ls-files', '-z')).split('\0').filter(Boolean);
    copyChanged(fresh, TREE, files);
    writeStamp({ hash, commit: pin.commit, tree });
  } finally {
    work.dispose();
    fs.rmSync(fresh, { recursive: true, force: true });
  }
  onProgress({ stage: 'patch', fraction: 1 });
  return { folder: TREE, commit: pin.commit, changed: true };
}

function readStamp() {
  return fs.existsSync(STAMP) ? JSON.parse(fs.readFileSync(STAMP, 'utf8')) : null;
}

function writeStamp(stamp) {
  fs.writeFileSync(STAMP, `${JSON.stringify(stamp, null, 2)}\n`);
}

/** The tarball, checked; the bundle out of it; a bare clone of that, checked. */
async function unpackPristine(pin, onProgress) {
  onProgress({ stage: 'fetch', fraction: 0 });
  const spec = `${pin.package}@${pin.version}`;
  const tarball = await fetchPackage({ spec, integrity: pin.integrity, what: 'the llama.cpp sources' });

  onProgress({ stage: 'unpack', fraction: 0 });
  const head = await cloneBundle(tarball, pin.bundle, PRISTINE);
  if (head !== pin.commit) {
    fs.rmSync(PRISTINE, { recursive: true, force: true });
    throw new PrepareError(
      `The bundle holds commit ${head}, the pin file says ${pin.commit}. Correct native/patches/pin.json.`,
    );
  }
  onProgress({ stage: 'unpack', fraction: 1 });
}

/**
 * @param {string} tarball of the package
 * @param {string} bundle its path in there
 * @param {string} repository bare; replaced
 * @returns {Promise<string>} its commit
 */
export async function cloneBundle(tarball, bundle, repository) {
  await must('Unpacking the tarball', 'tar', ['-xzf', tarball, '-C', CACHE, bundle]);
  fs.rmSync(repository, { recursive: true, force: true });
  fs.mkdirSync(path.dirname(repository), { recursive: true });
  const file = path.join(CACHE, bundle);
  await must('Cloning the llama.cpp bundle', 'git', ['clone', '--quiet', '--bare', file, repository]);
  fs.rmSync(path.join(CACHE, bundle.split('/')[0]), { recursive: true, force: true });
  return (await must('Reading the commit', 'git', ['--git-dir', repository, 'rev-parse', 'HEAD'])).trim();
}

/**
 * Applies patches to a work tree that holds the pinned commit.
 * @param {WorkTree} work
 * @param {{name: string, file: string}[]} series
 * @param {OnProgress} onProgress
 * @throws {PrepareError} at the first patch that git rejects
 */
export async function applySeries(work, series, onProgress) {
  for (const [index, { name, file }] of series.entries()) {
    const { code, stderr } = await work.tryGit('apply', '--index', '--whitespace=nowarn', file);
    if (code !== 0) {
      throw new PrepareError(
        `Patch ${path.join('native', 'patches', name)} does not apply to ${readPin().commit.slice(0, 12)}:\n${stderr.trim()}\n` +
          'Correct the patch (see native/patches/README.md, "Bumping the pin"), then run again. The tree was left as it was.',
      );
    }
    onProgress({ stage: 'patch', fraction: (index + 1) / (series.length + 1) });
  }
}

/** Edits made in the patched tree by hand would be lost by a new application: stop before that. */
async function refuseUnexportedEdits(stamp) {
  if (!fs.existsSync(TREE)) return;
  const work = new WorkTree(TREE);
  try {
    const now = await work.snapshot(stamp.tree);
    if (now === stamp.tree) return;
    const names = await work.git('compare', 'diff-tree', '-r', '--name-only', stamp.tree, now);
    throw new PrepareError(
      `build/upstream/llama.cpp holds edits that are not in the patch series:\n${names.trim()}\n` +
        'Export them with: node native/prepare/series.mjs --write   or drop them by deleting build/upstream/llama.cpp.',
    );
  } finally {
    work.dispose();
  }
}

/** After an export: the tree as it is now is what the series makes. */
export async function adoptTree() {
  const pin = readPin();
  const work = new WorkTree(TREE);
  try {
    writeStamp({ hash: seriesHash(), commit: pin.commit, tree: await work.snapshot(pin.commit) });
  } finally {
    work.dispose();
  }
}

/** Copies only files whose content differs and deletes what is gone, so that ninja rebuilds little. */
function copyChanged(from, to, files) {
  const wanted = new Set(files.map((file) => path.normalize(file)));
  if (fs.existsSync(to)) {
    for (const entry of fs.readdirSync(to, { recursive: true, withFileTypes: true })) {
      const full = path.join(entry.parentPath, entry.name);
      if (!entry.isDirectory() && !wanted.has(path.relative(to, full))) fs.rmSync(full);
    }
  }
  for (const file of files) {
    const source = path.join(from, file);
    const target = path.join(to, file);
    if (fs.lstatSync(source).isSymbolicLink()) {
      fs.rmSync(target, { force: true });
      fs.mkdirSync(path.dirname(target), { recursive: true });
      fs.symlinkSync(fs.readlinkSync(source), target);
    } else if (!fs.existsSync(target) || !fs.readFileSync(source).equals(fs.readFileSync(target))) {
      fs.mkdirSync(path.dirname(target), { recursive: true });
      fs.copyFileSync(source, target);
    }
  }
}

cli(import.meta.url, async () => {
  const { folder, commit, changed } = await prepareUpstream({
    onProgress: ({ stage, fraction }) => console.log(`${stage} ${Math.round(fraction * 100)}%`),
  });
  console.log(`${changed ? 'prepared' : 'up to date:'} ${folder} (llama.cpp ${commit.slice(0, 12)})`);
});
