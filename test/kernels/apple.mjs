// On a Mac: Apple's own compiler takes the text that the app embeds.

import path from 'node:path';
import { amalgamate } from '../../native/prepare/metal-source.mjs';
import { run } from '../../native/prepare/process.mjs';
import { OUT, write } from './toolchain.mjs';

/** Metal 3.0 came with macOS 13; the app asks for no newer language. */
const FLAGS = ['-std=metal3.0', '-Wall', '-c', '-o', '/dev/null'];

/**
 * @param {import('./modules.mjs').Module} module
 * @returns {Promise<string>} what is wrong; empty: nothing
 */
export async function compileWithApple({ name, file, folders }) {
  const whole = path.join(OUT, 'apple', `${name}.metal`);
  write(whole, amalgamate(file, { folders }).text);
  const { code, stdout, stderr } = await run('xcrun', ['-sdk', 'macosx', 'metal', ...FLAGS, whole]);
  if (code !== 0) return `${stdout}${stderr}` || `xcrun ended with ${code}`;
  if (stderr) console.log(stderr.trimEnd());
  return '';
}
