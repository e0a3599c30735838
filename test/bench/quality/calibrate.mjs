// The constants of centred turbo caches, as the app measures them at a model's first load.

import fs from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../../native/prepare/paths.mjs';

const TEXT = path.join(ROOT, 'assets', 'calibration', 'text.txt');
const TOKENS = 1024;

/**
 * @param {import('../../../native/binding/types').Model} model
 * @param {number} threads
 * @param {(progress: {fraction: number}) => void} onProgress
 * @param {(line: string) => void} say
 * @returns {Promise<Uint8Array | null>} null, and a line: this model cannot be measured, nothing will be centred
 */
export async function calibrate(model, threads, onProgress, say) {
  const text = fs.readFileSync(TEXT, 'utf8');
  try {
    const report = (fraction) => onProgress({ fraction });
    return await model.calibrate({ text, maxTokens: TOKENS, threads, onProgress: report });
  } catch (error) {
    if (error.code !== 'model-unsupported') throw error;
    say(`Nothing is centred: ${error.message}`);
    return null;
  }
}
