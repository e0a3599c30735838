// The models of this tree: the built-in one, a smaller one for tests that need a real model and not good answers, and one for
// measurements of heads of 64 values.

import path from 'node:path';
import { ROOT } from '../native/prepare/paths.mjs';

/** what people get: for tests of answers, and of what a person does */
export const smallModel = path.join(ROOT, 'assets', 'models', 'concertina-small-q6_K.gguf');
/** twice as fast, trained for 8,192 tokens, not packaged */
export const tinyModel = path.join(ROOT, 'test', 'fixtures', 'models', 'concertina-tiny-q8_0.gguf');

/** head_dim 64, eight query heads for each of two KV heads; 8,192 tokens, not packaged */
const heads64Model = path.join(ROOT, 'test', 'fixtures', 'heads64', 'concertina-heads64-q4_K_M.gguf');

/** Of the benches' `--model`: `small`, `tiny`, `heads64`, or a file. @param {string} name @returns {string} path of a GGUF file */
export function modelFile(name) {
  return { small: smallModel, tiny: tinyModel, heads64: heads64Model }[name] ?? name;
}
