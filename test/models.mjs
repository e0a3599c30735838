// The two models of this tree: the built-in one, and a smaller one for tests that need a real model and not good answers.

import path from 'node:path';
import { ROOT } from '../native/prepare/paths.mjs';

/** what people get: for tests of answers, and of what a person does */
export const smallModel = path.join(ROOT, 'assets', 'models', 'concertina-small-q6_K.gguf');
/** twice as fast, trained for 8,192 tokens, not packaged */
export const tinyModel = path.join(ROOT, 'test', 'fixtures', 'models', 'concertina-tiny-q8_0.gguf');

/** Of the benches' `--model`: `small`, `tiny`, or a file. @param {string} name @returns {string} path of a GGUF file */
export function modelFile(name) {
  return { small: smallModel, tiny: tinyModel }[name] ?? name;
}
