/** THIRD-PARTY-NOTICES.txt names whatever is in the app: looked for in what compiler and bundler really took. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleForNode, bundleRenderer, ENTRIES } from '../../electron/build.mjs';
import { type BundledPackage, thirdPartyNotices } from '../../electron/notices.mjs';
import { root } from './support';

/** The sections by their headings: text below the double line. */
function sections(notices: string): Map<string, string> {
  const parts = notices.split(/^={80}\n(.*)\n={80}\n/m).slice(1);
  return new Map(parts.flatMap((part, index) => (index % 2 === 0 ? [[part, parts[index + 1]?.trim() ?? '']] : [])));
}

describe('packages of npm', () => {
  const folder = path.join(root, 'build', 'test-bundles', 'notices');
  const packages: BundledPackage[] = [];

  beforeAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    for (const [name, entry] of Object.entries(ENTRIES)) packages.push(...(await bundleForNode(name, entry, folder)));
    packages.push(...(await bundleRenderer({ outDir: path.join(folder, 'renderer'), sourcemap: true })));
  });

  /** Folders of packages with a module in a bundle: by the comments of those that are not minified, and the source maps. */
  function foldersInBundles(): Set<string> {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => path.join(folder, name));
    const texts = files.filter((file) => file.endsWith('.cjs')).map((file) => readFileSync(file, 'utf8'));
    const comments = texts.flatMap((text) => [...text.matchAll(/^\s*\/\/ (node_modules\/\S+)$/gm)].map(([, id]) => id));
    const maps = files.filter((file) => file.endsWith('.map')).map((file) => JSON.parse(readFileSync(file, 'utf8')));
    const sources: string[] = maps.flatMap(({ sources }) => sources);
    const modules = [...comments, ...sources.map((source) => source.replace(/^(\.\.\/)+/, ''))];
    return new Set(
      modules.flatMap((id) => id?.match(/^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+(?=\/)/)?.[0] ?? []),
    );
  }

  it('are named with a license text, each that lies in a bundle', () => {
    const named = sections(thirdPartyNotices(packages));
    const lock = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version?: string; dev?: boolean }>;
    };
    const inBundles = [...foldersInBundles()].filter((at) => at in lock.packages && !lock.packages[at]?.dev);
    // both ways of looking have found something
    expect(inBundles).toEqual(
      expect.arrayContaining(['node_modules/ws', 'node_modules/pdfjs-dist', 'node_modules/react-dom']),
    );
    expect(inBundles.length).toBeGreaterThan(100);
    const without = inBundles.filter((at) => {
      const name = `${at.split('node_modules/').at(-1)} ${lock.packages[at]?.version}: `;
      const text = [...named].find(([heading]) => heading.startsWith(name))?.[1] ?? '';
      return !/permission|redistribution|permitted|licen[sc]e/i.test(text) || text.length < 400;
    });
    expect(without).toEqual([]);
  });

  it('under Apache-2.0 come with the whole license', () => {
    const apache = [...sections(thirdPartyNotices(packages))].filter(([heading]) => heading.endsWith(': Apache-2.0'));
    expect(apache.length).toBeGreaterThan(0);
    for (const [, text] of apache) expect(text).toContain('END OF TERMS AND CONDITIONS');
  });

  it('bring the notices of what they carry in their own files', () => {
    const headings = [...sections(thirdPartyNotices(packages)).keys()].join('\n');
    for (const name of ['Fonts of KaTeX: OFL', 'core-js', 'OpenJPEG', 'CMap', 'llhttp'])
      expect(headings).toContain(name);
  });

  it('leave no list of theirs in the app', () => {
    expect(readdirSync(folder, { recursive: true }).filter((name) => String(name).endsWith('packages.json'))).toEqual(
      [],
    );
  });
});

describe('the native binary', () => {
  const build = path.join(root, 'build', 'native');
  const ninja = (...args: string[]) =>
    execFileSync('ninja', args, {
      cwd: build,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      stdio: ['ignore', 'pipe', 'ignore'],
    });

  /** Every file outside the system's folders that the compiler read for it. */
  function compiled(): string[] {
    const objects = new Set(ninja('-t', 'inputs', 'bin/concertina.node').split('\n'));
    const files = new Set<string>();
    for (const block of ninja('-t', 'deps').split('\n\n')) {
      const [head = '', ...lines] = block.trim().split('\n');
      if (!objects.has(head.replace(/: #deps.*$/, ''))) continue;
      for (const line of lines) files.add(path.resolve(build, line.trim()));
    }
    return [...files].filter((file) => file.startsWith(root)).map((file) => path.relative(root, file));
  }

  it.skipIf(!existsSync(path.join(build, 'build.ninja')))('is made of parts that are named', () => {
    const notices = thirdPartyNotices([]);
    const files = compiled();
    expect(files).toContain('build/upstream/llama.cpp/src/llama-context.cpp');
    const vendored = new Set(files.flatMap((file) => file.match(/llama\.cpp\/vendor\/([^/]+)/)?.[1] ?? []));
    const known: Record<string, string> = {
      nlohmann: 'JSON for Modern C++',
      'cpp-httplib': 'cpp-httplib (Yuji Hirose)',
      miniaudio: 'miniaudio (David Reid)',
      stb: 'stb_image (Sean Barrett)',
      hash: 'xxHash (Yann Collet)',
    };
    expect([...vendored].filter((name) => !notices.includes(`${known[name]}: `))).toEqual([]);
    const packages = new Set(files.flatMap((file) => file.match(/^node_modules\/([^/]+)/)?.[1] ?? []));
    expect([...packages].filter((name) => !notices.includes(`${name}: `))).toEqual([]);

    const holders = /copyright(?:text:)?\s*(?:\(c\))?\s*\d{4}[\d ,-]*\s+(\w[^.<\n]*\w)/gi;
    const projects = /adapted from https:\/\/github\.com\/[\w-]+\/([\w.-]+) \[MIT/gi;
    const unnamed = files.flatMap((file) => {
      const text = readFileSync(path.join(root, file), 'utf8');
      const owners = [...text.matchAll(holders), ...text.matchAll(projects)].map(([, owner]) => owner ?? '');
      return owners.filter((owner) => !notices.includes(owner)).map((owner) => `${file}: ${owner}`);
    });
    expect(unnamed).toEqual([]);
  });

  it('comes with models and texts whose sources are named', () => {
    const named = sections(thirdPartyNotices([]));
    expect(named.get('assets/calibration/SOURCES.md')).toContain('public domain');
    const sources = [...named]
      .filter(([heading]) => heading.startsWith('assets/models/SOURCES'))
      .map(([, text]) => text);
    const files = readdirSync(path.join(root, 'assets', 'models')).filter((name) => name.endsWith('.gguf'));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(sources.join('\n')).toContain(file.replace(/-[^-]*$/, ''));
  });
});
