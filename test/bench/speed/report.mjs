// From the events of the measuring program to figures, tables and charts. Ratios are made within a round, where all variants met
// the same machine, and only then reduced to a median; absolute speeds are medians of their own. Both comparisons stand side by
// side everywhere: most of what turbo gains on stock llama.cpp is the kernels', and q8_0 has them too.

import { depthName, table, writeFigures, writeResult } from '../command.mjs';
import { COLORS, plotAll } from '../plot.mjs';
import { REFERENCE, stockName } from './options.mjs';

/** Parts of a run, by the name the events give them, and their name in the JSON object. */
const PARTS = {
  decode: 'decode',
  prefill: 'prefill',
  'attention-decode': 'attentionDecode',
  'attention-prefill': 'attentionPrefill',
  prompt: 'prompt',
};

/**
 * @typedef {{event: string} & Record<string, string | number | boolean>} Event as the measuring program prints it: its name and
 *   the fields of its kind
 * @typedef {{median: number, p10: number, p90: number, rounds: number}} Ratio
 * @typedef {{rounds: number, tokensPerSecond: number, vsStockQ8_0: Ratio | null, vsSameKernelQ8_0: Ratio | null, vsStockF16: Ratio | null, bytesPerToken?: number, bytesPerSecond?: number, ofBandwidth?: number}} Cell
 * @typedef {Record<string, Record<string, Cell>>} Part by variant, then by depth in tokens
 * @typedef {{vsStockQ8_0: Record<string, Record<string, number>>, vsSameKernelQ8_0: Record<string, Record<string, number>>, model: Record<string, string | number>, bandwidth: Record<string, number>, variants: Record<string, Record<string, string | number | boolean>>, leftOut: string[], decode?: Part, prefill?: Part, attentionDecode?: Part, attentionPrefill?: Part, prompt?: Part}} Figures
 */

/**
 * The q-quantile by linear interpolation between the nearest ranks.
 * @param {number[]} values at least one
 */
export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const low = Math.floor(at);
  const below = sorted[low];
  return below + (sorted[Math.min(low + 1, sorted.length - 1)] - below) * (at - low);
}

export const median = (values) => quantile(values, 0.5);

/**
 * How many times as fast `samples` is as `reference`, round by round.
 * @param {Map<number, number>} samples seconds by round
 * @param {Map<number, number> | undefined} reference
 * @returns {Ratio | null} null when no round has both
 */
export function ratioOf(samples, reference) {
  const ratios = [...samples].flatMap(([round, seconds]) => {
    const base = reference?.get(round);
    return base === undefined ? [] : [base / seconds];
  });
  if (ratios.length === 0) return null;
  const [p10, p90] = [quantile(ratios, 0.1), quantile(ratios, 0.9)].map(rounded);
  return { median: rounded(median(ratios)), p10, p90, rounds: ratios.length };
}

/** Four digits: more are noise. */
const rounded = (value) => Number(value.toPrecision(4));

/**
 * @param {Event[]} events
 * @returns {Figures} JSON's part that the events decide
 */
export function figuresOf(events) {
  const of = (name) => events.filter(({ event }) => event === name);
  const { event: _, ...model } = of('model')[0] ?? {};
  const bandwidth = {};
  for (const { threads, bytesPerSecond } of of('bandwidth')) {
    bandwidth[threads] = Math.max(bandwidth[threads] ?? 0, bytesPerSecond);
  }
  const variants = {};
  for (const { event: _, name, ...rest } of of('variant')) variants[name] = rest;

  const figures = { model, bandwidth, variants, leftOut: of('cut').map(sayCut) };
  const fastest = Math.max(0, ...Object.values(bandwidth));
  for (const [what, part] of Object.entries(PARTS)) {
    const samples = groupSamples(
      of('sample').filter((sample) => sample.what === what),
      Object.keys(variants),
    );
    if (Object.keys(samples).length === 0) continue;
    figures[part] = mapSamples(samples, (name, depth, entry) => {
      const bytes = bytesRead(part, model, variants[name], Number(depth));
      return describe(samples, depth, entry, bytes, fastest);
    });
  }
  const ours = Object.entries(figures.decode ?? {}).filter(([name]) => !variants[name]?.stock);
  const medians = (cells, key) =>
    Object.entries(cells).flatMap(([depth, cell]) => (cell[key] ? [[depth, cell[key].median]] : []));
  const column = (key) =>
    Object.fromEntries(ours.map(([name, cells]) => [name, Object.fromEntries(medians(cells, key))]));
  return { vsStockQ8_0: column('vsStockQ8_0'), vsSameKernelQ8_0: column('vsSameKernelQ8_0'), ...figures };
}

function sayCut({ what, depth, rounds }) {
  return `${what} at depth ${depth}: ${rounds === 0 ? 'not measured' : `${rounds} complete rounds only`}, for want of time`;
}

/**
 * @param {string[]} names in the order that they get: rounds begin with one variant after the other
 * @returns {Record<string, Record<string, {tokens: number, seconds: Map<number, number>}>>} by variant and depth
 */
function groupSamples(samples, names) {
  const groups = Object.fromEntries(names.map((name) => [name, {}]));
  for (const { variant, depth, round, tokens, seconds } of samples) {
    groups[variant][depth] ??= { tokens, seconds: new Map() };
    groups[variant][depth].seconds.set(round, seconds);
  }
  return Object.fromEntries(Object.entries(groups).filter(([, depths]) => Object.keys(depths).length > 0));
}

function mapSamples(samples, body) {
  return Object.fromEntries(
    Object.entries(samples).map(([name, depths]) => [
      name,
      Object.fromEntries(Object.entries(depths).map(([depth, entry]) => [depth, body(name, depth, entry)])),
    ]),
  );
}

/** Bytes that one step must bring from memory at least: the cache up to here and, in the whole model, the weights. */
function bytesRead(part, model, variant, depth) {
  if (!variant?.plainCache || !(part === 'decode' || part === 'attentionDecode')) return null;
  return variant.bytesPerPosition * (depth + 1) + (part === 'decode' ? model.weightBytes : 0);
}

function describe(samples, depth, { tokens, seconds }, bytes, bandwidth) {
  const typical = median([...seconds.values()]);
  const cell = {
    rounds: seconds.size,
    tokensPerSecond: rounded(tokens / typical),
    vsStockQ8_0: ratioOf(seconds, samples[stockName(REFERENCE)]?.[depth]?.seconds),
    vsSameKernelQ8_0: ratioOf(seconds, samples[REFERENCE]?.[depth]?.seconds),
    vsStockF16: ratioOf(seconds, samples[stockName('f16')]?.[depth]?.seconds),
  };
  if (bytes === null || bandwidth === 0) return cell;
  return {
    ...cell,
    bytesPerToken: bytes,
    bytesPerSecond: rounded(bytes / typical),
    ofBandwidth: rounded(bytes / typical / bandwidth),
  };
}

/**
 * What `npm run bench -- --json` prints.
 * @typedef {Figures & {date: string, command: string, settings: Pick<Settings, 'threads' | 'rounds' | 'batch' | 'quick'> & Partial<Pick<Settings, 'gpuLayers'>>, machine: Machine}} Result
 * @typedef {{cpu: string, cores: number, memoryBytes: number, platform: string, loadBefore: number, loadAfter: number}} Machine
 * @typedef {import('./options.mjs').Settings} Settings
 */

/**
 * @param {Result} result
 * @returns {string} markdown, headings from level 3 on
 */
export function markdown(result) {
  const tokens = (cell) => cell.tokensPerSecond;
  const batch = `Prefill of ${result.settings.batch} tokens at a depth`;
  const sections = [
    speedSection(result, 'decode', 'Decode, whole model', 'tok/s', tokens),
    speedSection(result, 'attentionDecode', 'Decode, attention alone', 'GB/s', (cell) => giga(cell.bytesPerSecond)),
    boundSection(result),
    speedSection(result, 'prefill', `${batch}, whole model`, 'tok/s', tokens),
    speedSection(result, 'attentionPrefill', `${batch}, attention alone`, 'tok/s', tokens),
    speedSection(result, 'prompt', 'Prefill of a whole prompt', 'tok/s', tokens),
  ];
  return [heading(result), ...sections.filter(Boolean), notes(result)].join('\n\n');
}

function heading({ model, settings, bandwidth, date, machine }) {
  const reads = Object.entries(bandwidth).map(([threads, bytes]) => `${giga(bytes)} GB/s with ${threads}`);
  const memory = reads.length > 0 ? ` Memory reads ${reads.join(', ')} thread(s).` : '';
  const gpu = settings.gpuLayers ? `, ${settings.gpuLayers} layers on ${model.device}` : '';
  return `**${model.what}** (${model.name}): ${model.heads} query and ${model.headsKv} KV heads, ${mega(model.weightBytes)} MB of weights a token. ${date.slice(0, 10)}, ${machine.cpu}, ${machine.cores} cores, SIMD level ${model.simd}, ${settings.threads} threads${gpu}, ${settings.rounds} rounds.${memory} Load average ${machine.loadBefore} before, ${machine.loadAfter} after.`;
}

/** One table: for each depth the absolute speed, and the two ratios with their spread. */
function speedSection(result, part, title, unit, speed) {
  const cells = result[part];
  if (!cells) return '';
  const depths = depthsOf(cells);
  const whole = part === 'prompt';
  const againstF16 = part.toLowerCase().includes('prefill') || whole;
  const columns = [
    ['', (cell) => text(speed(cell))],
    [`, against stock ${REFERENCE}`, (cell) => spread(cell.vsStockQ8_0)],
    [`, against ${REFERENCE} with the same kernels`, (cell) => spread(cell.vsSameKernelQ8_0)],
    ...(againstF16 ? [[', against stock f16', (cell) => spread(cell.vsStockF16)]] : []),
  ];
  const has = (show) =>
    Object.values(cells).some((byDepth) => Object.values(byDepth).some((cell) => show(cell) !== '-'));
  const tables = columns
    .filter(([, show]) => has(show))
    .map(([what, show]) => {
      const rows = Object.entries(cells).map(([name, byDepth]) => [
        name,
        ...depths.map((depth) => (byDepth[depth] ? show(byDepth[depth]) : '-')),
      ]);
      const label = what === '' ? unit : `times as fast${what}`;
      return table([`${label}, ${whole ? 'prompt of' : 'depth'}`, ...depths.map(depthName)], rows);
    });
  return [`### ${title}`, ...tables].join('\n\n');
}

/** How near each type is to what memory alone would allow. */
function boundSection({ decode, attentionDecode, model, variants }) {
  const known = Object.entries(decode ?? {}).filter(([, byDepth]) => Object.values(byDepth)[0]?.ofBandwidth);
  if (known.length === 0) return '';
  const depths = depthsOf(decode);
  const rows = known.map(([name, byDepth]) => [
    name,
    ...depths.map((depth) => {
      const cell = byDepth[depth];
      const alone = attentionDecode?.[name]?.[depth];
      if (!cell) return '-';
      return `${mega(cell.bytesPerToken)} MB, ${percent(cell.ofBandwidth)}${alone ? `, ${percent(alone.ofBandwidth)}` : ''}`;
    }),
  ]);
  const allowed = Object.entries(decode)
    .filter(([name]) => name !== REFERENCE && !variants[name]?.stock)
    .map(([name, byDepth]) => [
      name,
      ...depths.map((depth) => {
        const ratio = decode[REFERENCE]?.[depth]?.bytesPerToken / byDepth[depth]?.bytesPerToken;
        return Number.isFinite(ratio) ? ratio.toFixed(2) : '-';
      }),
    ]);
  return [
    '### Distance to the memory bound',
    `Bytes that a decoded token must read (${mega(model.weightBytes)} MB of weights and the cache), and the part of the measured bandwidth that the whole model and the attention alone reach. Over 100%: what is read fits the last-level cache.`,
    table(['depth', ...depths.map(depthName)], rows),
    `What the bytes alone allow against ${REFERENCE} with the same kernels: the ratio of the bytes, which two kernels that both wait for memory only would reach. A higher ratio in the tables above says that the type also computes less.`,
    table([`bytes of ${REFERENCE} / bytes, depth`, ...depths.map(depthName)], allowed),
  ].join('\n\n');
}

function notes({ variants, leftOut, settings }) {
  const fallbacks = Object.entries(variants).flatMap(([name, { reasonK, reasonV, typeK, typeV }]) =>
    [reasonK, reasonV].some(Boolean)
      ? [`${name} ran as ${typeK}/${typeV}: ${[...new Set([reasonK, reasonV].filter(Boolean))].join(' ')}`]
      : [],
  );
  const odd = Object.values(variants).some(({ plainCache }) => !plainCache)
    ? [
        'The state of this model is more than one plain KV cache: depths were prefilled in truth, and attention alone and bytes are left out.',
      ]
    : [];
  return [
    `"stock" is the unpatched attention of the same llama.cpp; the other rows use ours. Ratios are medians over rounds in which all took turns, with the 10th and 90th percentile; absolute speeds differ from machine to machine, and on this one with its load.`,
    ...(settings.quick ? ['A quick run: the tables of docs/performance.md come from full ones.'] : []),
    ...fallbacks,
    ...odd,
    ...leftOut.map((line) => `Left out: ${line}.`),
  ].join('\n\n');
}

const depthsOf = (part) => [...new Set(Object.values(part).flatMap(Object.keys))].sort((a, b) => Number(a) - Number(b));

const giga = (bytes) => (bytes === undefined ? undefined : Number((bytes / 1e9).toPrecision(3)));
const mega = (bytes) => (bytes / 1e6).toFixed(0);
const percent = (part) => `${(100 * part).toFixed(0)}%`;
const text = (value) => (value === undefined || value === null ? '-' : String(Number(value.toPrecision(3))));
const spread = (ratio) => {
  if (!ratio) return '-';
  const range = ratio.rounds > 1 ? `${ratio.p10.toFixed(2)}-${ratio.p90.toFixed(2)}` : 'one round';
  return `${ratio.median.toFixed(2)} (${range})`;
};

/**
 * @param {Result} result
 * @returns {string} SVG: speed over depth, and the ratios to q8_0
 */
export function charts(result) {
  const { decode = {}, attentionDecode = {}, model, variants } = result;
  const note = `${model.what}, ${result.settings.threads} threads`;
  const types = [...new Set(Object.keys(variants).map(typeOf))];
  const colorOf = (name) => COLORS[types.indexOf(typeOf(name)) % COLORS.length];
  const speed = (title, part) => chart({ title, note, label: 'tok/s', part, colorOf, point: speedPoint });
  // the reference itself is the line of parity
  const ratio = (title, part, key, reference, skip = () => false) => {
    const shown = Object.fromEntries(Object.entries(part).filter(([name]) => name !== reference && !skip(name)));
    const point = (cell) => ratioPoint(cell[key]);
    return chart({ title, note, label: 'times as fast', part: shown, colorOf, point, parity: reference });
  };
  const stock = stockName(REFERENCE);
  return plotAll(
    [
      speed('Decode, whole model', decode),
      ratio(`Decode against ${stock}`, decode, 'vsStockQ8_0', stock),
      ratio(`Decode against ${REFERENCE} with the same kernels`, decode, 'vsSameKernelQ8_0', REFERENCE, isStock),
      ratio(`Attention alone against ${stock}`, attentionDecode, 'vsStockQ8_0', stock),
    ].filter(({ series }) => series.length > 0),
    2,
  );
}

const isStock = (name) => name === stockName(typeOf(name));
const typeOf = (name) => name.split(' ')[0];
const speedPoint = (cell) => ({ y: cell.tokensPerSecond });
const ratioPoint = (ratio) => ratio && { y: ratio.median, low: ratio.p10, high: ratio.p90 };

function chart({ title, note, label, part, colorOf, point, parity = undefined }) {
  const series = Object.entries(part)
    .map(([name, byDepth]) => ({
      name,
      color: colorOf(name),
      dashed: isStock(name),
      points: Object.entries(byDepth).flatMap(([depth, cell]) => {
        const at = point(cell);
        return at ? [{ x: Number(depth), ...at }] : [];
      }),
    }))
    .filter(({ points }) => points.length > 0);
  const ticks = depthsOf(part).map(Number);
  return {
    title,
    note,
    x: { label: 'tokens in the cache', ticks, format: depthName },
    y: { label, kind: /** @type {const} */ ('log') },
    series,
    rules: parity ? [{ y: 1, label: parity }] : [],
  };
}

/** @param {Result[]} results one per shape @returns {string[]} files of docs/performance.md, written */
export function writeDocument(results) {
  const files = results.flatMap((result) => writeResult(`performance-${result.model.name}`, result, charts(result)));
  const sections = results.map(({ model }, i) => {
    const chart = `![Decode speed over depth](performance-${model.name}.svg)`;
    return `## ${model.what}\n\n${chart}\n\n${markdown(results[i])}`;
  });
  const figures = `Printed by \`${results[0]?.command}\`.\n\n${sections.join('\n\n')}`;
  return [writeFigures('performance', 'bench', figures), ...files];
}
