// Where the engine's sources and build products lie. Everything generated is under build/, which git ignores.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

export const NATIVE = path.join(ROOT, 'native');
export const METAL = path.join(ROOT, 'metal');
export const PATCHES = path.join(NATIVE, 'patches');

export const BUILD = path.join(ROOT, 'build');
export const CACHE = path.join(BUILD, 'cache');
export const UPSTREAM = path.join(BUILD, 'upstream');
export const PRISTINE = path.join(UPSTREAM, 'pristine.git');
export const TREE = path.join(UPSTREAM, 'llama.cpp');
export const OUT = path.join(BUILD, 'native');
export const BIN = path.join(OUT, 'bin');
/** The engine for Windows, cross-built. */
export const WINDOWS_OUT = path.join(BUILD, 'native-windows');
export const WINDOWS_BIN = path.join(WINDOWS_OUT, 'bin');

/** The engine that packages of this system hold. On Windows the cross-built one, where it was brought here: that one is tested. */
export function packedBin(arch = process.arch) {
  if (process.platform === 'win32' && fs.existsSync(path.join(WINDOWS_BIN, 'concertina.node'))) return WINDOWS_BIN;
  return arch === process.arch ? BIN : path.join(BUILD, `native-addon-${arch}`, 'bin');
}
