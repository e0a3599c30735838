/**
 * Finds and loads `concertina.node`: CONCERTINA_ADDON (tests), the resources of a packaged app, or build/native/bin of the
 * source tree. Works as an ES module and inside the CommonJS bundles of the app.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConcertinaError } from '../../contract/errors';
import { NativeEngine } from './engine';
import type { RawAddon } from './raw';
import type { Engine } from './types';

const FILE = 'concertina.node';
const hint = 'Build the engine with: npm run build:engine. In an installed app: install it again.';

let loaded: Engine | null = null;

/** throws `engine-unavailable` */
export function loadEngine(): Engine {
  loaded ??= new NativeEngine(loadAddon());
  return loaded;
}

export function loadAddon(file = findAddon()): RawAddon {
  const holder: { exports: unknown } = { exports: {} };
  try {
    process.dlopen(holder, file, os.constants.dlopen?.RTLD_NOW ?? 0);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConcertinaError('engine-unavailable', `The engine cannot be loaded: ${reason}`, hint, { cause: error });
  }
  return holder.exports as RawAddon;
}

function findAddon(): string {
  const candidates = addonCandidates();
  const found = candidates.find((file) => fs.existsSync(file));
  if (found) return found;
  throw new ConcertinaError('engine-unavailable', `The engine was not found in ${candidates.join(', ')}`, hint);
}

/** where to look, in this order */
export function addonCandidates(
  env: NodeJS.ProcessEnv = process.env,
  resources: string | undefined = (process as { resourcesPath?: string }).resourcesPath,
  here: string = folderOfThisFile(),
): string[] {
  if (env.CONCERTINA_ADDON) return [env.CONCERTINA_ADDON];
  const packaged = resources ? [path.join(resources, 'native', FILE)] : [];
  return [...packaged, ...ancestors(here).map((folder) => path.join(folder, 'build', 'native', 'bin', FILE))];
}

function folderOfThisFile(): string {
  return typeof __dirname === 'string' ? __dirname : path.dirname(fileURLToPath(import.meta.url));
}

/** the folder and three above it: electron/engine/native in the source tree, build/app as a bundle */
function ancestors(folder: string): string[] {
  return [0, 1, 2, 3].map((levels) => path.resolve(folder, ...Array<string>(levels).fill('..')));
}
