// The layering rule as a check: which folder may import what, in one table. A file outside the table is an error too,
// so that a new folder gets its place on the day it is made. Part of `npm run check`.
// CLI: node test/layers.mjs

import fs from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseSync } from 'vite';
import { ROOT } from '../native/prepare/paths.mjs';

/**
 * Longest prefix wins; `*` stands for one folder, and two folders under a `*` are two layers.
 * @typedef {{may: string[], packages: string[], node?: true}} Layer
 * @type {Record<string, Layer>}
 */
export const LAYERS = {
  'electron/contract': { may: [], packages: ['zod', '@lingui/core', '@lingui/message-utils'] },
  'electron/desktop': {
    may: ['electron/contract', 'electron/services', 'assets/locales'],
    packages: ['electron', 'electron-updater', 'zod', '@lingui/core'],
    node: true,
  },
  // what headless mode runs too, hence without Electron
  'electron/services': {
    may: ['electron/contract', 'electron/workers/processGroup'],
    packages: ['undici', 'zod', '@lingui/core'],
    node: true,
  },
  'electron/server': { may: ['electron/contract', 'electron/services'], packages: ['ws', 'zod'], node: true },
  'electron/engine': {
    may: ['electron/contract', 'electron/engine/native', 'electron/workers/parentPort'],
    packages: ['zod', '@lingui/core'],
    node: true,
  },
  // the typed face of the addon
  'electron/engine/native': { may: ['electron/contract'], packages: ['zod', '@lingui/core'], node: true },
  // how a child process reaches its parent, whatever it is for
  'electron/workers/parentPort': { may: [], packages: [], node: true },
  // how a process and all that it started are ended: by the process that began it, and by whoever outlives that one
  'electron/workers/processGroup': { may: [], packages: [], node: true },
  // worker threads, and what is the same in each of them
  'electron/workers': {
    may: ['electron/contract', 'electron/workers/imports'],
    packages: ['minisearch', 'stemmer', 'stopword', '@lingui/core'],
    node: true,
  },
  // chats of other apps, whose files may be packed
  'electron/workers/imports': {
    may: ['electron/contract', 'electron/workers/documents'],
    packages: ['zod', '@lingui/core'],
    node: true,
  },
  // a process of its own: what foreign files do to the libraries that read them stays out of the main process
  'electron/workers/documents': {
    may: ['electron/contract', 'electron/workers/parentPort'],
    packages: [
      ...['pdfjs-dist', '@embedpdf/pdfium', 'tesseract.js-core'],
      '@lingui/core',
      ...['mammoth', 'officeparser', 'read-excel-file', 'postal-mime', 'jszip', 'htmlparser2'],
    ],
    node: true,
  },
  // a process of its own: talks to MCP servers, whose messages may be anything
  'electron/workers/tools': {
    may: ['electron/contract', 'electron/workers/parentPort', 'electron/workers/processGroup'],
    packages: ['@modelcontextprotocol/sdk', 'cross-spawn', 'zod', '@lingui/core'],
    node: true,
  },
  // what shows texts in the language of the window
  'renderer/language': {
    may: ['electron/contract', 'assets/locales'],
    packages: ['react', '@lingui/core', '@lingui/react', '@lingui/message-utils'],
  },
  // the translations
  'assets/locales': { may: [], packages: ['@lingui/core'] },
  'renderer/app': {
    may: ['renderer/features/*', 'renderer/state', 'renderer/ui', 'renderer/language', 'electron/contract'],
    packages: ['@lingui/core', '@lingui/react', 'react', 'react-dom', 'zustand', 'lucide-react', 'sonner'],
  },
  'renderer/features/*': {
    may: ['renderer/state', 'renderer/ui', 'renderer/language', 'electron/contract'],
    packages: [
      '@lingui/core',
      '@lingui/react',
      'react',
      'zustand',
      'lucide-react',
      'sonner',
      'streamdown',
      'uplot',
      '@tanstack/react-virtual',
      'katex',
      'lowlight',
      'remark-math',
      'diff',
    ],
  },
  'renderer/state': {
    may: ['renderer/bridge', 'renderer/language', 'electron/contract'],
    packages: ['react', 'zustand', '@lingui/core'],
  },
  'renderer/bridge': { may: ['renderer/language', 'electron/contract'], packages: ['@lingui/core'] },
  'renderer/ui': {
    may: ['renderer/language'],
    packages: ['react', 'radix-ui', 'lucide-react', 'sonner', '@lingui/core', '@lingui/react'],
  },
};

/** Names that one place owns. `within`: the rule holds only there. */
export const OWNED = [
  { name: 'ipcMain', owner: 'electron/desktop/gate.ts', within: 'electron' },
  { name: 'ipcRenderer', owner: 'electron/desktop/preload.ts', within: 'electron' },
  { name: 'concertina', memberOf: ['window', 'globalThis'], owner: 'renderer/bridge', within: 'renderer' },
  { name: 'WebSocket', owner: 'renderer/bridge', within: 'renderer' },
];

const LONG_FILE = 400;

/**
 * @param {string} file path from the root of the repository, with forward slashes
 * @param {string} source
 * @returns {string[]} what is wrong with it, one sentence each
 */
export function checkFile(file, source) {
  const layer = layerOf(file);
  if (!layer) return [`${file}: this folder has no layer. Give it a line in the table of test/layers.mjs.`];
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) return [`${file}: ${errors[0]?.message}`];

  const wrong = [];
  const lineOf = (node) => source.slice(0, node.start).split('\n').length;
  for (const { node, specifier } of importsOf(program)) {
    const reason = refusal(file, layer, specifier);
    if (reason) wrong.push(`${file}:${lineOf(node)}: ${reason}`);
  }
  for (const rule of OWNED) {
    if (!isUnder(file, rule.within) || isUnder(file, rule.owner)) continue;
    const node = find(program, (candidate) => uses(candidate, rule));
    if (node) wrong.push(`${file}:${lineOf(node)}: uses ${rule.name}, which only ${rule.owner} may touch.`);
  }
  return wrong;
}

function refusal(file, layer, specifier) {
  if (isBuiltin(specifier)) return LAYERS[layer.rule]?.node ? '' : `imports ${specifier}; ${allowance(layer)}`;
  if (!specifier.startsWith('.')) {
    return LAYERS[layer.rule]?.packages.includes(packageOf(specifier))
      ? ''
      : `imports ${specifier}; ${allowance(layer)}`;
  }
  const target = path.posix.join(path.posix.dirname(file), specifier.replace(/\?.*$/, ''));
  const targetLayer = layerOf(target);
  if (targetLayer?.name === layer.name) return '';
  if (targetLayer && LAYERS[layer.rule]?.may.includes(targetLayer.rule)) return '';
  return `imports ${target}; ${allowance(layer)}`;
}

function allowance({ name, rule }) {
  const { may = [], packages = [], node } = LAYERS[rule] ?? {};
  const allowed = [...may, ...packages.map((item) => `npm ${item}`), ...(node ? ['Node builtins'] : [])];
  return `${name} may import ${allowed.length > 0 ? allowed.join(', ') : 'nothing'}.`;
}

/** @returns {{rule: string, name: string} | undefined} rule: key of the table; name: the folder that it matched */
function layerOf(file) {
  const parts = file.replace(/\.tsx?$/, '').split('/');
  let best;
  for (const rule of Object.keys(LAYERS)) {
    const pattern = rule.split('/');
    const fits = pattern.every((part, index) => (part === '*' ? parts.length > index + 1 : part === parts[index]));
    if (fits && pattern.length > (best?.length ?? 0)) {
      best = { rule, name: parts.slice(0, pattern.length).join('/'), length: pattern.length };
    }
  }
  return best;
}

const isUnder = (file, place) => file === place || file.startsWith(`${place}/`);
const isBuiltin = (specifier) => specifier.startsWith('node:') || builtinModules.includes(specifier);

function packageOf(specifier) {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/** Every way to name another module: import, export from, import(), import type, require, new URL(x, import.meta.url). */
export function importsOf(program) {
  const found = [];
  walk(program, (node) => {
    const specifier = specifierOf(node);
    if (typeof specifier === 'string') found.push({ node, specifier });
  });
  return found;
}

function specifierOf(node) {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
    case 'TSImportType':
      return node.source?.value;
    case 'TSExternalModuleReference':
      return node.expression.value;
    case 'CallExpression':
      return node.callee.type === 'Identifier' && node.callee.name === 'require' ? node.arguments[0]?.value : undefined;
    case 'NewExpression':
      return node.callee.name === 'URL' && node.arguments[1]?.object?.type === 'MetaProperty'
        ? node.arguments[0]?.value
        : undefined;
  }
}

function uses(node, { name, memberOf }) {
  if (!memberOf) return node.type === 'Identifier' && node.name === name;
  return (
    node.type === 'MemberExpression' &&
    memberOf.includes(node.object.name) &&
    (node.property.name ?? node.property.value) === name
  );
}

function find(program, test) {
  let found;
  walk(program, (node) => {
    if (!found && test(node)) found = node;
  });
  return found;
}

function walk(value, visit) {
  if (Array.isArray(value)) for (const item of value) walk(item, visit);
  else if (value && typeof value === 'object') {
    if (typeof value.type === 'string') visit(value);
    for (const key in value) walk(value[key], visit);
  }
}

export function listFiles(folders, pattern) {
  return folders
    .filter((folder) => fs.existsSync(path.join(ROOT, folder)))
    .flatMap((folder) =>
      fs
        .readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .map((name) => path.posix.join(folder, name.split(path.sep).join('/'))),
    )
    .filter((file) => pattern.test(file));
}

/** Checks the whole tree. @returns {{files: number, wrong: string[], long: string[]}} */
export function checkTree() {
  const layered = listFiles(['electron', 'renderer'], /\.tsx?$/);
  const read = (file) => fs.readFileSync(path.join(ROOT, file), 'utf8');
  const long = listFiles(['electron', 'renderer', 'native', 'metal', 'test'], /\.(tsx?|mjs|cjs|css|c|cpp|h|inl|metal)$/)
    .map((file) => ({ file, lines: read(file).split('\n').length }))
    // the shapes of the whole store stand in one file; test/figures.mjs has its limit
    .filter(({ file, lines }) => lines > LONG_FILE && file !== 'renderer/state/appState.ts')
    .map(({ file, lines }) => `${file}: ${lines} lines; over ${LONG_FILE} a file is usually two.`);
  return { files: layered.length, wrong: layered.flatMap((file) => checkFile(file, read(file))), long };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { files, wrong, long } = checkTree();
  for (const line of long) console.warn(`warning: ${line}`);
  for (const line of wrong) console.error(line);
  console.log(`layers: ${files} files, ${wrong.length} violations`);
  if (wrong.length > 0) process.exitCode = 1;
}
