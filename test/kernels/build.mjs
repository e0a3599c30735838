// Makes what the tests run: the sources that are checked and executed, rewritten; modules of them; the program with the cases.

import fs from 'node:fs';
import path from 'node:path';
import { amalgamate } from '../../native/prepare/metal-source.mjs';
import { METAL, NATIVE, ROOT, TREE } from '../../native/prepare/paths.mjs';
import { twoAtATime } from '../programs.mjs';
import { rewrite } from './rewrite.mjs';
import { compileHost, compileModule, compiles, HERE, link, OUT, write } from './toolchain.mjs';

const UPSTREAM_GGML = path.join(TREE, 'ggml');
const UPSTREAM_METAL = path.join(UPSTREAM_GGML, 'src', 'ggml-metal');
/** Our plans and hooks: plain C++ that upstream's calls. */
const OUR_HOST = [path.join(METAL, 'host'), path.join(METAL, 'host', 'mac')];
const INCLUDES = [
  path.join(UPSTREAM_GGML, 'include'),
  path.join(UPSTREAM_GGML, 'src'),
  UPSTREAM_METAL,
  path.join(NATIVE, 'turbo'),
  path.join(NATIVE, 'turbo', 'codec'),
  path.join(METAL, 'kernels'),
  ...OUR_HOST,
];

// --- the sources: what is checked, and what the cases find under a name

const UPSTREAM_FOLDERS = [path.join(UPSTREAM_METAL, 'kernels'), UPSTREAM_METAL, path.dirname(UPSTREAM_METAL)];

/** Where our own .metal files find their includes: ours and the byte layouts, as in metal/CMakeLists.txt. */
const OUR_FOLDERS = [path.join(METAL, 'kernels'), path.join(NATIVE, 'turbo', 'codec')];

/**
 * keep: host names that EXEC instantiates (all kernels when missing; every one costs one to two seconds to compile);
 * fast: host names that are compiled for fast math too, for the cases named "any math";
 * defines: preprocessor branches, each checked on its own; the first is executed; lint: ours must have no generic pointers.
 * @typedef {{name: string, file: string, folders: string[], keep?: RegExp, fast?: RegExp, defines: string[][], lint: boolean}} Module
 */

/** @returns {Module[]} */
export function modules() {
  return [
    ...['group-sum', 'collectives'].map(fixture),
    {
      name: 'upstream-fa',
      file: path.join(UPSTREAM_METAL, 'kernels', 'fa.metal'),
      folders: UPSTREAM_FOLDERS,
      keep: /kernel_flash_attn_ext_(vec_(q8_0_dk(64_dv64|128_dv128|256_dv256)|reduce)|kv_q8_0_f16)/,
      defines: [[]],
      fast: /kernel_flash_attn_ext_vec_(q8_0_dk128_dv128|reduce)/,
      lint: false,
    },
    OURS,
  ];
}

const fixture = (name) => ({
  name,
  file: path.join(HERE, 'fixtures', `${name}.metal`),
  folders: [],
  defines: [[]],
  lint: true,
});

/** The one library that the app embeds. Nothing in it depends on a define. */
const OURS = {
  name: 'turbo',
  file: path.join(METAL, 'kernels', 'turbo.metal'),
  folders: OUR_FOLDERS,
  defines: [[]],
  fast: /kernel_turbo_(attention_dk128_dv128_q4|attention_merge|set_rows_.*)/,
  lint: true,
};

// --- compiled

/** Instantiations in one shared object: enough objects that both cores have work. */
const KERNELS_PER_OBJECT = 5;

/** The other end of Metal's fast math: sums in any order, fused, reciprocals; infinities stay, as masks need them. */
const FAST_FLAGS = ['-ffast-math', '-fno-finite-math-only', '-ffp-contract=fast', '-mfma'];

/** @typedef {{name?: string, change?: (text: string) => string, keep?: RegExp}} SourceOptions change: plants a mistake */

/**
 * Writes the rewritten text of a module.
 * @param {Module} module
 * @param {'check' | 'exec'} mode
 * @param {SourceOptions} [options]
 * @returns {{file: string, kernels: string[]}}
 */
export function writeSource(module, mode, { name = module.name, change = (text) => text, keep = module.keep } = {}) {
  const whole = amalgamate(module.file, { folders: module.folders, lines: true }).text;
  // #line with the path inside the clone: the objects of another clone are the same (toolchain.mjs)
  const text = whole.replaceAll(`"${ROOT}${path.sep}`, '"');
  const rewritten = rewrite(change(text), { mode, keep });
  const file = path.join(OUT, 'sources', `${name}.${mode}.cpp`);
  write(file, rewritten.text);
  return { file, kernels: rewritten.kernels };
}

/** @param {SourceOptions & {fast?: boolean}} [options] @returns {Promise<string>} the shared object of a module */
export function buildModule(module, { fast = false, ...options } = {}) {
  const { file } = writeSource(module, 'exec', options);
  const defines = (module.defines[0] ?? []).map((define) => `-D${define}`);
  const language = module.lint ? ['-Werror=c++17-extensions'] : [];
  const flags = [...defines, ...language, ...(fast ? FAST_FLAGS : [])];
  return compileModule(file, { name: options.name ?? module.name, flags });
}

/**
 * All modules, in several objects each where that is faster.
 * @param {{fast?: boolean}} [options] fast: those with kernels for fast math, instead of all
 * @returns {Promise<string[]>} arguments of the program
 */
export async function buildModules({ fast = false } = {}) {
  const chosen = modules().filter((module) => !fast || module.fast);
  const jobs = chosen.flatMap((module) => parts(module, fast).map((options) => ({ module, options })));
  const files = await twoAtATime(jobs, ({ module, options }) => buildModule(module, options));
  return chosen.flatMap(({ name }) => {
    const own = files.filter((_, index) => jobs[index].module.name === name);
    return ['--module', `${name}=${own.join(',')}`];
  });
}

function parts(module, fast) {
  const keep = fast ? module.fast : module.keep;
  const { kernels } = writeSource(module, 'exec', { name: `${module.name}.all`, keep });
  const count = Math.max(1, Math.ceil(kernels.length / KERNELS_PER_OBJECT));
  return Array.from({ length: count }, (_, part) => ({
    name: `${module.name}${fast ? '.fast' : ''}.${part}`,
    keep: new RegExp(kernels.filter((_, index) => index % count === part).join('|')),
    fast,
  }));
}

/** The part of the addon that only a build with Metal has. @returns {Promise<string>} what is wrong; empty: nothing */
export function checkAddon() {
  const llama = ['include', 'common', 'vendor', 'tools/server', 'tools/mtmd'].map((name) => path.join(TREE, name));
  // template: the patched headers of llama-common include it
  const ours = ['template', 'addon', path.join('turbo', 'llama')].map((name) => path.join(NATIVE, name));
  const file = path.join(NATIVE, 'addon', 'machine', 'Kernels.cpp');
  return compiles(file, [...INCLUDES, ...llama, ...ours], ['CONCERTINA_METAL']);
}

/** @returns {Promise<string>} the program with all cases */
export async function buildCases() {
  const sources = [
    ...filesIn(path.join(HERE, 'exec')),
    ...filesIn(path.join(HERE, 'cases')),
    ...filesIn(path.join(HERE, 'mac')),
    ...OUR_HOST.flatMap(filesIn),
    path.join(ROOT, 'test', 'native', 'attention', 'attention-reference.cpp'),
    ...filesIn(UPSTREAM_METAL),
  ];
  const objects = await twoAtATime(sources, (file) => compileHost(file, INCLUDES));
  const program = path.join(OUT, 'kernel-cases');
  await link(program, objects);
  return program;
}

function filesIn(folder) {
  return fs
    .readdirSync(folder)
    .filter((name) => name.endsWith('.cpp'))
    .map((name) => path.join(folder, name));
}
