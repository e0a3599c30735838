// `npm run bump -- TAG`: moves the pin of llama.cpp. The patches are merged into the new sources by git's three-way merge, in a
// folder of its own: the tree of this checkout changes only when all of them are in it. Then everything is proved again.
// TAG: a version or tag of the npm bundle (3.22.1, latest), or llama.cpp's own (v0.5.0).
// CLI: npm run bump -- TAG [--continue] [--proof STAGES|none] [--rehearse]
//      --continue   behind conflicts that were settled by hand in build/bump/llama.cpp
//      --proof      stages of `npm test` (unit,native,kernels,engine); none: only what costs seconds
//      --rehearse   puts native/patches back in the end: the patches as they would be stay in build/bump/patches

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { WorkTree } from './git-tree.mjs';
import { fetchPackage } from './packages.mjs';
import { BUILD, NATIVE, PATCHES, PRISTINE, ROOT } from './paths.mjs';
import { cli, must, PrepareError } from './process.mjs';
import { exportSeries, parsePatch, readSeries } from './series.mjs';
import { cloneBundle, prepareUpstream, readPin } from './upstream.mjs';

/** @typedef {import('./upstream.mjs').Pin} Pin */

const FOLDER = path.join(BUILD, 'bump');
const NEXT = path.join(FOLDER, 'pristine.git');
const MERGED = path.join(FOLDER, 'llama.cpp');
const EXPORTED = path.join(FOLDER, 'patches');
const STATE = path.join(FOLDER, 'pin.json');

/** Of a tag of llama.cpp itself: so many of the newest bundles are looked into, of some 35 MB each. */
const LOOKED_INTO = 6;
const PROOF = ['unit', 'native', 'kernels', 'engine'];

/** What native/patches/README.md relies on and no patch would fail over: lines of the sources to be read where they changed. */
const WATCHED = [
  [
    'asserts what electron/engine/native/inspect.ts repeats',
    'GGML_ASSERT',
    ['src/llama-model.cpp', 'src/llama-vocab.cpp'],
  ],
  ['writes K and V without build_attn (kv-mean.cpp)', 'cpy_k(', ['src/models', 'src/llama-graph.cpp']],
  ['is a cache of its own', '^class llama_.*\\(cache\\|memory\\)', ['src']],
  [
    'names the types that attention takes',
    'case GGML_TYPE_IQ4_NL',
    ['ggml/src/ggml-cpu', 'ggml/src/ggml-metal', 'src'],
  ],
];

/** @returns {Promise<Pin & {tarball: string}>} what the registry has under this name */
async function resolve(tag) {
  const { package: name, bundle } = readPin();
  const known = await view(name, tag).catch(() => null);
  for (const version of known ? [known.version] : await newest(name)) {
    const { integrity } = known ?? (await view(name, version));
    const tarball = await fetchPackage({ spec: `${name}@${version}`, integrity, what: 'the llama.cpp sources' });
    const info = path.posix.join(path.posix.dirname(bundle), 'llama.cpp.info.json');
    const llama = JSON.parse(await must('Reading the tag', 'tar', ['-xzOf', tarball, info])).tag;
    if (known || llama === tag)
      return { package: name, version, integrity, bundle, commit: '', llama, ggml: '', tarball };
  }
  throw new PrepareError(
    `${name} has no version or tag ${tag}, and none of its ${LOOKED_INTO} newest versions carries llama.cpp ${tag}. ` +
      `\`npm view ${name} versions\` lists them all.`,
  );
}

async function view(name, tag) {
  const found = JSON.parse(
    await must(`Asking for ${name}@${tag}`, 'npm', ['view', `${name}@${tag}`, 'version', 'dist.integrity', '--json']),
  );
  return { version: found.version, integrity: found['dist.integrity'] };
}

async function newest(name) {
  const all = JSON.parse(await must('Listing versions', 'npm', ['view', name, 'versions', '--json']));
  return all
    .filter((version) => !version.includes('-'))
    .slice(-LOOKED_INTO)
    .reverse();
}

/** The new sources with as many patches as go. @returns {Promise<{pin: Pin, conflicts: Conflict[]}>} */
async function merge(tag) {
  const { tarball, ...pin } = await resolve(tag);
  fs.rmSync(FOLDER, { recursive: true, force: true });
  pin.commit = await cloneBundle(tarball, pin.bundle, NEXT);
  fs.mkdirSync(MERGED, { recursive: true });
  const work = nextTree();
  try {
    await work.git('unpack llama.cpp', 'read-tree', pin.commit);
    await work.git('unpack llama.cpp', 'checkout-index', '--all', '-u');
    pin.ggml = versionOf(fs.readFileSync(path.join(MERGED, 'ggml', 'CMakeLists.txt'), 'utf8'));
    fs.writeFileSync(STATE, `${JSON.stringify(pin, null, 2)}\n`);
    const conflicts = [];
    for (const patch of readSeries()) conflicts.push(...(await mergePatch(work, patch)));
    return { pin, conflicts };
  } finally {
    work.dispose();
  }
}

/** The blobs that a patch was made against are in the repository of the old pin. */
const nextTree = () => new WorkTree(MERGED, { repository: NEXT, alsoFrom: PRISTINE });

export function versionOf(cmakeLists) {
  const part = (name) => new RegExp(`GGML_VERSION_${name} (\\d+)`).exec(cmakeLists)?.[1] ?? '?';
  return ['MAJOR', 'MINOR', 'PATCH'].map(part).join('.');
}

/**
 * @typedef {{patch: string, file: string, line: number | null, hunk: string}} Conflict
 *   line: of the first marker in the merged file; null: nothing of the patch could be put into it
 * @param {WorkTree} work
 * @param {{name: string, file: string, text: string}} patch
 * @returns {Promise<Conflict[]>}
 */
export async function mergePatch(work, { name, file, text }) {
  const { code } = await work.tryGit('apply', '--3way', '--whitespace=nowarn', file);
  if (code === 0) return [];
  const conflicts = [];
  // one file that is gone keeps git from the others of its patch
  for (const target of parsePatch(text).files) {
    if (!(await isMerged(work, target)))
      await work.tryGit('apply', '--3way', '--whitespace=nowarn', `--include=${target}`, file);
    const merged = path.join(work.folder, target);
    const lines = fs.existsSync(merged) ? fs.readFileSync(merged, 'utf8').split('\n') : [];
    const marks = lines.flatMap((line, at) => (line.startsWith('<<<<<<< ') ? [at] : []));
    for (const at of marks)
      conflicts.push({ patch: name, file: target, line: at + 1, hunk: hunkOf(text, target, lines.slice(at)) });
    if (marks.length === 0 && !(await isMerged(work, target))) {
      const why = lines.length === 0 ? 'the file is gone' : 'its old text is not to be found';
      conflicts.push({ patch: name, file: target, line: null, hunk: why });
    }
  }
  return conflicts;
}

/** A file that the index has in one version, which is another than upstream's. */
async function isMerged(work, file) {
  const { stdout } = await work.tryGit('diff-index', '--cached', '--name-status', 'HEAD', '--', file);
  return /^[AM]\t/m.test(stdout);
}

/** The header of the hunk whose lines stand behind the marker. */
function hunkOf(text, file, lines) {
  const end = lines.findIndex((line) => line.startsWith('>>>>>>> '));
  const there = new Set(lines.slice(0, end).map((line) => line.trim()));
  const part = text.slice(text.indexOf(`diff --git a/${file} `)).split(/^diff --git /m)[1] ?? '';
  const hunks = part.split(/^(?=@@ )/m).slice(1);
  const added = (hunk) => hunk.split('\n').filter((line) => line.startsWith('+') && line.trim() !== '+');
  const found = hunks.find((hunk) => added(hunk).some((line) => there.has(line.slice(1).trim())));
  return (found ?? hunks[0] ?? '').split('\n')[0] ?? '';
}

/** One sentence for each, and what to do. @param {Conflict[]} conflicts */
export function adviceOf(conflicts, tag) {
  const lines = conflicts.map(({ patch, file, line, hunk }) =>
    line === null
      ? `  ${patch} cannot be put into ${file}: ${hunk}. Find where upstream does this now, and make the change there.`
      : `  ${patch} conflicts in build/bump/llama.cpp/${file}, line ${line} (its hunk ${hunk}).`,
  );
  return (
    `${conflicts.length} place(s) need a person:\n${lines.join('\n')}\n` +
    'Between <<<<<<< and ======= stands what upstream has there now, behind it what the patch makes of the old text. ' +
    'Settle each in that folder; each patch begins with what it is for, and when it can go. A patch that upstream made ' +
    `needless leaves native/patches/series. Then: npm run bump -- ${tag} --continue\n` +
    'Nothing outside build/bump was changed.'
  );
}

/** The patches again, from the merged tree. */
async function exportMerged(pin) {
  const work = nextTree();
  try {
    const marked = await work.tryGit('grep', '--no-index', '-l', '-e', '^<<<<<<< ', '--', ...ownedFiles());
    if (marked.stdout)
      throw new PrepareError(`There are conflicts left in build/bump/llama.cpp:\n${marked.stdout.trim()}`);
    const all = await exportSeries(pin.commit, work);
    const lost = all.filter(({ exported }) => parsePatch(exported).files.length === 0).map(({ name }) => name);
    if (lost.length > 0)
      throw new PrepareError(
        `Nothing is left of ${lost.join(', ')}. If upstream has it now, take it out of native/patches/series.`,
      );
    fs.mkdirSync(EXPORTED, { recursive: true });
    for (const { name, exported } of all) fs.writeFileSync(path.join(EXPORTED, name), exported);
    return all;
  } finally {
    work.dispose();
  }
}

const ownedFiles = () =>
  readSeries()
    .flatMap(({ text }) => parsePatch(text).files)
    .filter((file) => fs.existsSync(path.join(MERGED, file)));

/** The ids of our types, which saved sessions hold, are still free. */
async function checkTypeIds() {
  const script = path.join(NATIVE, 'turbo', 'ids.cmake');
  await must('The type ids of the turbo types', 'cmake', [`-DCONCERTINA_UPSTREAM=${MERGED}`, '-P', script]);
}

/** @returns {Promise<string[]>} lines that are new or gone where the README says that one must look */
async function readWatched(from, to) {
  const said = [];
  for (const [what, pattern, places] of WATCHED) {
    const [before, after] = await Promise.all([
      linesOf(PRISTINE, from, pattern, places),
      linesOf(NEXT, to, pattern, places),
    ]);
    for (const line of after) if (!before.has(line)) said.push(`+ ${line}   ${what}`);
    for (const line of before) if (!after.has(line)) said.push(`- ${line}   ${what}`);
  }
  return said;
}

async function linesOf(repository, commit, pattern, places) {
  const git = new WorkTree(MERGED, { repository });
  try {
    const { stdout } = await git.tryGit('grep', '-e', pattern, commit, '--', ...places);
    return new Set(
      stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => line.slice(commit.length + 1).replace(/:\s+/, ': ')),
    );
  } finally {
    git.dispose();
  }
}

/** @returns {string[]} the stages of npm test that failed */
function prove(stages) {
  const test = path.join(ROOT, 'test', 'run.mjs');
  return stages.filter(
    (stage) => spawnSync(process.execPath, [test, stage], { cwd: ROOT, stdio: 'inherit' }).status !== 0,
  );
}

const linesOnly = (patch) => patch.replace(/^(index|@@) .*$/gm, '');

/** What native/patches holds now, to be put back. */
function keep() {
  const files = fs
    .readdirSync(PATCHES)
    .map((name) => [path.join(PATCHES, name), fs.readFileSync(path.join(PATCHES, name))]);
  return () => {
    for (const [file, bytes] of files) fs.writeFileSync(file, bytes);
  };
}

/** Prints how long each part took. */
async function timed(name, body) {
  const start = performance.now();
  const result = await body();
  console.log(`${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
  return result;
}

/** @param {Pin} pin @param {{proof: string[], rehearse: boolean}} options */
async function move(pin, { proof, rehearse }) {
  const before = readPin();
  const exported = await timed('patches exported', () => exportMerged(pin));
  const changed = exported
    .filter((patch) => linesOnly(patch.exported) !== linesOnly(patch.text))
    .map(({ name }) => name);
  console.log(`other in more than the places of their lines: ${changed.join(', ') || 'none'}`);
  await timed('type ids', checkTypeIds);
  const watched = await timed('sources that no patch watches', () => readWatched(before.commit, pin.commit));
  console.log(
    watched.length > 0 ? `to be read, of each what it does to us:\n${watched.join('\n')}` : 'nothing to be read',
  );

  const putBack = keep();
  try {
    for (const { name, exported: text } of exported) fs.writeFileSync(path.join(PATCHES, name), text);
    fs.writeFileSync(path.join(PATCHES, 'pin.json'), `${JSON.stringify(pin, null, 2)}\n`);
    await timed('sources prepared', () => prepareUpstream());
    const failed = await timed('proof', async () => prove(proof));
    if (failed.length > 0)
      throw new PrepareError(
        `The pin is ${rehearse ? 'put back' : 'moved'}, but not proved: ${failed.join(', ')} failed. ` +
          'Where GGML_TYPE_COUNT is asserted, read the new types, then raise the number in native/turbo/codec/turbo-types.c. ' +
          '`git checkout native/patches` goes back.',
      );
  } finally {
    if (rehearse) putBack();
  }
  console.log(
    `${rehearse ? 'rehearsed' : 'moved'}: llama.cpp ${before.llama} (${before.commit.slice(0, 12)}) to ${pin.llama} ` +
      `(${pin.commit.slice(0, 12)}), ggml ${pin.ggml}; proved by: ${proof.join(', ') || 'nothing'}.\n` +
      'Saved sessions name the commit that wrote them: those of another are refused with that reason, and read again from the text.',
  );
}

cli(import.meta.url, async (args) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      continue: { type: 'boolean', default: false },
      rehearse: { type: 'boolean', default: false },
      proof: { type: 'string', default: PROOF.join(',') },
    },
  });
  const [tag] = positionals;
  if (positionals.length !== 1)
    throw new PrepareError(
      `Name what to move to: npm run bump -- TAG. Now: ${readPin().version} (llama.cpp ${readPin().llama}).`,
    );
  const proof = values.proof === 'none' ? [] : values.proof.split(',');
  await timed('sources of now', () => prepareUpstream());
  let pin =
    values.continue && fs.existsSync(STATE) ? /** @type {Pin} */ (JSON.parse(fs.readFileSync(STATE, 'utf8'))) : null;
  if (pin && ![pin.version, pin.llama].includes(tag) && tag !== 'latest')
    throw new PrepareError(
      `build/bump holds ${pin.version} (llama.cpp ${pin.llama}), not ${tag}: leave --continue out.`,
    );
  if (!pin) {
    const merged = await timed('patches merged', () => merge(tag));
    if (merged.conflicts.length > 0) throw new PrepareError(adviceOf(merged.conflicts, tag));
    pin = merged.pin;
  }
  await move(pin, { proof, rehearse: values.rehearse });
});
