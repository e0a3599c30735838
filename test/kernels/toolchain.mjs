// clang 19 and its flags for the three things compiled here: sources to check, sources to execute, the executor itself.
// Objects are cached by the content of everything that went into them, under build/kernels; beyond it by ccache, where it is
// installed: another clone has its objects at once.

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { BUILD, OUT as ENGINE, ROOT, TREE } from '../../native/prepare/paths.mjs';
import { must, PrepareError, run } from '../../native/prepare/process.mjs';

export const OUT = path.join(BUILD, 'kernels');
export const HERE = path.join(ROOT, 'test', 'kernels');
const GGML_LIBRARIES = path.join(ENGINE, 'upstream', 'ggml', 'src');
export const CLANG = 'clang++-19';

/** @returns {Promise<string>} why nothing can be run here; empty: all is there */
export async function whyNot() {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return 'the executor switches stacks on Linux on x86-64 only';
  if ((await run(CLANG, ['--version'])).code !== 0) return `${CLANG} was not found (apt-get install clang-19)`;
  if ((await run('addr2line', ['--version'])).code !== 0) return 'addr2line was not found (apt-get install binutils)';
  return '';
}

const SHIM_FLAGS = ['-include', path.join(HERE, 'shim', 'msl.h')];

/** C++ for OpenCL: real address spaces. No double (an error in MSL too), literals without suffix are float. */
const CHECK_FLAGS = [
  ...['-x', 'clcpp', '-cl-std=clc++2021', '-cl-no-stdinc', '-nostdinc', '-fsyntax-only'],
  ...['-Xclang', '-cl-ext=+cl_khr_fp16,-cl_khr_fp64,-__opencl_c_fp64', '-Xclang', '-cl-single-precision-constant'],
  ...SHIM_FLAGS,
];

/** For our own sources. Attributes of Metal are unknown to clang; the rest comes from the shim's macros and upstream's tables. */
const ACCEPTED = [
  'unknown-attributes',
  'duplicate-decl-specifier',
  'null-dereference',
  'unused-const-variable',
  'unknown-pragmas',
];
const STRICT = ['-Wall', '-Werror', ...ACCEPTED.map((name) => `-Wno-${name}`)];

/** C++14 as Metal 3. Halves are rounded after every operation; every access of memory calls exec/memory.cpp, and so does undefined behaviour. */
const EXEC_FLAGS = [
  ...[
    '-x',
    'c++',
    '-std=c++14',
    '-O1',
    '-gline-tables-only',
    '-gdwarf-4',
    '-fPIC',
    '-fvisibility=hidden',
    '-fsigned-char',
    '-Wno-everything',
  ],
  ...['-ffp-contract=off', '-Xclang', '-ffloat16-excess-precision=none', '-Xclang', '-cl-single-precision-constant'],
  ...['-fno-exceptions', '-fno-rtti', '-fno-threadsafe-statics', '-fno-stack-protector', '-mf16c'],
  ...[
    '-fsanitize=kernel-address,alignment,array-bounds,shift,integer-divide-by-zero,signed-integer-overflow,float-cast-overflow',
  ],
  '-fno-sanitize-link-runtime',
  ...['asan-globals=0', 'asan-stack=0', 'asan-instrumentation-with-call-threshold=0', 'asan-opt=0'].flatMap(mllvm),
  ...['asan-kernel-mem-intrinsic-prefix=1'].flatMap(mllvm),
  ...SHIM_FLAGS,
];

const HOST_FLAGS = ['-std=c++17', '-O2', '-g1', '-Wall', '-Wextra', '-Wno-missing-field-initializers', '-Werror'];
/** ggml-metal.cpp takes <memory> from Apple's headers. */
const UPSTREAM_FLAGS = ['-std=c++17', '-O1', '-g1', '-w', '-include', 'memory'];

function mllvm(option) {
  return ['-mllvm', `-${option}`];
}

/** Writes only what changes, so that what depends on the file stays valid. */
export function write(file, text) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== text) fs.writeFileSync(file, text);
}

/** @returns {Promise<string>} diagnostics; empty: none */
export async function typeCheck(file, { defines = [], strict = true } = {}) {
  const flags = [...CHECK_FLAGS, ...(strict ? STRICT : ['-w']), ...defines.map((d) => `-D${d}`)];
  const { code, stderr } = await run(CLANG, [...flags, file]);
  return code === 0 ? '' : stderr;
}

/** The syntax tree, as clang prints it. */
export async function syntaxTree(file, { defines = [] } = {}) {
  const flags = [...CHECK_FLAGS, '-w', ...defines.map((d) => `-D${d}`), '-Xclang', '-ast-dump=json'];
  return JSON.parse(await must(`Reading ${path.basename(file)}`, CLANG, [...flags, file]));
}

/** Compiles a rewritten source to a shared object. @returns {Promise<string>} its path */
export async function compileModule(file, { name, flags = [] }) {
  const object = path.join(OUT, 'modules', `${name}.o`);
  await cached(object, [...EXEC_FLAGS, ...flags, '-c', file]);
  const library = path.join(OUT, 'modules', `${name}.so`);
  const runtime = ['-fsanitize=kernel-address', '-fno-sanitize-link-runtime'];
  await must(`Linking ${name}`, CLANG, ['-shared', '-Wl,-z,lazy', ...runtime, '-o', library, object]);
  return library;
}

/** Compiles one file of host code, ours or upstream's. @returns {Promise<string>} path of the object */
export async function compileHost(file, folders = []) {
  const name = path.relative(ROOT, file).replaceAll(path.sep, '_');
  const object = path.join(OUT, 'objects', `${name}.o`);
  const flags = file.startsWith(TREE) ? UPSTREAM_FLAGS : HOST_FLAGS;
  const includes = folders.flatMap((folder) => [folder.startsWith(TREE) ? '-isystem' : '-I', folder]);
  await cached(object, [...flags, ...includes, '-c', file]);
  return object;
}

/** Host code that no target builds here. @returns {Promise<string>} diagnostics; empty: none */
export async function compiles(file, folders, defines) {
  const flags = ['-std=c++17', '-fsyntax-only', '-w', ...folders.flatMap((folder) => ['-I', folder])];
  const { code, stderr } = await run(CLANG, [...flags, ...defines.map((name) => `-D${name}`), file]);
  return code === 0 ? '' : stderr;
}

/** The engine's ggml is linked in: references of the codec, and operations to compare with. */
export async function link(program, objects) {
  const ggml = ['libggml.a', 'libggml-cpu.a', 'libggml-base.a'].map((name) => path.join(GGML_LIBRARIES, name));
  const libraries = [...ggml, '-ldl', '-lm', '-lpthread', '-Wl,--as-needed', '-lgomp'];
  await must(`Linking ${path.basename(program)}`, CLANG, ['-rdynamic', '-o', program, ...objects, ...libraries]);
}

/** Runs the compiler unless the same command on the same contents has made the output already. */
async function cached(output, args) {
  const record = `${output}.json`;
  const command = [CLANG, ...args].join(' ');
  if (isFresh(output, record, command)) return;
  fs.mkdirSync(path.dirname(output), { recursive: true });
  fs.rmSync(record, { force: true });
  const depends = `${output}.d`;
  const { code, stderr } = await compiler([...args, '-MMD', '-MF', depends, '-o', output]);
  if (code !== 0) throw new PrepareError(`Compiling ${path.basename(output)} failed.\n${stderr.trim()}`);
  const files = fs.readFileSync(depends, 'utf8').replace(/\\\n/g, ' ').split(/\s+/).slice(1).filter(Boolean);
  const digests = Object.fromEntries([...new Set(files)].map((file) => [file, digest(file)]));
  fs.writeFileSync(record, JSON.stringify({ command, digests }));
}

let hasCcache;

/** ccache knows an object by relative paths, so that the clone's folder does not matter. */
async function compiler(args) {
  hasCcache ??= run('ccache', ['--version']).then(({ code }) => code === 0);
  if (!(await hasCcache)) return run(CLANG, args);
  const env = { CCACHE_BASEDIR: process.env.CCACHE_BASEDIR ?? ROOT, CCACHE_NOHASHDIR: '1' };
  return run('ccache', [CLANG, ...args], { env });
}

function isFresh(output, record, command) {
  if (!fs.existsSync(output) || !fs.existsSync(record)) return false;
  const known = JSON.parse(fs.readFileSync(record, 'utf8'));
  return (
    known.command === command &&
    Object.entries(known.digests).every(([file, sum]) => fs.existsSync(file) && digest(file) === sum)
  );
}

const digest = (file) => createHash('sha256').update(fs.readFileSync(file)).digest('hex');
