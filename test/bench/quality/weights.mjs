// Weights in f16, so that a measurement of the cache measures nothing else: products of quantized weights round the
// activations to 8 bits, and any change of a cache, however small, then costs as much as q8_0 does. Made from a file by upstream's
// llama-quantize, kept by the content of that file.

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { BIN, BUILD } from '../../../native/prepare/paths.mjs';
import { must, withLock } from '../../../native/prepare/process.mjs';
import { readPin } from '../../../native/prepare/upstream.mjs';

/** The tests under Wine name the one that was cross-built. */
const QUANTIZE =
  process.env.CONCERTINA_QUANTIZE ??
  path.join(BIN, process.platform === 'win32' ? 'llama-quantize.exe' : 'llama-quantize');

/** @param {string} file @returns {string} SHA-256 of its content, hexadecimal */
export const contentOf = (file) => createHash('sha256').update(fs.readFileSync(file)).digest('hex');

/**
 * The same model with weights of f16 in place of quantized ones.
 * @param {string} file GGUF
 * @param {{onProgress?: (progress: {fraction: number}) => void, folder?: string, threads?: number, quantize?: string, convert?: typeof requantize}} [options]
 *   folder: where the files are kept; quantize: the llama-quantize that makes them
 * @returns {Promise<string>} its file, made when it is not there yet
 * @throws {import('../../../native/prepare/process.mjs').PrepareError} with what the program said
 */
export async function f16Weights(file, options = {}) {
  const {
    onProgress = () => {},
    folder = path.join(BUILD, 'f16-weights'),
    threads = 0,
    quantize = QUANTIZE,
    convert = requantize,
  } = options;
  const made = path.join(folder, `${contentOf(file).slice(0, 16)}-${readPin().commit.slice(0, 12)}.gguf`);
  return withLock(`${made}.lock`, async () => {
    if (fs.existsSync(made)) return made;
    // what was broken off has another name
    const part = `${made}.part`;
    await convert(file, part, { onProgress, threads, quantize });
    fs.renameSync(part, made);
    return made;
  });
}

async function requantize(from, to, { onProgress, threads, quantize }) {
  const onLine = (line) => {
    // one line for each tensor: [  12/  91] ...
    const [, done, total] = /^\[\s*(\d+)\/\s*(\d+)\]/.exec(line) ?? [];
    if (total) onProgress({ fraction: Number(done) / Number(total) });
  };
  const args = ['--allow-requantize', from, to, 'F16', ...(threads > 0 ? [String(threads)] : [])];
  await must('Making f16 weights', quantize, args, { onLine });
}
