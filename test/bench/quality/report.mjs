// The JSON object, the tables and the charts of a measurement.

import path from 'node:path';
import { depthName, OptionError, table, writeFigures, writeResult } from '../command.mjs';
import { COLORS, plotAll } from '../plot.mjs';
import { FACTS } from './measure.mjs';
import { REFERENCE } from './options.mjs';

/**
 * `effective` and `reasons` where the engine took other types than asked for; `centring`: what is centred, absent: nothing.
 * @typedef {import('./measure.mjs').Figures & {bits: number, centring?: import('./measure.mjs').Row['centring'], effective?: string, reasons?: string[]}} TypeFigures
 */

/**
 * What `npm run quality -- --json` prints. `pairs`: by K/V; `uncentred`: turbo types once more without centring, empty where
 * they were measured in one way only; `model.weights`: f16, made from the file, or file; `added`: commands that added types.
 * @typedef {{types: Record<string, TypeFigures>, pairs: Record<string, TypeFigures>, uncentred: Record<string, TypeFigures>, depths: import('./measure.mjs').ByDepth<{chunks: number, tokens: number}>, reference: string, model: {name: string, file: string, bytes: number, quantization: string, weights?: string, sha256?: string}, text: string, textSha256?: string, threads?: number, added?: string[], documents: number, quick: boolean, engine: Measured['engine'], cpu: string, command: string, date: string, seconds: number}} Result
 * @typedef {{rows: import('./measure.mjs').Row[], depths: {depth: number, chunks: number, tokens: number}[], command: string, settings: Pick<import('./options.mjs').Settings, 'text' | 'documents' | 'quick' | 'threads' | 'weights'>, model: Pick<import('../../../electron/contract/models').ModelInfo, 'name' | 'fileBytes' | 'quantization'> & {file: string, sha256: string}, textSha256: string, engine: Pick<import('../../../electron/contract/engine').Capabilities, 'upstream' | 'simd' | 'kernelVariant'>, date: string, seconds: number, cpu: string}} Measured
 */

/**
 * @param {Measured} measured
 * @returns {Result} what `--json` prints; figures by depth, KLD in nats, shares from 0 to 1
 */
export function resultOf({ rows, depths, command, settings, model, textSha256, engine, date, seconds, cpu }) {
  const single = ({ typeK, typeV }) => typeK === typeV;
  // what was measured with centring and without stands apart; what was measured once stands with the rest
  const second = (row) => rows.some(({ name, centred }) => name === row.name && centred && !row.centred);
  const main = rows.filter((row) => !second(row));
  return {
    types: figuresOf(main.filter(single)),
    pairs: figuresOf(main.filter((row) => !single(row))),
    uncentred: figuresOf(rows.filter(second)),
    depths: Object.fromEntries(depths.map(({ depth, chunks, tokens }) => [depth, { chunks, tokens }])),
    reference: REFERENCE,
    model: {
      ...{ name: model.name, file: model.file, bytes: model.fileBytes, quantization: model.quantization },
      ...{ weights: settings.weights, sha256: model.sha256 },
    },
    text: path.basename(settings.text),
    textSha256,
    documents: settings.documents,
    threads: settings.threads,
    quick: settings.quick,
    engine: { upstream: engine.upstream, simd: engine.simd, kernelVariant: engine.kernelVariant },
    cpu,
    command,
    date,
    seconds: Math.round(seconds),
  };
}

/** What must be the same for figures to stand in one table, by the words for a person. */
const CONDITIONS = {
  model: ({ model }) => model.sha256,
  'weights of the model': ({ model }) => model.weights,
  text: ({ textSha256 }) => textSha256,
  'chunks of each depth': ({ depths }) => Object.entries(depths).map(([depth, { chunks }]) => `${chunks} x ${depth}`),
  'number of documents': ({ documents }) => documents,
  'number of threads': ({ threads }) => threads,
  processor: ({ cpu }) => cpu,
  engine: ({ engine }) => [engine.upstream, engine.simd, engine.kernelVariant],
};

/**
 * @param {Result} earlier
 * @param {Result} now before anything is measured: the depths alone tell what is planned
 * @throws {OptionError} names what is not as it was
 */
export function requireSame(earlier, now) {
  const differing = Object.entries(CONDITIONS)
    // of an earlier version, which did not note it
    .filter(([, of]) => of(earlier) === undefined || JSON.stringify(of(earlier)) !== JSON.stringify(of(now)))
    .map(([words]) => words);
  if (differing.length === 0) return;
  throw new OptionError(
    `--add: the earlier measurement is of another kind (${differing.join(', ')}), so its figures cannot stand beside new ones. Measure without --add`,
  );
}

/** @param {Result} earlier @param {Result} added of the same kind @returns {Result} */
export function addTo(earlier, added) {
  return {
    ...earlier,
    types: { ...earlier.types, ...added.types },
    pairs: { ...earlier.pairs, ...added.pairs },
    uncentred: { ...earlier.uncentred, ...added.uncentred },
    added: [...(earlier.added ?? []), added.command],
    date: added.date,
    seconds: earlier.seconds + added.seconds,
  };
}

function figuresOf(rows) {
  return Object.fromEntries(
    rows.map(({ name, typeK, typeV, centred, centring, bits, effective, reasons, needles, ...figures }) => {
      const rounded = Object.entries(figures).map(([key, byDepth]) => [key, roundAll(byDepth)]);
      const centre = centring.k || centring.v ? { centring } : {};
      const fallback = reasons.length > 0 ? { effective, reasons } : {};
      return [
        name,
        { bits: digits(bits), ...Object.fromEntries(rounded), ...centre, ...(needles ? { needles } : {}), ...fallback },
      ];
    }),
  );
}

const digits = (value) => Number(value.toPrecision(6));
const roundAll = (byDepth) =>
  Object.fromEntries(Object.entries(byDepth).map(([depth, value]) => [depth, digits(value)]));

/** @param {Result} result @returns {string} markdown, headings from level 3 on */
export function markdown(result) {
  const depths = Object.keys(result.depths);
  const sections = depths.flatMap((depth) => [
    `### ${depthName(depth)} tokens`,
    `${scoredText(result.depths[depth])}`,
    typeTable(allTypes(result), depth),
  ]);
  return [heading(result), ...sections, ...pairSections(result, depths), ...fallbacks(result)].join('\n\n');
}

function heading({ types, pairs, model, text, date, engine, cpu, documents, quick }) {
  const centred = Object.values({ ...types, ...pairs }).some(({ centring }) => centring)
    ? ' Turbo caches are centered where it is not said otherwise.'
    : ' Nothing is centered.';
  const needles = documents > 0 ? ` Needles: facts found of ${FACTS * documents} hidden ones, ${FACTS} in a text.` : '';
  const rough = quick ? ' A quick run: the tables of docs/quality.md come from full ones.' : '';
  const weights = model.weights === 'f16' ? ', its weights made f16' : '';
  return `**${model.name}** (${model.file}${weights}) on ${text}, K and V of one type, against ${REFERENCE}. ${date.slice(0, 10)}, ${cpu}, SIMD level ${engine.simd}. KLD in nats, ± one standard error.${centred}${needles}${rough}`;
}

const scoredText = ({ chunks, tokens }) =>
  `${chunks} ${chunks === 1 ? 'chunk' : 'chunks'}, ${tokens} tokens scored (the second half of each chunk).`;

/** Types, and below a centred one the same without centring. */
function allTypes({ types, uncentred }) {
  const rows = Object.entries(types).flatMap(([name, figures]) => {
    const without = uncentred[name];
    return [[name, figures], ...(without ? [[`${name}, not centered`, without]] : [])];
  });
  return Object.fromEntries(rows);
}

function typeTable(types, depth) {
  const rows = Object.entries(types).filter(([, figures]) => figures.ppl[depth] !== undefined);
  const needles = rows.some(([, { needles }]) => needles);
  const head = ['type', 'bits per value', 'mean KLD', '99.9% KLD', 'same top', 'PPL', ...(needles ? ['needles'] : [])];
  const cells = rows.map(([name, figures]) => [
    name,
    bitsOf(figures, depth).toFixed(2),
    name === REFERENCE ? '0' : `${small(figures.kld[depth])} ± ${small(figures.kldError[depth])}`,
    name === REFERENCE ? '0' : figures.kld999[depth].toPrecision(3),
    percent(figures.sameTop[depth]),
    figures.ppl[depth].toFixed(2),
    ...(needles ? [needleText(figures, depth)] : []),
  ]);
  return table(head, cells);
}

/** Measurements of before know one figure for all depths. */
const bitsOf = ({ bits, bitsAt }, depth) => bitsAt?.[depth] ?? bits;

const needleText = ({ needles }, depth) => (needles?.[depth] ? `${needles[depth].right} of ${needles[depth].of}` : '-');

/** K by V at a glance, and every figure of each pair below. */
function pairSections({ pairs, types }, depths) {
  if (Object.keys(pairs).length === 0) return [];
  const sides = (index) => {
    const names = Object.keys(pairs).map((name) => name.split('/')[index]);
    return [...new Set([...Object.keys(types).filter((name) => names.includes(name)), ...names])];
  };
  const matrices = depths.map((depth) => {
    const rows = sides(0).map((typeK) => [
      typeK,
      ...sides(1).map((typeV) => {
        const figures = typeK === typeV ? types[typeK] : pairs[`${typeK}/${typeV}`];
        return figures ? small(figures.kld[depth]) : '-';
      }),
    ]);
    return table([`${depthName(depth)}: K down, V across`, ...sides(1)], rows);
  });
  const full = depths.map((depth) => `${depthName(depth)} tokens:\n\n${typeTable(pairs, depth)}`);
  return [
    '### Pairs: K and V of two types',
    'Mean KLD. The row and the column of f16 are one side alone.',
    ...matrices,
    `<details><summary>All figures of the pairs, K/V</summary>\n\n${full.join('\n\n')}\n\n</details>`,
  ];
}

const fallbacks = ({ types, pairs }) =>
  Object.entries({ ...types, ...pairs }).flatMap(([name, { effective, reasons }]) =>
    reasons ? [`${name} ran as ${effective}: ${reasons.join(' ')}`] : [],
  );

const small = (value) => (value === 0 ? '0' : value < 0.001 ? value.toFixed(5) : value.toPrecision(3));
const percent = (share) => `${(100 * share).toFixed(1)}%`;

/** @param {Result} result @returns {string} SVG: the frontier at each depth, and KLD over depth */
export function charts(result) {
  const depths = Object.keys(result.depths);
  const all = [result.types, result.pairs, result.uncentred]
    .flatMap((part) => Object.values(part))
    .flatMap(({ kld }) => Object.values(kld))
    .filter((kld) => kld > 0);
  if (all.length === 0) throw new Error('There is nothing to draw: no type but the reference was measured');
  const range = /** @type {[number, number]} */ ([Math.min(...all) / 1.4, Math.max(...all) * 1.4]);
  const y = { label: 'mean KLD against f16', kind: /** @type {const} */ ('log'), domain: range };
  const size = { width: 520, height: 400 };
  const frontiers = depths.map((depth) => ({
    title: `${depthName(depth)} tokens`,
    note: 'lower and further left is better',
    x: { label: 'bits per value', domain: /** @type {[number, number]} */ ([2.5, 9.5]), ticks: [3, 4, 5, 6, 7, 8, 9] },
    y,
    series: frontier(result, depth),
    ...size,
  }));
  const over = depths.length > 1 ? [{ ...overDepth(result, depths), y, ...size }] : [];
  return plotAll([...frontiers, ...over], 2);
}

const isTurbo = ([name]) => name.includes('turbo');

function frontier({ types, pairs, uncentred }, depth) {
  const dots = (name, entries, { labelled = false, ...look } = {}) => ({
    ...{ name, line: false, legend: true, ...look },
    points: entries
      .filter(([, figures]) => figures.kld[depth] > 0 && bitsOf(figures, depth) < 9.5)
      .map(([label, figures]) => ({
        ...{ x: bitsOf(figures, depth), y: figures.kld[depth], ...spread(figures.kld[depth], figures.kldError[depth]) },
        ...(labelled ? { label } : {}),
      })),
  });
  const entries = Object.entries(types);
  return [
    dots(
      'llama.cpp',
      entries.filter((entry) => !isTurbo(entry)),
      { labelled: true },
    ),
    dots('turbo', entries.filter(isTurbo), { labelled: true }),
    dots('turbo, not centered', Object.entries(uncentred), { hollow: true, color: COLORS[1] }),
    dots('pairs K/V', Object.entries(pairs), { hollow: true, color: COLORS.at(-1) }),
  ].filter(({ points }) => points.length > 0);
}

/** One standard error to either side; a log axis has no room below zero. */
const spread = (kld, error) => ({ low: Math.max(kld - error, kld / 2), high: kld + error });

function overDepth({ types }, depths) {
  const series = Object.entries(types)
    .filter(([name]) => name !== REFERENCE)
    .map(([name, { kld, kldError }]) => ({
      name,
      dashed: !isTurbo([name]),
      points: depths.map((depth) => ({ x: Number(depth), y: kld[depth], ...spread(kld[depth], kldError[depth]) })),
    }));
  const x = {
    label: 'tokens of a chunk',
    kind: /** @type {const} */ ('log'),
    ticks: depths.map(Number),
    format: depthName,
  };
  return { title: 'Over depth', note: 'dashed: the types of llama.cpp', x, series };
}

/** The other models of this tree have figures of their own beside those of the built-in one. */
function placeOf({ model }) {
  const [, own] = /^concertina-(tiny|heads64)-/.exec(model.file) ?? [];
  return own ? { command: `quality --model ${own}`, name: `quality-${own}` } : { command: 'quality', name: 'quality' };
}

/** @param {Result} result @returns {string[]} files of docs/quality.md, written */
export function writeDocument(result) {
  const commands = [result.command, ...(result.added ?? [])].map((command) => `\`${command}\``).join(', then ');
  const printed = `Printed by ${commands} in ${Math.ceil(result.seconds / 60)} minutes.`;
  const { command, name } = placeOf(result);
  const figures = `${printed}\n\n![Bits per value against mean KLD, at each depth](${name}.svg)\n\n${markdown(result)}`;
  return [writeFigures('quality', command, figures), ...writeResult(name, result, charts(result))];
}
