// CHECK mode of one module: types with address spaces, attributes, and no pointer without an address space.

import path from 'node:path';
import { writeSource } from './build.mjs';
import { genericPointers } from './source/address-spaces.mjs';
import { syntaxTree, typeCheck } from './toolchain.mjs';

/**
 * @param {import('./modules.mjs').Module} module
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
