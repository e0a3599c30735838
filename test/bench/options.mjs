// Command lines of the commands that measure: what people write, checked.

import { parseArgs } from 'node:util';
import { PrepareError } from '../../native/prepare/process.mjs';

const DEEPEST = 1 << 20;

/** The message is for the person at the command. */
export class CommandError extends Error {}

/** Wrong options. */
export class OptionError extends CommandError {
  name = 'OptionError';
}

/**
 * Runs a command: exit status 2 for wrong options, 1 for other failures, of which those with words for people need no stack.
 * @param {(args: string[]) => Promise<void>} main
 */
export async function runCommand(main) {
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    const known = error instanceof CommandError || error instanceof PrepareError || typeof error.code === 'string';
    console.error(known ? `error: ${[error.message, error.hint].filter(Boolean).join('. ')}` : error);
    process.exitCode = error instanceof OptionError ? 2 : 1;
  }
}

/**
 * @param {string} command of npm run
 * @param {string[]} args
 * @param {string[]} own options with a value besides those that all commands have
 * @throws {OptionError}
 */
export function readArgs(command, args, own) {
  const text = /** @type {const} */ ({ type: 'string' });
  const flag = /** @type {const} */ ({ type: 'boolean', default: false });
  const options = {
    ...Object.fromEntries(['model', 'types', 'depths', 'out', ...own].map((name) => [name, text])),
    help: { ...flag, short: 'h' },
    threads: { ...text, short: 't' },
    quick: flag,
    json: flag,
    'write-docs': flag,
  };
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    const reason = error.message.split('. ')[0].replace(/\.$/, '');
    throw new OptionError(`${reason}. npm run ${command} -- --help lists the options.`);
  }
}

export function list(option, text, preset, parse) {
  if (text === undefined) return [...preset];
  const parts = text.split(',').map((part) => part.trim());
  if (parts.some((part) => part === '')) {
    throw new OptionError(`${option} is a list with commas${preset.length > 0 ? `, as in ${preset.join(',')}` : ''}.`);
  }
  return [...new Set(parts.map(parse))];
}

/** A number of tokens: 4096 or 4K. */
export function size(option, text, least) {
  const match = /^(\d+)(k?)$/i.exec(text);
  const tokens = match ? Number(match[1]) * (match[2] ? 1024 : 1) : Number.NaN;
  if (!(tokens >= least && tokens <= DEEPEST)) {
    throw new OptionError(`${option}: "${text}" is not a number of tokens from ${least} to 1024K, such as 4096 or 4K.`);
  }
  return tokens;
}

export function number(option, text, least, most) {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) {
    throw new OptionError(`${option} takes a whole number from ${least} to ${most}, not "${text}".`);
  }
  return value;
}

/** A type, or a pair K/V of two. */
export function pairOf(text) {
  const [typeK, typeV = typeK, ...more] = text.split('/');
  if (more.length > 0 || !typeK || !typeV) throw new OptionError(`--types: "${text}" is not a type or a pair K/V.`);
  return typeK === typeV ? typeK : text;
}

/** @param {string} name a type or a pair @param {string[]} known @throws {OptionError} names a type that is not known */
export function sidesOf(name, known) {
  const [typeK, typeV = typeK] = name.split('/');
  const unknown = [typeK, typeV].find((type) => !known.includes(type));
  if (unknown) throw new OptionError(`There is no cache type "${unknown}"; there are ${known.join(', ')}.`);
  return { typeK, typeV };
}
