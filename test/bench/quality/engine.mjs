// The project's engine in a plain Node script: electron/engine/native is TypeScript, which Vite loads as it is.

import path from 'node:path';
import { runnerImport } from 'vite';
import { ROOT } from '../../../native/prepare/paths.mjs';

/** @returns {Promise<import('../../../electron/engine/native/types').Engine>} */
export async function loadEngine() {
  const file = path.join(ROOT, 'electron', 'engine', 'native', 'engine.ts');
  const { module } = await runnerImport(file, { root: ROOT, configFile: false, logLevel: 'error' });
  return module.loadEngine();
}

/** All that a measurement leaves open of a context. */
export function contextOptions({ typeK, typeV }, nCtx, threads) {
  return { nCtx, typeK, typeV, flashAttention: /** @type {const} */ ('auto'), threads, batch: 512 };
}
