/** The repository as others use it: the lock file, the workflows, and what is packaged of models. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseOptions } from '../bench/speed/options.mjs';
import { smallModel, tinyModel } from '../models.mjs';

interface Locked {
  version?: string;
  integrity?: string;
  inBundle?: true;
  hasInstallScript?: true;
  optionalDependencies?: Record<string, string>;
}

/** Neither is run by what we use of these packages: one asks for donations, the other unpacks a tool for Squirrel installers. */
const installScripts = ['electron-winstaller', 'tesseract.js'];

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };

/** Whether `name` is found from the folder of a package, upwards, as Node looks for it. */
function resolves(folder: string, name: string): boolean {
  if (`${folder === '' ? '' : `${folder}/`}node_modules/${name}` in lock.packages) return true;
  if (folder === '') return false;
  return resolves(folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/'))), name);
}

// The lock file names the packages of every platform. npm leaves out optional ones that the registry did not have when it
// wrote the file; `npm ci` then fails there and here.
describe('the lock file', () => {
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

  it('names the content of every package by its sha512', () => {
    const unsure = Object.entries(lock.packages).filter(
      ([folder, { integrity = '', inBundle }]) =>
        folder !== '' && !inBundle && !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity),
    );
    expect(unsure).toEqual([]);
    // what comes in the archive of another package is held by the sum of that
    const bundled = Object.entries(lock.packages).filter(([, { inBundle }]) => inBundle);
    for (const [folder] of bundled) {
      const outer = folder.slice(0, folder.lastIndexOf('/node_modules/'));
      expect(lock.packages[outer]?.integrity, folder).toMatch(/^sha512-/);
    }
  });

  it('has few packages that would run a script of their own when they are installed, and no command lets them', () => {
    const scripted = Object.entries(lock.packages).flatMap(([folder, { hasInstallScript }]) =>
      hasInstallScript ? [folder.replace(/^.*node_modules\//, '')] : [],
    );
    expect(scripted.sort()).toEqual(installScripts);
    expect(readFileSync('native/prepare/packages.mjs', 'utf8')).toMatch(/'ci', .*'--ignore-scripts'/);
    for (const file of readdirSync(join('.github', 'workflows'))) {
      for (const command of commandsOf(readFileSync(join('.github', 'workflows', file), 'utf8')))
        if (command.startsWith('npm ci')) expect(command, file).toContain('--ignore-scripts');
    }
  });

  it('leaves out the native canvas of pdf.js, which only drawing needs', () => {
    // npm puts it back when pdfjs-dist itself is installed again: take the entries and its `optionalDependencies` out again
    expect(Object.keys(lock.packages).filter((folder) => folder.includes('@napi-rs/canvas'))).toEqual([]);
  });
});

// The workflows run what exists: commands of package.json, stages of the tests, options of the bench.

const folder = join('.github', 'workflows');
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
const stages = [...readFileSync(join('test', 'run.mjs'), 'utf8').matchAll(/^ {2}(\w+): (?:async )?\(\w*\) => /gm)].map(
  ([, name]) => name,
);

const commandsOf = (text: string) => [...text.matchAll(/^\s+run: (.*)$/gm)].map(([, command]) => command ?? '');

describe.each(readdirSync(folder))('the workflow %s', (file) => {
  const text = readFileSync(join(folder, file), 'utf8');
  const commands = commandsOf(text);

  it('runs commands that exist', () => {
    expect(commands.length).toBeGreaterThan(0);
    for (const command of commands) {
      const [, name = ''] = /^npm (?:run )?([\w:]+)( |$)/.exec(command) ?? [];
      // npm's own, and blocks of shell, which actionlint reads
      if (command !== '|' && !['ci', 'audit'].includes(name)) expect(Object.keys(scripts), command).toContain(name);
    }
  });

  it('asks for stages and options that exist', () => {
    for (const command of commands) {
      const [what = '', asked = ''] = command.split(' -- ');
      const words = asked.split(' ').filter(Boolean);
      if (what === 'npm test') expect(stages).toEqual(expect.arrayContaining(words));
      if (what === 'npm run bench') expect(parseOptions(words).depths.length).toBeGreaterThan(1);
    }
  });

  it('names no host', () => {
    expect(text).not.toMatch(/https?:|\w\.(com|org|net|io)\b/);
  });
});

it('CI fails where the Metal kernels cannot be tested', () => {
  expect(readFileSync(join('.ci', 'run'), 'utf8')).toMatch(/^export CI=/m);
});

// electron-builder takes the whole of assets/models.
it('assets/models holds the built-in model, its card and its sources, and no other model', () => {
  expect(readdirSync(dirname(smallModel)).sort()).toEqual(['README.md', 'SOURCES.md', basename(smallModel)]);
  expect(existsSync(tinyModel)).toBe(true);
});
