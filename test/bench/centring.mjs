// `npm run bench:centring`: what the constants of centred turbo caches are worth, and that they do no harm: mean KL divergence
// from f16 with calibrations of several sizes for several lengths of context, beside no centring. The changes are paired: all
// contexts read the same tokens in one run.
// It reads a copy of a qwen3 model, with f16 weights where it is one of this tree, that is said to be trained for as many positions as
// the longest of --windows (the limit up to which one is calibrated), with RoPE of each of --kinds. With --bias it is given a bias of
// its K projection, as Qwen2 has one: what K alone costs then, beside centring by single positions, which leaves nothing of the bias.
// CLI: npm run bench:centring -- [--model FILE|small|tiny] [--kinds neox,norm,partial,yarn,m-rope] [--type turbo4] [--tokens 256]
//      [--windows 8K,32K,128K] [--depths 2K,8K] [--read 16K] [--text FILE] [--threads 0] [--json]
//      npm run bench:centring -- --bias all:1,slow:3,middle:3,all:3,slow:10 [--type turbo4] [--depths 2K] ...
//      npm run bench:centring -- --time [--model FILE|small|tiny] [--tokens 256] [--windows 32K] [--threads 0]: seconds of a calibration

import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { BUILD, ROOT } from '../../native/prepare/paths.mjs';
import { Progress } from '../../native/prepare/progress.mjs';
import { modelFile } from '../models.mjs';
import { OptionError, runCommand, size, table } from './command.mjs';
import { CALIBRATION_TEXT, contextOptions, loadEngine, loadTypeScript } from './quality/engine.mjs';
import { f16Weights } from './quality/weights.mjs';

const { values } = parseArgs({
  options: {
    model: { type: 'string', default: 'small' },
    kinds: { type: 'string', default: 'neox' },
    bias: { type: 'string' },
    type: { type: 'string', default: 'turbo4' },
    tokens: { type: 'string', default: '256' },
    windows: { type: 'string', default: '8K,32K,128K' },
    depths: { type: 'string', default: '2K,8K' },
    read: { type: 'string', default: '16K' },
    text: { type: 'string', default: path.join(ROOT, 'test', 'fixtures', 'heldout.txt') },
    threads: { type: 'string', default: '0' },
    time: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

const sizeOf = (option, text = values[option]) => size(`--${option}`, text.trim(), 0);
const sizes = (option) => values[option].split(',').map((text) => sizeOf(option, text));

const KINDS = ['neox', 'norm', 'partial', 'yarn', 'm-rope'];
const PAIRS = ['slow', 'middle', 'all'];

async function main() {
  if (values.time) return time();
  const folder = fs.mkdtempSync(path.join(BUILD, 'centring-bench-'));
  const bench = { engine: await loadEngine(), gguf: await loadTypeScript('test/engine/rewritten.ts'), folder };
  try {
    const file = modelFile(values.model);
    const ours = file !== values.model;
    const variants = variantsOf(values, bench.gguf, ours ? await f16Weights(file) : file);
    const depths = sizes('depths');
    const progress = new Progress(variants.length * (1 + depths.length));
    const rows = [];
    for (const variant of variants) rows.push(...(await measureVariant(bench, variant, depths, progress)));
    console.log(values.json ? JSON.stringify({ ...values, rows }) : values.bias ? tableOfBias(rows) : tableOf(rows));
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Prints the seconds of each of --tokens and --windows, three times; the first also reads the file's pages from the disk. */
async function time() {
  const engine = await loadEngine();
  const model = await engine.loadModel(modelFile(values.model), { gpuLayers: 0 });
  const text = fs.readFileSync(CALIBRATION_TEXT, 'utf8');
  const cells = [];
  for (const maxTokens of sizes('tokens')) {
    for (const positions of sizes('windows')) {
      const seconds = [];
      for (let round = 0; round < 3; ++round) {
        const start = performance.now();
        await model.calibrate({ text, maxTokens, positions, threads: sizeOf('threads') });
        seconds.push((performance.now() - start) / 1000);
      }
      const parameters = `${(model.info.parameters / 1e9).toFixed(2)} B`;
      cells.push([parameters, maxTokens, positions, values.threads, ...seconds.map((each) => each.toFixed(2))]);
    }
  }
  await model.dispose();
  console.log(table(['parameters', 'tokens', 'window', 'threads', 'first, s', 'second, s', 'third, s'], cells));
}

/** Each writes its model to a file. */
function variantsOf({ kinds, bias }, { writeForRope, writeWithKBias }, original) {
  if (bias === undefined) {
    const longest = Math.max(...sizes('windows'));
    return kinds.split(',').map((kind) => {
      if (!KINDS.includes(kind)) throw new OptionError(`--kinds: "${kind}" is none of ${KINDS.join(', ')}.`);
      return { name: kind, write: (file) => writeForRope(original, file, longest, kind), cases: byLength };
    });
  }
  return bias.split(',').map((text) => {
    const [pairs, ratio] = text.split(':');
    if (!PAIRS.includes(pairs) || !(Number(ratio) > 0)) {
      throw new OptionError(`--bias: "${text}" is not PAIRS:RATIO; pairs are ${PAIRS.join(', ')}, as in slow:3.`);
    }
    return { name: text, write: (file) => writeWithKBias(original, file, Number(ratio), pairs), cases: byBlock };
  });
}

async function measureVariant({ engine, folder }, { name: variant, write, cases: casesOf }, depths, progress) {
  const file = path.join(folder, 'model.gguf');
  const model = await engine.loadModel(write(file), { gpuLayers: 0 });
  try {
    const tokens = model.tokenize(fs.readFileSync(values.text, 'utf8'), { addSpecial: true });
    const threads = sizeOf('threads');
    const cases = await progress.stage(`${variant}: calibrations`, () => casesOf(model, threads, depths));
    const rows = [];
    for (const depth of depths) {
      const chunks = Math.max(1, Math.floor(Math.min(sizeOf('read'), tokens.length) / depth));
      const read = tokens.subarray(0, chunks * depth);
      const stage = `${variant}: ${chunks} x ${depth} tokens`;
      const found = await progress.stage(stage, (on) =>
        measure(model, cases, { depth, chunks, read, threads }, (fraction) => on({ fraction })),
      );
      rows.push(...found.map((row) => ({ variant, ...row })));
    }
    return rows;
  } finally {
    await model.dispose();
    fs.rmSync(file, { force: true });
  }
}

/** Not centred, and each calibration, K and V. */
async function byLength(model, threads) {
  const text = fs.readFileSync(CALIBRATION_TEXT, 'utf8');
  const types = { typeK: values.type, typeV: values.type };
  const cases = [{ name: 'not centred', ...types, bytes: null }];
  for (const maxTokens of sizes('tokens')) {
    for (const positions of sizes('windows')) {
      const bytes = await model.calibrate({ text, maxTokens, positions, threads });
      cases.push({ name: `${maxTokens} tokens for ${positions}`, ...types, bytes });
    }
  }
  return cases;
}

/** K alone: centred by single positions, which all others are held against, and as the app does; and llama.cpp's types. */
async function byBlock(model, threads, depths) {
  const text = fs.readFileSync(CALIBRATION_TEXT, 'utf8');
  const options = { text, maxTokens: sizes('tokens')[0], positions: Math.max(...depths), threads };
  const exact = await model.calibrate({ ...options, block: 1 });
  const longest = await model.calibrate({ ...options, block: 32 });
  const chosen = await model.calibrate(options);
  const typeK = values.type;
  return [
    { name: 'single positions', typeK, bytes: exact },
    { name: 'as chosen', typeK, bytes: chosen },
    { name: 'blocks of 32', typeK, bytes: longest },
    ...['q8_0', 'q4_0'].map((typeK) => ({ name: typeK, typeK, bytes: null })),
  ].map((one) => ({ ...one, typeV: 'f16' }));
}

async function measure(model, cases, { depth, chunks, read, threads }, onProgress) {
  const open = [];
  const create = async ({ typeK, typeV, bytes }) => {
    model.attachCalibration(bytes);
    const context = await model.createContext(contextOptions({ typeK, typeV }, depth, threads));
    open.push(context);
    const { centring, typeK: k } = context.effective;
    if (centring.k !== (bytes !== null) || k.effective !== typeK) {
      throw new Error(`K is ${k.effective}, and ${centring.k ? 'centred' : `not: ${centring.reasonK}`}.`);
    }
    return context;
  };
  try {
    const reference = await create({ typeK: 'f16', typeV: 'f16', bytes: null });
    const contexts = [];
    for (const one of cases) contexts.push(await create(one));
    const { reference: own, klds, results } = await reference.compare(contexts, read, { chunk: depth, onProgress });
    return cases.map(({ name }, i) => ({
      ...{ name, depth, chunks, tokens: results[i].tokens, ppl: own.perplexity, sameTop: results[i].sameTop },
      ...{ kld: results[i].meanKld, kld999: results[i].kld999, ...paired(klds[i], klds[0]) },
    }));
  } finally {
    for (const context of open) await context.dispose();
  }
}

/** @returns {{change: number, changeError: number}} of the mean, in nats; the error of tokens taken as independent */
function paired(klds, base) {
  const differences = Array.from(klds, (kld, i) => kld - base[i]);
  const mean = (numbers) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
  const change = mean(differences);
  return { change, changeError: Math.sqrt(mean(differences.map((one) => (one - change) ** 2)) / (klds.length - 1)) };
}

function tableOf(rows) {
  const percent = (nats, of) => `${((100 * nats) / of).toFixed(1)}%`;
  const cells = rows.map(({ variant, name, depth, tokens, kld, kld999, change, changeError }) => {
    const base = kld - change;
    const changed = change === 0 ? '' : `${percent(change, base)} ± ${percent(changeError, base)}`;
    return [variant, name, depth, tokens, kld.toFixed(5), kld999.toFixed(3), changed];
  });
  const head = ['RoPE', 'calibration', 'depth', 'tokens', 'mean KLD', '99.9% KLD', 'change, ± paired standard error'];
  return table(head, cells);
}

/** A row for each bias, times the KLD of single positions in brackets. */
function tableOfBias(rows) {
  const names = [...new Set(rows.map(({ name }) => name))];
  const groups = Map.groupBy(rows, ({ variant, depth }) => `${variant}, ${depth}`);
  const cells = [...groups].map(([variant, all]) => [
    variant,
    all[0].ppl.toFixed(1),
    ...all.map(({ kld }, i) => `${kld.toPrecision(3)}${i === 0 ? '' : ` (${(kld / all[0].kld).toFixed(2)})`}`),
  ]);
  return table(['bias, depth', 'PPL of f16', ...names], cells);
}

await runCommand(main);
