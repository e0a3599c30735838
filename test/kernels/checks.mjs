// What is checked without executing a kernel: types and address spaces, the text and the object that the build on macOS embeds, and
// on a Mac Apple's own compiler.

import fs from 'node:fs';
import path from 'node:path';
import { forgetMovedBuild } from '../../native/prepare/cmake-cache.mjs';
import { amalgamate } from '../../native/prepare/metal-source.mjs';
import { METAL, NATIVE, TREE } from '../../native/prepare/paths.mjs';
import { must, run } from '../../native/prepare/process.mjs';
import { writeSource } from './build.mjs';
import { CLANG, OUT, syntaxTree, typeCheck, write } from './toolchain.mjs';

/**
 * CHECK mode of one module: types with address spaces, attributes, and no pointer without an address space.
 * @param {import('./build.mjs').Module} module
 * @param {{defines?: string[], name?: string, change?: (text: string) => string}} [options]
 * @returns {Promise<string>} what is wrong; empty: nothing
 */
export async function checkModule(module, options = {}) {
  try {
    return await findings(module, options);
  } catch (error) {
    return error.message;
  }
}

async function findings(module, { defines = [], name = module.name, change } = {}) {
  const wrong = await typeCheck(writeSource(module, 'check', { name, change }).file, { defines, strict: module.lint });
  if (wrong || !module.lint) return wrong;
  // templates are read once, not per instantiation
  const bare = writeSource(module, 'check', { name: `${name}.templates`, change, keep: /none/ }).file;
  const found = genericPointers(await syntaxTree(bare, { defines }), isOurs);
  return found.map((line) => `no address space: ${path.basename(line)}`).join('\n');
}

/** Of a module with lint, only what is in the shim or upstream's is somebody else's. */
const isOurs = (file) => file !== '' && !file.includes('/shim/') && !file.includes('/build/upstream/');

// --- pointers and references declared without an address space. Metal refuses them; C++ for OpenCL makes them __generic and
// accepts, so CHECK mode alone does not see them. Read from clang's syntax tree.

const DECLARATIONS = new Set(['ParmVarDecl', 'VarDecl', 'FieldDecl']);
const CASTS = new Set(['CStyleCastExpr', 'CXXStaticCastExpr', 'CXXReinterpretCastExpr', 'CXXFunctionalCastExpr']);
const SPACES = ['__global', '__constant', '__local', '__private'];

/**
 * @param {object} tree of `clang -ast-dump=json`
 * @param {(file: string) => boolean} isOurs which files to look at
 * @returns {string[]} one line each: "file:line: name: type"
 */
export function genericPointers(tree, isOurs) {
  const place = { file: '', line: 0 };
  const found = new Set();
  visit(tree, place, (node, { file, line }) => {
    if (!isOurs(file)) return;
    const type = node.type?.qualType ?? '';
    const declared = DECLARATIONS.has(node.kind) && node.name && isGeneric(type);
    if (declared || (CASTS.has(node.kind) && isGeneric(type)))
      found.add(`${file}:${line}: ${node.name ?? 'cast'}: ${type}`);
  });
  return [...found];
}

/** Types of functions carry brackets and have no address space themselves; those of references to arrays do: T (&)[N]. */
function isGeneric(written) {
  const type = written.replace(/\(([*&])\)(?=\[)/, '$1');
  if (type.includes('(') || !/[*&]/.test(type)) return false;
  if (type.includes('__generic')) return true;
  return !type.includes('auto') && !SPACES.some((space) => type.split(/[*&]/)[0].includes(space));
}

function visit(node, place, body) {
  if (!node || typeof node !== 'object') return;
  move(place, node.loc);
  const at = { ...place };
  move(place, node.range?.begin);
  move(place, node.range?.end);
  if (!node.isImplicit) body(node, node.loc ? at : place);
  for (const child of node.inner ?? []) visit(child, place, body);
}

/** The dumper leaves out file and line where they are those of the location printed before. */
function move(place, location = {}) {
  for (const part of ['spellingLoc', 'expansionLoc']) if (location[part]) move(place, location[part]);
  const file = location.presumedFile ?? location.file;
  const line = location.presumedLine ?? location.line;
  if (file) place.file = file;
  if (line) place.line = line;
}

// --- the part of the macOS build that can be made here: CMake's text of the library, and the object that has it inside

const UPSTREAM = path.join(TREE, 'ggml', 'src', 'ggml-metal');

/** Upstream's target with its include folders, and the switch that its options set on macOS; "hooks" compiles what the target would. */
const PROJECT = `cmake_minimum_required(VERSION 3.22)
project(embed C CXX)
set(CMAKE_CXX_STANDARD 17)
set(GGML_METAL_EMBED_LIBRARY ON)
add_subdirectory(ggml-metal)
add_subdirectory("${METAL}" metal)
add_library(hooks OBJECT "${METAL}/host/mac/encode.cpp" "${METAL}/host/plan.cpp" hook.c)
target_include_directories(hooks PRIVATE $<TARGET_PROPERTY:ggml-metal,INCLUDE_DIRECTORIES>)
`;

/** The include folders that ggml_add_backend_library and ggml-base give. */
const TARGET = `add_library(ggml-metal STATIC "\${CMAKE_SOURCE_DIR}/stub.c")
target_include_directories(ggml-metal PRIVATE "${path.dirname(UPSTREAM)}" "${path.join(TREE, 'ggml', 'include')}" "${path.join(NATIVE, 'turbo')}" "${path.join(NATIVE, 'turbo', 'codec')}")
`;

/** @param {import('./build.mjs').Module} module @returns {Promise<string>} what is wrong; empty: nothing */
export async function checkEmbedding(module) {
  const folder = path.join(OUT, 'embed');
  write(path.join(folder, 'CMakeLists.txt'), PROJECT);
  write(path.join(folder, 'ggml-metal', 'CMakeLists.txt'), TARGET);
  for (const name of fs.readdirSync(UPSTREAM).filter((file) => file.endsWith('.h')))
    write(path.join(folder, 'ggml-metal', name), fs.readFileSync(path.join(UPSTREAM, name), 'utf8'));
  write(path.join(folder, 'stub.c'), 'int stub;\n');
  write(path.join(folder, 'hook.c'), '#include <stddef.h>\n#include <stdint.h>\n#include "turbo-metal.h"\n');
  const build = path.join(folder, 'build');
  forgetMovedBuild({ source: folder, build }, console.error);
  await must('Configuring metal/', 'cmake', ['-S', folder, '-B', build]);
  await must('Making the library of kernels', 'cmake', ['--build', build, '--target', 'turbo-metal-source', 'hooks']);
  const source = path.join(build, 'metal', 'turbo.metal');
  const text = fs.readFileSync(source, 'utf8');

  const left = /^\s*#\s*include\s*".*/m.exec(text);
  if (left) return `an include is left: ${left[0].trim()}`;
  if (text !== amalgamate(module.file, { folders: module.folders }).text)
    return 'CMake makes another text than is tested';

  const object = path.join(folder, 'embed.o');
  const define = `-DTURBO_METAL_SOURCE="${source}"`;
  const embed = path.join(METAL, 'host', 'mac', 'embed.c');
  await must('Embedding', CLANG.replace('++', ''), ['--target=arm64-apple-macos13', define, '-c', embed, '-o', object]);
  const bytes = fs.readFileSync(object);
  const wanted = ['_ggml_metallib_turbo_start', '_ggml_metallib_turbo_end', text];
  return wanted.every((part) => bytes.includes(part)) ? '' : 'the object has not the text between its two symbols';
}

// --- on a Mac: Apple's own compiler takes the text that the app embeds

/** Languages of macOS 13, 15 and 26: at run time Metal takes the newest that the system knows. */
export const LANGUAGES = ['metal3.0', 'metal3.2', 'metal4.0'];
const FLAGS = ['-Wall', '-c', '-o', '/dev/null'];
/** What clang says to a language that this Xcode does not have yet. */
const UNKNOWN = /invalid value '[^']*' in '-std=/;

/**
 * @param {import('./build.mjs').Module} module
 * @param {string} language
 * @returns {Promise<{problem: string, unknown: boolean}>} problem is empty where nothing is wrong; unknown: no such language here
 */
export async function compileWithApple({ name, file, folders }, language) {
  const whole = path.join(OUT, 'apple', `${name}.metal`);
  write(whole, amalgamate(file, { folders }).text);
  const { code, stdout, stderr } = await run('xcrun', ['-sdk', 'macosx', 'metal', `-std=${language}`, ...FLAGS, whole]);
  if (code === 0 && stderr) console.log(stderr.trimEnd());
  const problem = code === 0 ? '' : `${stdout}${stderr}` || `xcrun ended with ${code}`;
  return { problem, unknown: UNKNOWN.test(stderr) };
}
