/**
 * The lock file names the packages of every platform. npm leaves out optional ones that the registry did not have when it
 * wrote the file; `npm ci` then fails there and here.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

interface Locked {
  version?: string;
  optionalDependencies?: Record<string, string>;
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };

/** Whether `name` is found from the folder of a package, upwards, as Node looks for it. */
function resolves(folder: string, name: string): boolean {
  if (`${folder === '' ? '' : `${folder}/`}node_modules/${name}` in lock.packages) return true;
  if (folder === '') return false;
  return resolves(folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/'))), name);
}

it('holds every optional dependency, so that npm ci works on each platform', () => {
  const missing = Object.entries(lock.packages).flatMap(([folder, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !resolves(folder, name))
      .map((name) => `${folder} -> ${name}`),
  );
  expect(missing).toEqual([]);
});

it('names no registry host', () => {
  expect(Object.entries(lock.packages).filter(([, entry]) => 'resolved' in entry)).toEqual([]);
});

it('leaves out the native canvas of pdf.js, which only drawing needs', () => {
  // npm puts it back when pdfjs-dist itself is installed anew: take the entries and its `optionalDependencies` out again
  expect(Object.keys(lock.packages).filter((folder) => folder.includes('@napi-rs/canvas'))).toEqual([]);
});
