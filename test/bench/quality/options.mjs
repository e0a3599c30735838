// Options of `npm run quality`: what people write, checked.

import fs from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../../native/prepare/paths.mjs';
import { modelFile } from '../../models.mjs';
import { list, number, OptionError, pairOf, readArgs, sidesOf, size } from '../command.mjs';

/** The distribution that all others are measured from. */
export const REFERENCE = 'f16';

const TEXT = path.join(ROOT, 'test', 'fixtures', 'heldout.txt');
const TYPES = ['f16', 'q8_0', 'q5_0', 'iq4_nl', 'q4_0', 'turbo4', 'turbo4_tcq', 'turbo3', 'turbo3_tcq'];
const DEPTHS = [512, 2048, 8192];
/** The smallest chunk whose second half says something, and the rounding of the engine's context lengths. */
const SHALLOWEST = 256;

/** `read`: tokens at each depth, in at least two chunks; `documents`: texts with needles at each depth; `budget`: seconds */
const FULL = {
  sides: ['q8_0', 'q4_0', 'turbo4', 'turbo3'],
  depths: DEPTHS,
  read: 32768,
  documents: 2,
  budget: Infinity,
  threads: 0,
};
/** Ends in 8 minutes on 2 cores; on a slow or busy machine it reads less. */
const QUICK = { ...FULL, sides: [], read: 8192, documents: 0, budget: 390 };

/** As it was measured, so that only what differs on purpose has to be said. */
const presetOf = ({ depths, documents, threads }) => ({
  ...FULL,
  ...{ sides: [], depths: Object.keys(depths).map(Number), documents, threads: threads ?? 0 },
});

const CENTRING = ['both', 'on', 'off'];
const WEIGHTS = ['f16', 'file'];
const OURS = ['small', 'tiny', 'heads64'];

export const HELP = `npm run quality -- [options]     what a KV cache type costs in quality, against ${REFERENCE}

  --model FILE       a GGUF file, or small (the built-in model, the default), tiny (the tests' model) or heads64 (like
                     it, with heads of 64 values and eight query heads a KV head)
  --weights WHICH    f16: made of the file's by requantizing, so that nothing but the cache is measured; file: as they
                     are (default: f16 for these three, else file)
  --text FILE        plain text that the model has not seen (default: test/fixtures/heldout.txt)
  --types LIST       ${TYPES.join(',')}; a pair K/V as in q8_0/turbo4; a budget as in auto:3.5;
                     with +N behind a turbo type, the newest N tokens at 8 bits, too, as in turbo4+128
  --sides LIST       types that are measured as K and as V of every other one and of ${REFERENCE}; none for no pairs
                     (default: ${FULL.sides.join(',')})
  --depths LIST      tokens of a chunk, of which the second half counts: 512,2K,8K
  --centring WHICH   of turbo caches: both, on or off (default: both)
  --chunks N         at every depth (default: as many as ${FULL.read / 1024}K tokens hold)
  --documents N      texts with 12 hidden facts each at every depth from 512 on; 0: no needles (default: ${FULL.documents})
  -t, --threads N    default: physical cores
  --quick            ${QUICK.read / 1024}K tokens at every depth (at least two chunks, or one when it is slow), no pairs,
                     no needles: less than 8 minutes
  --json             the JSON object on stdout in place of the tables
  --out DIR          where quality.md, quality.json and quality.svg go (default: build/quality)
  --from FILE        a quality.json of before in place of a measurement
  --add FILE         a quality.json of before to which types are added: those that it has are not measured again, depths,
                     chunks, documents and threads are its own, and no sides are crossed unless they are named. Refused
                     when machine, engine, model, text or options are not the same
  --write-docs       puts figures and charts into docs/quality.md`;

/**
 * `chunks`: null: as many as `read` tokens hold; `centring`: of turbo caches; `budget`: seconds; `earlier`: what is added to.
 * @typedef {{help: boolean, model: string, weights: 'f16' | 'file', text: string, from: string | undefined, earlier: import('./report.mjs').Result | null, types: string[], sides: string[], depths: number[], chunks: number | null, centring: 'both' | 'on' | 'off', read: number, budget: number, documents: number, threads: number, quick: boolean, json: boolean, out: string | undefined, writeDocs: boolean}} Settings
 * @typedef {{name: string, typeK: string, typeV: string, centred: boolean, recent?: number}} Pair name: K/V, or one name for both
 */

/**
 * @param {string[]} args
 * @returns {Settings}
 * @throws {OptionError}
 */
export function parseOptions(args) {
  const own = ['text', 'weights', 'sides', 'centring', 'chunks', 'documents', 'from', 'add'];
  const values = readArgs('quality', args, own);
  if (values.from && values.add) throw new OptionError('--from measures nothing, so --add has nothing to add.');
  const earlier = values.add === undefined ? null : readResult(values.add, '--add');
  const preset = earlier ? presetOf(earlier) : values.quick ? QUICK : FULL;
  const quick = values.quick || (earlier?.quick ?? false);
  if (quick && values['write-docs']) throw new OptionError('--write-docs is not for --quick: its figures are rough.');
  const { model = 'small' } = values;
  const files = { model: modelFile(model), text: values.text ?? TEXT, from: values.from };
  for (const [option, file] of Object.entries(files)) {
    if (file !== undefined && !fs.statSync(file, { throwIfNoEntry: false })?.isFile()) {
      throw new OptionError(`--${option}: there is no file ${file}.`);
    }
  }
  return {
    ...files,
    earlier,
    weights: choice('--weights', values.weights ?? (OURS.includes(model) ? 'f16' : 'file'), WEIGHTS),
    help: values.help,
    types: list('--types', values.types, TYPES, pairOf),
    sides: values.sides === 'none' ? [] : list('--sides', values.sides, preset.sides, (text) => text),
    depths: list('--depths', values.depths, preset.depths, (text) => size('--depths', text, SHALLOWEST)).sort(
      (a, b) => a - b,
    ),
    centring: choice('--centring', values.centring ?? 'both', CENTRING),
    chunks: values.chunks === undefined ? null : number('--chunks', values.chunks, 1, 10_000),
    read: preset.read,
    budget: preset.budget,
    documents: number('--documents', values.documents ?? String(preset.documents), 0, 100),
    threads: number('--threads', values.threads ?? String(preset.threads), 0, 512),
    quick,
    json: values.json,
    out: values.out,
    writeDocs: values['write-docs'],
  };
}

/**
 * What is measured: the types, those without centring where both are asked for, then the pairs of the sides, each once; the
 * reference first.
 * @param {Pick<Settings, 'types' | 'sides' | 'centring'>} settings
 * @param {string[]} known types of the engine
 * @returns {Pair[]}
 * @throws {OptionError} names a type that the engine has not
 */
export function pairsOf({ types, sides, centring }, known) {
  const every = sides.length > 0 ? [REFERENCE, ...sides] : [];
  const crossed = every.flatMap((typeK) =>
    every.filter((typeV) => typeV !== typeK).map((typeV) => `${typeK}/${typeV}`),
  );
  const names = [...new Set([REFERENCE, ...types, ...crossed])];
  if (names.length === 1)
    throw new OptionError(`--types: name a type besides ${REFERENCE}, which the others are compared with.`);
  const pairs = names.map((name) => {
    const { types, recent } = recentOf(name);
    return {
      name,
      ...(isBudget(types) ? { typeK: types, typeV: types } : sidesOf(types, known)),
      centred: centring !== 'off' && isCentrable(types),
      ...(recent > 0 ? { recent } : {}),
    };
  });
  const twice = (pair) => centring === 'both' && pair.centred && types.includes(pair.name);
  return pairs.flatMap((pair) => (twice(pair) ? [pair, { ...pair, centred: false }] : [pair]));
}

/**
 * What an earlier measurement has not; all where there is none.
 * @param {import('./report.mjs').Result | null} earlier
 * @param {Pair[]} pairs
 * @throws {OptionError} it has all
 */
export function missingOf(earlier, pairs) {
  if (!earlier) return pairs;
  const missing = pairs.filter(({ name }) => !(name in earlier.types) && !(name in earlier.pairs));
  if (missing.length === 0)
    throw new OptionError('--add: the earlier measurement has all of --types and --sides already.');
  return missing;
}

function choice(option, value, known) {
  if (!known.includes(value)) throw new OptionError(`${option} is ${known.join(', ')}, not "${value}".`);
  return value;
}

/** "turbo4+128": the newest 128 tokens at 8 bits, too. @param {string} name @throws {OptionError} not a number, or no turbo type */
function recentOf(name) {
  const [types = '', tokens] = name.split('+');
  if (tokens === undefined) return { types, recent: 0 };
  if (!isCentrable(types)) throw new OptionError(`--types: +${tokens} is for turbo types, not ${types}.`);
  return { types, recent: number('--types', tokens, 1, 4096) };
}

/** Only caches of turbo types are centred. */
const isCentrable = (name) => name.includes('turbo') || isBudget(name);

/** Bits or bytes that are spent on types layer by layer, see electron/engine/cacheBudget. */
export const isBudget = (name) => name.startsWith('auto:');

/** @param {string} file what `--json` printed @param {string} [option] @returns {import('./report.mjs').Result} @throws {OptionError} */
export function readResult(file, option = '--from') {
  try {
    const result = JSON.parse(fs.readFileSync(file, 'utf8'));
    if (result.types && result.pairs && result.depths) return result;
  } catch {
    // not there, or not JSON: said below
  }
  throw new OptionError(`${option}: ${file} is no result of npm run quality.`);
}
