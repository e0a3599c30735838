// The engine for a plain Node script, by the project's own TypeScript, which Vite loads as it is; and the constants of centred
// turbo caches, as the app measures them at a model's first load.

import fs from 'node:fs';
import path from 'node:path';
import { runnerImport } from 'vite';
import { ROOT } from '../../../native/prepare/paths.mjs';

const TEXT = path.join(ROOT, 'assets', 'calibration', 'text.txt');
const TOKENS = 1024;

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

/** As electron/engine/calibration.ts rounds it. */
const positionsFor = (nCtx) => 2 ** Math.ceil(Math.log2(Math.max(512, nCtx)));

/**
 * Measurements by length of context, each taken when it is first asked for.
 * @param {import('../../../electron/engine/native/types').Model} model
 * @param {number} threads
 * @param {(line: string) => void} say
 * @returns {(nCtx: number) => Promise<Uint8Array | null>} null, and a line: this model cannot be measured, nothing is centred
 */
export function calibrations(model, threads, say) {
  const text = fs.readFileSync(TEXT, 'utf8');
  const taken = new Map();
  return async (nCtx) => {
    const positions = positionsFor(nCtx);
    if (!taken.has(positions)) taken.set(positions, await calibrate(model, { text, threads, positions }, say));
    return taken.get(positions);
  };
}

async function calibrate(model, options, say) {
  try {
    return await model.calibrate({ maxTokens: TOKENS, ...options });
  } catch (error) {
    if (error.code !== 'model-unsupported') throw error;
    say(`Nothing is centred: ${error.message}`);
    return null;
  }
}
