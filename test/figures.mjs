// How large the rooms of this house are, and how far apart what belongs together lies: figures of the product's TypeScript,
// printed by `npm run check`, which fails when one but the number of files passes its limit. A limit is tightened with the
// tree and never loosened.
// CLI: node test/figures.mjs

import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseSync } from 'vite';
import { ROOT } from '../native/prepare/paths.mjs';
import { importsOf, listFiles } from './layers.mjs';

/**
 * Of files in lines: `median`, `p90` and `longest` (the shape of the window's state, STATE, has a limit of its own). Of all
 * files: the share `smallWithOneImporter`. `entriesOfFolder`: of the fullest, folders in it counted as one each;
 * `longestChain`: files that import one another in a row; `filesInCircles`: those that reach themselves along their imports.
 * @typedef {{files: number, median: number, p90: number, longest: number, smallWithOneImporter: number, entriesOfFolder: number, longestChain: number, filesInCircles: number}} Figures
 * @typedef {Omit<Figures, 'files' | 'median' | 'p90'>} Limits
 */

/** A file below this that one other file imports could live in it. */
const SMALL = 100;

/**
 * Entries of processes, workers and windows, which nothing imports, and files that are loaded lazily.
 * @param {string} file
 */
const standsAlone = (file) => /(^|\/)main\.tsx?$|\/preload\.ts$|\/reader\.ts$|Worker\.ts$/.test(file);

/** The one long file: the shape of the whole state of the window, data without code. */
const STATE = { file: 'renderer/state/appState.ts', lines: 650 };

/** The least that the median may be: a home is a file in which one finds things together. */
export const LEAST_MEDIAN = 100;

/** @type {Limits} */
export const LIMITS = {
  longest: 400,
  smallWithOneImporter: 0.1,
  entriesOfFolder: 20,
  longestChain: 14,
  filesInCircles: 0,
};

/**
 * @param {Map<string, {lines: number, imports: string[], values: string[]}>} files by path from the root; `imports`: files of the
 *   map, those of types alone too; `values`: the ones of them that are there when it runs
 * @returns {Figures}
 */
export function figuresOf(files) {
  const lines = [...files.values()].map((file) => file.lines).sort((a, b) => a - b);
  const others = [...files].filter(([name, file]) => name !== STATE.file || file.lines > STATE.lines);
  const at = (share) => lines[Math.min(lines.length - 1, Math.floor(share * lines.length))] ?? 0;
  const importers = new Map();
  for (const { imports } of files.values()) {
    for (const target of new Set(imports)) importers.set(target, (importers.get(target) ?? 0) + 1);
  }
  const lonely = [...files].filter(
    ([file, { lines: count }]) => importers.get(file) === 1 && count < SMALL && !standsAlone(file),
  );
  const entries = new Map();
  for (const file of files.keys()) {
    for (let inner = file; inner.includes('/'); inner = path.posix.dirname(inner)) {
      const folder = path.posix.dirname(inner);
      entries.set(folder, (entries.get(folder) ?? new Set()).add(inner));
    }
  }
  return {
    files: files.size,
    median: at(0.5),
    p90: at(0.9),
    longest: Math.max(0, ...others.map(([, file]) => file.lines)),
    smallWithOneImporter: Number((lonely.length / files.size).toFixed(3)),
    entriesOfFolder: Math.max(0, ...[...entries.values()].map((inside) => inside.size)),
    longestChain: longestChain(files),
    filesInCircles: filesInCircles(files),
  };
}

/** Files on the longest way along value imports; what imports itself again on the way is not gone through twice. */
function longestChain(files) {
  const known = new Map();
  const open = new Set();
  const from = (file) => {
    const done = known.get(file);
    if (done !== undefined) return done;
    if (open.has(file)) return 0;
    open.add(file);
    const length = 1 + Math.max(0, ...(files.get(file)?.values ?? []).map(from));
    open.delete(file);
    known.set(file, length);
    return length;
  };
  return Math.max(0, ...[...files.keys()].map(from));
}

/** Files that reach themselves along their imports, those of types among them. */
function filesInCircles(files) {
  return [...files.keys()].filter((start) => {
    const seen = new Set();
    const open = [...(files.get(start)?.imports ?? [])];
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      if (file === start) return true;
      if (seen.has(file)) continue;
      seen.add(file);
      open.push(...(files.get(file)?.imports ?? []));
    }
    return false;
  }).length;
}

/** @param {Figures} figures @returns {string[]} one sentence for each that passes its limit */
export function outOfBounds(figures) {
  const high = Object.entries(LIMITS)
    .filter(([name, limit]) => figures[name] > limit)
    .map(([name, limit]) => `${name} is ${figures[name]}, and may be at most ${limit} (test/figures.mjs).`);
  const low = `median is ${figures.median}, and must be at least ${LEAST_MEDIAN} (test/figures.mjs).`;
  return figures.median < LEAST_MEDIAN ? [...high, low] : high;
}

function readTree() {
  const files = listFiles(['electron', 'renderer'], /(?<!\.d)\.tsx?$/);
  const known = new Set(files);
  return new Map(
    files.map((file) => {
      const source = fs.readFileSync(path.join(ROOT, file), 'utf8');
      const found = importsOf(parseSync(file, source).program).flatMap(({ node, specifier }) => {
        const target = resolve(file, specifier, known);
        return target
          ? [{ target, type: node.importKind === 'type' || node.exportKind === 'type' || node.type === 'TSImportType' }]
          : [];
      });
      const values = found.filter(({ type }) => !type).map(({ target }) => target);
      return [file, { lines: source.split('\n').length - 1, imports: found.map(({ target }) => target), values }];
    }),
  );
}

function resolve(file, specifier, known) {
  if (!specifier.startsWith('.')) return undefined;
  const base = path.posix.join(path.posix.dirname(file), specifier.replace(/\?.*$/, ''));
  return [base, `${base}.ts`, `${base}.tsx`].find((one) => known.has(one));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const figures = figuresOf(readTree());
  console.log(
    `figures: ${Object.entries(figures)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}`,
  );
  for (const line of outOfBounds(figures)) {
    console.error(line);
    process.exitCode = 1;
  }
}
