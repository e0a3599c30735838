// The project's own TypeScript in a plain Node script: Vite loads it as it is.

import path from 'node:path';
import { runnerImport } from 'vite';
import { ROOT } from '../../../native/prepare/paths.mjs';

/** What a file of the project exports; `file`: from the root. */
export async function loadTypeScript(file) {
  const { module } = await runnerImport(path.join(ROOT, file), { root: ROOT, configFile: false, logLevel: 'error' });
  return module;
}

/** @returns {Promise<import('../../../electron/engine/native/types').Engine>} */
export async function loadEngine() {
  return (await loadTypeScript('electron/engine/native/engine.ts')).loadEngine();
}

/** All that a measurement leaves open of a context. */
export function contextOptions({ typeK, typeV }, nCtx, threads) {
  return { nCtx, typeK, typeV, flashAttention: /** @type {const} */ ('auto'), threads, batch: 512 };
}
