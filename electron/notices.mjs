// THIRD-PARTY-NOTICES.txt: whose work is in the app and under which license, with the license texts, as MIT, BSD, Apache-2.0
// and the OFL ask for. build.mjs writes it beside the bundles, from the packages that Vite found in them; what no bundler
// can see (native code, fonts, code that a package carries in its own files) is in the tables below.
// Watched by: test/unit/electron/notices.test.ts, test/engine/notices.test.ts and test/e2e/dist.spec.ts.

import fs from 'node:fs';
import path from 'node:path';
import { ROOT, TREE } from '../native/prepare/paths.mjs';
import { PrepareError } from '../native/prepare/process.mjs';

export const NOTICES_FILE = 'THIRD-PARTY-NOTICES.txt';

/** Texts that their owners publish in their repository, and not in what we install. */
const TEXTS = path.join(ROOT, 'electron', 'packaging', 'licenses');
const APACHE = path.join(TEXTS, 'Apache-2.0.txt');

const installed = (file) => path.join(ROOT, 'node_modules', file);
const upstream = (file) => path.join(TREE, file);
const kept = (file) => path.join(TEXTS, file);

/** Compiled into concertina.node. */
export const NATIVE = [
  {
    name: 'llama.cpp and ggml, with parts of ggllm.cpp',
    license: 'MIT',
    file: upstream('LICENSE'),
  },
  { name: 'llamafile, matrix products (in ggml)', license: 'MIT', file: kept('llamafile.txt') },
  { name: 'YaRN (in ggml)', license: 'MIT', file: kept('yarn.txt') },
  { name: 'JSON for Modern C++', license: 'MIT', file: upstream('licenses/LICENSE-jsonhpp') },
  { name: 'Parts of others in JSON for Modern C++', license: 'MIT', file: kept('json-parts.txt') },
  { name: 'Abseil, integer sequences (in JSON for Modern C++)', license: 'Apache-2.0', file: kept('abseil.txt') },
  { name: 'cpp-httplib (Yuji Hirose)', license: 'MIT', file: upstream('vendor/cpp-httplib/LICENSE') },
  { name: 'stb_image (Sean Barrett)', license: 'MIT', file: kept('stb-image.txt') },
  { name: 'miniaudio (David Reid)', license: 'MIT-0', file: kept('miniaudio.txt') },
  { name: 'xxHash (Yann Collet)', license: 'BSD-2-Clause', file: upstream('vendor/hash/xxhash/LICENSE') },
  { name: 'rotate-bits (William Casarin)', license: 'MIT', file: upstream('vendor/hash/rotate-bits/LICENSE.md') },
  { name: 'Vulkan headers (on Linux and Windows)', license: 'Apache-2.0', file: kept('vulkan-headers.txt') },
  { name: 'SPIR-V headers (on Linux and Windows)', license: 'MIT (of Khronos)', file: kept('spirv-headers.txt') },
  // of its C++ library by GCC nothing is asked where it is linked by a compiler
  { name: 'mingw-w64 (on Windows)', license: 'ZPL-2.1, MIT and BSD-3-Clause', file: kept('mingw-w64.txt') },
  { name: 'node-addon-api', license: 'MIT', file: installed('node-addon-api/LICENSE.md') },
  { name: 'node-api-headers', license: 'MIT', file: installed('node-api-headers/LICENSE') },
];

/** Around the bundles, or in them without being a module of a package. */
const SHELL = [
  // Chromium's notices are 9 MB of HTML, which Electron ships itself
  {
    name: 'Electron (what Chromium brings: LICENSES.chromium.html beside the program)',
    license: 'MIT',
    file: installed('electron/LICENSE'),
  },
  { name: 'Tailwind CSS (base styles)', license: 'MIT', file: installed('tailwindcss/LICENSE') },
  { name: 'Vite and Rolldown (helpers in the bundles)', license: 'MIT', file: installed('rolldown/LICENSE') },
];

/** What a package carries in its own files: `of` is that package. */
const INSIDE = [
  { of: 'katex', name: 'Fonts of KaTeX', license: 'OFL-1.1', file: kept('katex-fonts.txt') },
  { of: 'pdfjs-dist', name: 'core-js (in pdf.js)', license: 'MIT', file: kept('core-js.txt') },
  { of: 'pdfjs-dist', name: 'Brotli (in pdf.js)', license: 'MIT', file: kept('brotli.txt') },
  {
    of: 'pdfjs-dist',
    name: 'JBIG2 of PDFium (in pdf.js)',
    license: 'BSD-3-Clause',
    file: installed('pdfjs-dist/wasm/LICENSE_JBIG2'),
  },
  {
    of: 'pdfjs-dist',
    name: 'OpenJPEG (in pdf.js)',
    license: 'BSD-2-Clause',
    file: installed('pdfjs-dist/wasm/LICENSE_OPENJPEG'),
  },
  { of: 'pdfjs-dist', name: 'qcms (in pdf.js)', license: 'MIT', file: installed('pdfjs-dist/wasm/LICENSE_QCMS') },
  {
    of: 'pdfjs-dist',
    name: 'CMap resources of Adobe (with pdf.js)',
    license: 'BSD-3-Clause',
    file: installed('pdfjs-dist/cmaps/LICENSE'),
  },
  {
    of: '@embedpdf/pdfium',
    name: 'PDFium (in @embedpdf/pdfium)',
    license: 'BSD-3-Clause, Apache-2.0',
    file: installed('@embedpdf/pdfium/LICENSE.pdfium'),
  },
  {
    of: '@embedpdf/pdfium',
    name: 'FreeType, Little CMS, libjpeg-turbo, libpng, zlib, AGG and ICU (in PDFium)',
    license: 'FTL, MIT, BSD-3-Clause, IJG, libpng, Zlib and others',
    file: kept('pdfium-parts.txt'),
  },
  {
    of: '@embedpdf/pdfium',
    name: 'OpenJPEG (in PDFium)',
    license: 'BSD-2-Clause',
    file: installed('pdfjs-dist/wasm/LICENSE_OPENJPEG'),
  },
  { of: '@embedpdf/pdfium', name: 'Abseil (in PDFium)', license: 'Apache-2.0', file: kept('abseil.txt') },
  // its package holds no license text and says MIT; the data is Google's tessdata_best
  {
    of: 'tesseract.js-core',
    name: 'Data of English for Tesseract (tessdata_best)',
    license: 'Apache-2.0',
    file: APACHE,
  },
  { of: 'read-excel-file', name: 'saxen (in read-excel-file)', license: 'MIT', file: installed('saxen/LICENSE') },
  {
    of: 'stopword',
    name: 'Lists of words by others (in stopword)',
    license: 'MIT, Apache-2.0',
    file: installed('stopword/dist/3rd-party.txt'),
  },
  { of: 'undici', name: 'llhttp (in undici)', license: 'MIT', file: kept('llhttp.txt') },
  { of: 'undici', name: 'formdata-polyfill (in undici)', license: 'MIT', file: kept('formdata-polyfill.txt') },
];

/** Where models and texts that lie in the app come from. */
export function sourceFiles() {
  return ['assets/models', 'assets/calibration'].flatMap((folder) =>
    fs
      .readdirSync(path.join(ROOT, folder))
      .filter((name) => /^SOURCES.*\.md$/.test(name))
      .sort()
      .map((name) => path.join(ROOT, folder, name)),
  );
}

/**
 * @typedef {{name: string, version: string, identifier?: string, text?: string}} BundledPackage
 * @param {BundledPackage[]} packages as Vite lists those of a bundle (`build.license`); one may be there several times
 * @returns {string} the whole file
 * @throws {PrepareError} when a package has no license text, or a text of the tables is missing
 */
export function thirdPartyNotices(packages) {
  const names = new Set(packages.map(({ name }) => name));
  const unique = new Map(packages.map((one) => [`${one.name} ${one.version}`, one]));
  const npm = [...unique.values()].sort((a, b) => a.name.localeCompare(b.name, 'en')).map(ofPackage);
  const inside = INSIDE.filter(({ of }) => names.has(of));
  const parts = [...[...NATIVE, ...SHELL, ...inside].map(ofTable), ...npm];
  return [
    'Concertina includes work by others. This file lists it, with the licenses that it is used under.\n' +
      'Concertina itself is under the MIT license, in the file LICENSE.txt.',
    parts.map(({ name, license }) => `  ${name}: ${license}`).join('\n'),
    ...parts.map(({ name, license, text }) => `${heading(`${name}: ${license}`)}\n\n${text}`),
    ...sourceFiles().map((file) => `${heading(path.relative(ROOT, file))}\n\n${fs.readFileSync(file, 'utf8').trim()}`),
    '',
  ].join('\n\n');
}

const heading = (text) => `${'='.repeat(80)}\n${text}\n${'='.repeat(80)}`;

function ofPackage({ name, version, identifier, text }) {
  const file = kept(`${name.replaceAll('/', '__')}.txt`);
  const found = text?.trim() || (fs.existsSync(file) && fs.readFileSync(file, 'utf8').trim());
  if (!found) {
    throw new PrepareError(
      `${name} ${version} is in the app's bundles and has no license text, so the app must not be distributed. ` +
        `Put the text of its repository into ${path.relative(ROOT, file)}.`,
    );
  }
  return { name: `${name} ${version}`, license: identifier ?? 'see its text', text: whole(identifier, found) };
}

/** Of Apache-2.0 many hold only the short form, which names an address. */
function whole(license, text) {
  if (license !== 'Apache-2.0' || text.includes('TERMS AND CONDITIONS')) return text;
  return `${text}\n\n${fs.readFileSync(APACHE, 'utf8').trim()}`;
}

function ofTable({ name, license, file }) {
  if (fs.existsSync(file)) return { name, license, text: whole(license, fs.readFileSync(file, 'utf8').trim()) };
  const hint = file.startsWith(TREE)
    ? 'Run: node native/prepare/upstream.mjs'
    : 'Correct the tables of electron/notices.mjs.';
  throw new PrepareError(`The license text of ${name} is missing: ${path.relative(ROOT, file)}. ${hint}`);
}
