// Bundles the app into build/app: main, preload, engine, the document process and its thread, the process of tools, the worker threads and
// headless server as one CommonJS file each, the renderer as a static site. Headless mode runs on Node 22 and the desktop
// app in Electron 45, but all but the headless server are tested in Electron 33 too: its Chrome 130 and Node 20.18 are
// the floor of the syntax.
// When to build is decided by native/prepare/app-bundles.mjs.
// CLI: node electron/build.mjs     (npm run build)

import fs from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import lingui from '@lingui/vite-plugin';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { build } from 'vite';
import { NOTICES_FILE, thirdPartyNotices } from './notices.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
export const APP = path.join(ROOT, 'build', 'app');

/**
 * Texts: the macros in the source, which keep their English, and the catalogs of the other languages.
 * @returns {import('vite').Plugin[]}
 */
export function texts() {
  // what is made at run time stays so: its macro takes less than the one that is compiled, and both must make the same
  const macro = { descriptorFields: 'message', corePackage: ['@lingui/core/macro'] };
  return lingui({ cwd: ROOT, macroTransform: { macro }, failOnCompileError: true });
}

export const ENTRIES = {
  main: 'electron/desktop/main.ts',
  preload: 'electron/desktop/preload.ts',
  engine: 'electron/engine/main.ts',
  documents: 'electron/workers/documents/main.ts',
  documentReader: 'electron/workers/documents/reader.ts',
  tools: 'electron/workers/tools/main.ts',
  worker: 'electron/workers/main.ts',
  serve: 'electron/server/main.ts',
};

const NOT_BUNDLED = ['electron', /^node:/, ...builtinModules];

/**
 * @param {{onProgress?: (progress: {detail: string, fraction: number}) => void}} [options]
 * @returns {Promise<{folder: string}>}
 */
export async function buildApp({ onProgress = () => {} } = {}) {
  const names = Object.keys(ENTRIES);
  const packages = [];
  for (const [index, name] of names.entries()) {
    onProgress({ detail: name, fraction: index / (names.length + 1) });
    packages.push(...(await bundleForNode(name, ENTRIES[name])));
  }
  copyCharacterMaps();
  copyOcrFiles(path.join(APP, 'ocr'));
  // what is new in a version, shown once
  fs.copyFileSync(path.join(ROOT, 'CHANGELOG.md'), path.join(APP, 'CHANGELOG.md'));
  fs.copyFileSync(path.join(ROOT, 'assets', 'icons', 'icon-64.png'), path.join(APP, 'tray.png'));
  onProgress({ detail: 'window', fraction: names.length / (names.length + 1) });
  packages.push(...(await bundleRenderer()));
  fs.writeFileSync(path.join(APP, NOTICES_FILE), thirdPartyNotices(packages));
  onProgress({ detail: 'done', fraction: 1 });
  return { folder: APP };
}

/**
 * One CommonJS file with every dependency in it: a sandboxed preload can require nothing of Node (of packages it gets what they
 * have for browsers), and packages stay out of releases.
 */
export async function bundleForNode(name, entry, outDir = APP) {
  const license = { fileName: `${name}.packages.json` };
  await build({
    root: ROOT,
    configFile: false,
    envDir: false,
    logLevel: 'warn',
    publicDir: false,
    define: { 'process.env.WS_NO_BUFFER_UTIL': '"1"', 'process.env.WS_NO_UTF_8_VALIDATE': '"1"' },
    // what tests bundle imports by `@/`
    resolve: { tsconfigPaths: true },
    plugins: [texts(), withoutUnusedReaders()],
    ssr: { target: 'node', noExternal: true, ...(name === 'preload' && { resolve: { conditions: ['module'] } }) },
    build: {
      ssr: path.join(ROOT, entry),
      outDir,
      emptyOutDir: false,
      target: 'node20.18',
      minify: false,
      license,
      rolldownOptions: {
        external: NOT_BUNDLED,
        output: { format: 'cjs', entryFileNames: `${name}.cjs`, codeSplitting: false },
      },
    },
  });
  return packagesOf(path.join(outDir, license.fileName));
}

/**
 * officeparser recognizes text in pictures (with tesseract.js), reads PDFs and guesses what a file is, too, of which we ask
 * nothing: it would bring an HTTP client and a second pdf.js into the thread that reads foreign files. OCR of ours calls the
 * core of tesseract.js, which reaches for no network.
 */
function withoutUnusedReaders() {
  const nothing = '\0nothing';
  const unused = /^(?:tesseract\.js|file-type|pdfjs-dist(?:\/.*)?)$/;
  return {
    name: 'without-unused-readers',
    enforce: 'pre',
    resolveId: (id, importer) => (unused.test(id) && importer?.includes('/officeparser/') ? nothing : null),
    load: (id) => (id === nothing ? 'export default {};' : null),
  };
}

/** The packages with modules in a bundle, which Vite wrote beside it; the file is for us, not for the app. */
function packagesOf(file) {
  const packages = JSON.parse(fs.readFileSync(file, 'utf8'));
  fs.rmSync(file);
  return packages;
}

/** The thread that reads documents opens them when a PDF in Chinese, Japanese or Korean asks for one (1.1 MB in all). */
function copyCharacterMaps() {
  const from = path.join(ROOT, 'node_modules', 'pdfjs-dist', 'cmaps');
  fs.cpSync(from, path.join(APP, 'cmaps'), { recursive: true });
}

/**
 * What the thread that reads documents opens for pages as pictures (11 MB in all): PDFium to draw them, Tesseract to
 * recognize the words of those without text, English to know them by.
 */
export function copyOcrFiles(folder) {
  const files = {
    'pdfium.wasm': '@embedpdf/pdfium/dist/pdfium.wasm',
    'tesseract.wasm': 'tesseract.js-core/tesseract-core-simd-lstm.wasm',
    'eng.traineddata.gz': '@tesseract.js-data/eng/4.0.0_best_int/eng.traineddata.gz',
  };
  fs.mkdirSync(folder, { recursive: true });
  for (const [name, file] of Object.entries(files)) {
    fs.copyFileSync(path.join(ROOT, 'node_modules', file), path.join(folder, name));
  }
}

/** The fonts of formulas come in three formats, of which Chrome reads the first: the others would treble the bundle. */
function onlyWoff2() {
  return {
    name: 'only-woff2',
    enforce: 'pre',
    transform: {
      filter: { id: /katex.*\.css$/ },
      handler: (code) => code.replace(/,\s*url\([^)]+\.(?:woff|ttf)\)\s*format\("\w+"\)/g, ''),
    },
  };
}

export async function bundleRenderer({ outDir = path.join(APP, 'renderer'), sourcemap = false } = {}) {
  const root = path.join(ROOT, 'renderer', 'app');
  const license = { fileName: 'packages.json' };
  fs.rmSync(outDir, { recursive: true, force: true });
  await build({
    root,
    base: './',
    configFile: false,
    envDir: false,
    logLevel: 'warn',
    publicDir: false,
    plugins: [texts(), react(), tailwindcss(), onlyWoff2()],
    build: {
      assetsInlineLimit: (file) => (file.endsWith('.woff2') ? false : undefined),
      outDir,
      emptyOutDir: true,
      target: 'chrome130',
      chunkSizeWarningLimit: 2000,
      license,
      sourcemap,
    },
  });
  return packagesOf(path.join(outDir, license.fileName));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const startedAt = Date.now();
  await buildApp({ onProgress: ({ detail }) => console.log(`building ${detail}`) });
  console.log(`built ${path.relative(process.cwd(), APP)} in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
}
