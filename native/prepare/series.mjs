// The patch series: reading, exporting it again from the patched tree, size.
// A file of upstream belongs to at most one patch, so that an edit in the tree has one place to go.
// CLI: node native/prepare/series.mjs           compares the tree with the files
//      node native/prepare/series.mjs --write   writes the edits of the tree into the files

import fs from 'node:fs';
import path from 'node:path';
import { WorkTree } from './git-tree.mjs';
import { PATCHES, TREE } from './paths.mjs';
import { cli, PrepareError } from './process.mjs';

/** @returns {{name: string, file: string, text: string}[]} the patches in order of application */
export function readSeries() {
  return fs
    .readFileSync(path.join(PATCHES, 'series'), 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line && !line.startsWith('#'))
    .map((name) => {
      const file = path.join(PATCHES, name);
      if (!fs.existsSync(file)) throw new PrepareError(`native/patches/series names ${name}, which does not exist.`);
      return { name, file, text: fs.readFileSync(file, 'utf8') };
    });
}

/** @returns {{header: string, files: string[], hunks: number, added: number, removed: number}} */
export function parsePatch(text) {
  const start = text.search(/^diff --git /m);
  const header = start < 0 ? text : text.slice(0, start);
  const body = start < 0 ? '' : text.slice(start);
  const count = (pattern) => (body.match(pattern) ?? []).length;
  return {
    header,
    files: [...body.matchAll(/^diff --git a\/(\S+) b\/\S+$/gm)].map((match) => match[1]),
    hunks: count(/^@@ /gm),
    added: count(/^\+(?!\+\+ )/gm),
    removed: count(/^-(?!-- )/gm),
  };
}

/** Patches that are counted apart, by the start of their name: changes of upstream's tests, call sites of the back ends for GPUs, of the template interpreter, of the server core. */
const APART = ['tests', 'metal', 'vulkan', 'cuda', 'template', 'server'];

/** @returns {{engine: PatchSize, tests: PatchSize, metal: PatchSize, vulkan: PatchSize, cuda: PatchSize, template: PatchSize, server: PatchSize}} @typedef {{files: number, hunks: number, added: number, removed: number}} PatchSize */
export function seriesSize() {
  const empty = () => ({ files: 0, hunks: 0, added: 0, removed: 0 });
  const size = {
    engine: empty(),
    tests: empty(),
    metal: empty(),
    vulkan: empty(),
    cuda: empty(),
    template: empty(),
    server: empty(),
  };
  for (const { name, text } of readSeries()) {
    const sum = size[APART.find((part) => name.startsWith(`${part}-`)) ?? 'engine'];
    const patch = parsePatch(text);
    sum.files += patch.files.length;
    sum.hunks += patch.hunks;
    sum.added += patch.added;
    sum.removed += patch.removed;
  }
  return size;
}

/**
 * Exports the series again from the patched tree.
 * @param {string} commit the pinned commit
 * @param {WorkTree} [work] the patched tree, of another pin
 * @returns {Promise<{name: string, file: string, text: string, exported: string}[]>}
 * @throws {PrepareError} when a file of the tree differs from upstream and no patch owns it
 */
export async function exportSeries(commit, work = new WorkTree(TREE)) {
  try {
    const tree = await work.snapshot(commit);
    const changed = (await work.git('list changes', 'diff-tree', '-r', '--name-only', commit, tree))
      .split('\n')
      .filter(Boolean);
    const series = readSeries();
    const owner = new Map();
    for (const { name, text } of series) {
      for (const file of parsePatch(text).files) {
        if (owner.has(file))
          throw new PrepareError(`${name} and ${owner.get(file)} both change ${file}; one patch must own it.`);
        owner.set(file, name);
      }
    }
    const orphans = changed.filter((file) => !owner.has(file));
    if (orphans.length) {
      throw new PrepareError(
        `No patch of the series changes ${orphans.join(', ')}. Name each in a patch (a line "diff --git a/FILE b/FILE" at its end is enough), then export again.`,
      );
    }
    return await Promise.all(
      series.map(async ({ name, file, text }) => {
        const { header, files } = parsePatch(text);
        const options = ['--no-color', '--no-renames', '--abbrev=12', '--src-prefix=a/', '--dst-prefix=b/'];
        const diff = await work.git('export', 'diff', ...options, commit, tree, '--', ...files);
        return { name, file, text, exported: header + diff };
      }),
    );
  } finally {
    work.dispose();
  }
}

cli(import.meta.url, async (args) => {
  const { adoptTree, prepareUpstream, readPin } = await import('./upstream.mjs');
  const write = args.includes('--write');
  if (!write) await prepareUpstream();
  for (const { name, file, text, exported } of await exportSeries(readPin().commit)) {
    if (text === exported) continue;
    if (!write)
      throw new PrepareError(`${name} differs from the patched tree. Run: node native/prepare/series.mjs --write`);
    fs.writeFileSync(file, exported);
    console.log(`wrote ${name}`);
  }
  if (write) await adoptTree();
  console.log(JSON.stringify(seriesSize()));
});
