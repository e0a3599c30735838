// Makes what the tests run: rewritten sources, modules and the program with the cases.

import fs from 'node:fs';
import path from 'node:path';
import { METAL, NATIVE, TREE } from '../../native/prepare/paths.mjs';
import { modules } from './modules.mjs';
import { amalgamate } from './source/amalgamate.mjs';
import { rewrite } from './source/rewrite.mjs';
import { compileHost, compileModule, HERE, link, OUT, write } from './toolchain.mjs';

const UPSTREAM_GGML = path.join(TREE, 'ggml');
const INCLUDES = [
  path.join(UPSTREAM_GGML, 'include'),
  path.join(UPSTREAM_GGML, 'src'),
  path.join(UPSTREAM_GGML, 'src', 'ggml-metal'),
  path.join(NATIVE, 'cache'),
  path.join(METAL, 'kernels'),
  path.join(METAL, 'host'),
];

/**
 * The rewritten text of a module.
 * @param {import('./modules.mjs').Module} module
 * @param {'check' | 'exec'} mode
 * @param {(text: string) => string} [change] a planted mistake
 */
export function source(module, mode, { name = module.name, change = (text) => text, keep = module.keep } = {}) {
  const { text } = amalgamate(module.file, { folders: module.folders });
  const file = path.join(OUT, 'sources', `${name}.${mode}.cpp`);
  write(file, rewrite(change(text), { mode, keep }).text);
  return file;
}

/** @returns {Promise<string>} the shared object of a module */
export function buildModule(module, options = {}) {
  const name = options.name ?? module.name;
  const defines = (module.defines[0] ?? []).map((define) => `-D${define}`);
  return compileModule(source(module, 'exec', options), { name, flags: [...defines, ...(options.flags ?? [])] });
}

/** @returns {Promise<string>} the program with all cases */
export async function buildCases() {
  const sources = [...filesIn(path.join(HERE, 'exec')), ...filesIn(path.join(HERE, 'cases')), ...plans()];
  const objects = await twoAtATime(sources, (file) => compileHost(file, INCLUDES));
  const program = path.join(OUT, 'kernel-cases');
  await link(program, objects);
  return program;
}

export const buildModules = () =>
  twoAtATime(modules(), async (module) => ({ module, file: await buildModule(module) }));

/** The plans of metal/host: plain C++, the same that the app encodes from. */
function plans() {
  const folder = path.join(METAL, 'host');
  return fs.existsSync(folder) ? filesIn(folder) : [];
}

function filesIn(folder) {
  return fs
    .readdirSync(folder)
    .filter((name) => name.endsWith('.cpp'))
    .map((name) => path.join(folder, name));
}

/** Two compilers at once: what a runner of CI has cores for. Results keep the order. */
export async function twoAtATime(items, body) {
  const results = new Array(items.length);
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await body(items[index], index);
    }
  };
  await Promise.all([worker(), worker()]);
  return results;
}
