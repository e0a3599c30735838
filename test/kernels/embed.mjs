// The part of the macOS build that can be made here: CMake's text of the library, and the object that has it inside.

import fs from 'node:fs';
import path from 'node:path';
import { forgetMovedBuild } from '../../native/prepare/cmake-cache.mjs';
import { amalgamate } from '../../native/prepare/metal-source.mjs';
import { METAL, NATIVE, TREE } from '../../native/prepare/paths.mjs';
import { must } from '../../native/prepare/process.mjs';
import { CLANG, OUT, write } from './toolchain.mjs';

const UPSTREAM = path.join(TREE, 'ggml', 'src', 'ggml-metal');

/** Upstream's target with its include folders, and the switch that its options set on macOS; "hooks" compiles what the target would. */
const PROJECT = `cmake_minimum_required(VERSION 3.22)
project(embed C CXX)
set(CMAKE_CXX_STANDARD 17)
set(GGML_METAL_EMBED_LIBRARY ON)
add_subdirectory(ggml-metal)
add_subdirectory("${METAL}" metal)
add_library(hooks OBJECT "${METAL}/host/mac/encode.cpp" "${METAL}/host/plan-copy.cpp" hook.c)
target_include_directories(hooks PRIVATE $<TARGET_PROPERTY:ggml-metal,INCLUDE_DIRECTORIES>)
`;

/** The include folders that ggml_add_backend_library and ggml-base give. */
const TARGET = `add_library(ggml-metal STATIC "\${CMAKE_SOURCE_DIR}/stub.c")
target_include_directories(ggml-metal PRIVATE "${path.dirname(UPSTREAM)}" "${path.join(TREE, 'ggml', 'include')}" "${path.join(NATIVE, 'turbo')}" "${path.join(NATIVE, 'turbo', 'codec')}")
`;

/** @param {import('./modules.mjs').Module} module @returns {Promise<string>} what is wrong; empty: nothing */
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
