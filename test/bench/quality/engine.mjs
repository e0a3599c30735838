// The engine for a plain Node script, by the project's own TypeScript, which Vite loads as it is.

import path from 'node:path';
import { runnerImport } from 'vite';
import { ROOT } from '../../../native/prepare/paths.mjs';

/** What the constants of centred caches are measured on, as in the app. */
export const CALIBRATION_TEXT = path.join(ROOT, 'assets', 'calibration', 'text.txt');

/** What a file of the project exports; `file`: from the root. */
export async function loadTypeScript(file) {
  const options = { root: ROOT, configFile: /** @type {const} */ (false), logLevel: /** @type {const} */ ('error') };
  const { module } = await runnerImport(path.join(ROOT, file), { ...options, resolve: { tsconfigPaths: true } });
  return module;
}

/** @returns {Promise<import('../../../electron/engine/native/types').Engine>} */
export async function loadEngine() {
  return (await loadTypeScript('electron/engine/native/engine.ts')).loadEngine();
}

/** All that a measurement leaves open of a context. */
export function contextOptions({ typeK, typeV, recent = 0 }, nCtx, threads) {
  return {
    nCtx,
    typeK,
    typeV,
    recentTokens: recent,
    flashAttention: /** @type {const} */ ('auto'),
    threads,
    batch: 512,
  };
}

/** The tokens of a text, over and over, until there are enough. @param {Int32Array} once at least one @param {number} wanted */
export function fill(once, wanted) {
  return Int32Array.from({ length: wanted }, (_, at) => once[at % once.length] ?? 0);
}
