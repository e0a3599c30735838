// What the commands that measure have in common: command lines as people write them, checked; the files and tables of a run; and
// documents whose prose is written by people and whose figures, between two marks, by the command that measured them. What was
// measured lies beside as JSON, in test/bench/results, for whoever compares with it.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../../native/prepare/paths.mjs';
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

/** Linux: the next read of the file comes from the disk. @param {string} file @returns {boolean} false: that cannot be had here */
export function dropFromCache(file) {
  if (process.platform !== 'linux') return false;
  const dd = spawnSync('dd', [`of=${file}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0'], { stdio: 'ignore' });
  return dd.status === 0;
}

const DOCS = path.join(ROOT, 'docs');
const RESULTS = path.join(ROOT, 'test', 'bench', 'results');

/**
 * @param {string} text
 * @param {string} command that printed them, with the options that tell them from other figures of the document
 * @param {string} figures markdown
 * @returns {string}
 */
export function replaceFigures(text, command, figures) {
  const [name, ...options] = command.split(' ');
  const printedBy = ['npm run', name, '--', ...options, '--write-docs'].join(' ');
  const marks = [`<!-- figures: ${printedBy} -->`, '<!-- end of the figures -->'];
  const start = text.indexOf(marks[0]);
  const end = text.indexOf(marks[1], start);
  if (start < 0 || end < start) throw new Error(`The document has lost its marks ${marks.join(' and ')}.`);
  return `${text.slice(0, start + marks[0].length)}\n\n${figures}\n\n${text.slice(end)}`;
}

/** @param {string} name of the document, docs/NAME.md @param {string} command @param {string} figures @returns {string} its path */
export function writeFigures(name, command, figures) {
  const file = path.join(DOCS, `${name}.md`);
  fs.writeFileSync(file, replaceFigures(fs.readFileSync(file, 'utf8'), command, figures));
  return file;
}

/** @param {string} name @param {object} result @param {string} chart SVG @returns {string[]} the files written */
export function writeResult(name, result, chart) {
  const image = path.join(DOCS, `${name}.svg`);
  const data = path.join(RESULTS, `${name}.json`);
  fs.writeFileSync(image, chart);
  fs.writeFileSync(data, `${JSON.stringify(result, null, 2)}\n`);
  return [image, data];
}

/** A run's NAME.json, NAME.md and NAME.svg. */
export function writeRun(out, name, result, text, chart) {
  fs.mkdirSync(out, { recursive: true });
  fs.writeFileSync(path.join(out, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
  fs.writeFileSync(path.join(out, `${name}.md`), `${text}\n`);
  fs.writeFileSync(path.join(out, `${name}.svg`), chart);
  console.error(`wrote ${name}.md, ${name}.json and ${name}.svg to ${path.relative(process.cwd(), out) || out}`);
}

/** @param {string | number} depth 4096 as people say it */
export const depthName = (depth) =>
  Number(depth) >= 1024 && Number(depth) % 1024 === 0 ? `${Number(depth) / 1024}K` : String(depth);

/** @param {string[]} head @param {(string | number)[][]} rows @returns {string} markdown; numbers from the second column on */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}
