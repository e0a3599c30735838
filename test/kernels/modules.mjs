// The sources that the tests compile: what is checked, and what the cases find under a name.

import fs from 'node:fs';
import path from 'node:path';
import { METAL, NATIVE, TREE } from '../../native/prepare/paths.mjs';
import { HERE } from './toolchain.mjs';

const UPSTREAM_METAL = path.join(TREE, 'ggml', 'src', 'ggml-metal');
const UPSTREAM_FOLDERS = [path.join(UPSTREAM_METAL, 'kernels'), UPSTREAM_METAL, path.dirname(UPSTREAM_METAL)];

/** Where our own .metal files find their includes: ours, the byte layouts, upstream's. */
const OUR_FOLDERS = [path.join(METAL, 'kernels'), path.join(NATIVE, 'cache'), ...UPSTREAM_FOLDERS];

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
      keep: /kernel_flash_attn_ext_vec_(q8_0_dk(64_dv64|128_dv128|256_dv256)|reduce)/,
      defines: [[]],
      fast: /kernel_flash_attn_ext_vec_(q8_0_dk128_dv128|reduce)/,
      lint: false,
    },
    ...ours(),
  ];
}

const fixture = (name) => ({
  name,
  file: path.join(HERE, 'fixtures', `${name}.metal`),
  folders: [],
  defines: [[]],
  lint: true,
});

/** Every .metal file of metal/kernels, under its name without the ending. */
function ours() {
  const folder = path.join(METAL, 'kernels');
  const files = fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith('.metal')) : [];
  return files.map((name) => ({
    name: path.basename(name, '.metal'),
    file: path.join(folder, name),
    folders: OUR_FOLDERS,
    defines: [[], ['GGML_METAL_HAS_BF16']],
    lint: true,
  }));
}
