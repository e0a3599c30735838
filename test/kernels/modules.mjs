// The sources that the tests compile: what is checked, and what the cases find under a name.

import path from 'node:path';
import { METAL, NATIVE, TREE } from '../../native/prepare/paths.mjs';
import { HERE } from './toolchain.mjs';

const UPSTREAM_METAL = path.join(TREE, 'ggml', 'src', 'ggml-metal');
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
