// On a Mac: Apple's own compiler takes the text that the app embeds.

import path from 'node:path';
import { amalgamate } from '../../native/prepare/metal-source.mjs';
import { run } from '../../native/prepare/process.mjs';
import { OUT, write } from './toolchain.mjs';

/** Languages of macOS 13, 15 and 26: at run time Metal takes the newest that the system knows. */
export const LANGUAGES = ['metal3.0', 'metal3.2', 'metal4.0'];
const FLAGS = ['-Wall', '-c', '-o', '/dev/null'];
/** What clang says to a language that this Xcode does not have yet. */
const UNKNOWN = /invalid value '[^']*' in '-std=/;

/**
 * @param {import('./modules.mjs').Module} module
 * @param {string} language
 * @returns {Promise<{problem: string, unknown: boolean}>} problem is empty where nothing is wrong; unknown: no such language here
 */
export async function compileWithApple({ name, file, folders }, language) {
  const whole = path.join(OUT, 'apple', `${name}.metal`);
  write(whole, amalgamate(file, { folders }).text);
  const { code, stdout, stderr } = await run('xcrun', ['-sdk', 'macosx', 'metal', `-std=${language}`, ...FLAGS, whole]);
  if (code === 0 && stderr) console.log(stderr.trimEnd());
  const problem = code === 0 ? '' : `${stdout}${stderr}` || `xcrun ended with ${code}`;
  return { problem, unknown: UNKNOWN.test(stderr) };
}
