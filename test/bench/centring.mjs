// `npm run bench:centring`: what the constants of centred turbo caches are worth, and that they do no harm: mean KL divergence
// from f16 with calibrations of several sizes for several lengths of context, beside no centring. The changes are paired: all
// contexts read the same tokens in one run.
// It reads a copy of a qwen3 model that is said to be trained for as many positions as the longest of --windows (the limit up
// to which one is calibrated); with --m-rope also of arch qwen3vl.
// CLI: npm run bench:centring -- [--model FILE|small|tiny] [--m-rope] [--type turbo4] [--tokens 256] [--windows 8K,32K,128K]
//      [--depths 2K,8K] [--read 16K] [--text FILE] [--threads 0] [--json]

import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { BUILD, ROOT } from '../../native/prepare/paths.mjs';
import { Progress } from '../../native/prepare/progress.mjs';
import { modelFile } from '../models.mjs';
import { runCommand, size, table } from './command.mjs';
import { CALIBRATION_TEXT, contextOptions, loadEngine, loadTypeScript } from './quality/engine.mjs';

const { values } = parseArgs({
  options: {
    model: { type: 'string', default: 'small' },
    'm-rope': { type: 'boolean', default: false },
    type: { type: 'string', default: 'turbo4' },
    tokens: { type: 'string', default: '256' },
    windows: { type: 'string', default: '8K,32K,128K' },
    depths: { type: 'string', default: '2K,8K' },
    read: { type: 'string', default: '16K' },
    text: { type: 'string', default: path.join(ROOT, 'test', 'fixtures', 'heldout.txt') },
    threads: { type: 'string', default: '0' },
    json: { type: 'boolean', default: false },
  },
});

const sizeOf = (option, text = values[option]) => size(`--${option}`, text.trim(), 0);
const sizes = (option) => values[option].split(',').map((text) => sizeOf(option, text));

async function main() {
  const windows = sizes('windows');
  const counts = sizes('tokens');
  const depths = sizes('depths');
  const folder = fs.mkdtempSync(path.join(BUILD, 'centring-bench-'));
  const engine = await loadEngine();
  let model;
  try {
    model = await engine.loadModel(await copyFor(folder, Math.max(...windows)), { gpuLayers: 0 });
    const tokens = model.tokenize(fs.readFileSync(values.text, 'utf8'), { addSpecial: true });
    const progress = new Progress(1 + depths.length);
    const threads = sizeOf('threads');
    const cases = await progress.stage('calibrations', () => calibrateAll(model, counts, windows, threads));
    const rows = [];
    for (const depth of depths) {
      const chunks = Math.max(1, Math.floor(Math.min(sizeOf('read'), tokens.length) / depth));
      const read = tokens.subarray(0, chunks * depth);
      rows.push(
        ...(await progress.stage(`${chunks} x ${depth} tokens`, (on) =>
          measure(model, cases, { depth, chunks, read, threads }, (fraction) => on({ fraction })),
        )),
      );
    }
    console.log(values.json ? JSON.stringify({ model: model.info.name, ...values, rows }) : tableOf(rows));
  } finally {
    await model?.dispose();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function copyFor(folder, positions) {
  const { writeForPositions } = await loadTypeScript('test/engine/gguf.ts');
  return writeForPositions(modelFile(values.model), path.join(folder, 'model.gguf'), positions, values['m-rope']);
}

/** Not centred, and each calibration. */
async function calibrateAll(model, counts, windows, threads) {
  const text = fs.readFileSync(CALIBRATION_TEXT, 'utf8');
  const cases = [{ name: 'not centred', bytes: null }];
  for (const maxTokens of counts) {
    for (const positions of windows) {
      const bytes = await model.calibrate({ text, maxTokens, positions, threads });
      cases.push({ name: `${maxTokens} tokens for ${positions}`, bytes });
    }
  }
  return cases;
}

async function measure(model, cases, { depth, chunks, read, threads }, onProgress) {
  const open = [];
  const create = async (type, bytes) => {
    model.attachCalibration(bytes);
    const context = await model.createContext(contextOptions({ typeK: type, typeV: type }, depth, threads));
    open.push(context);
    const { k, v } = context.effective.centring;
    if (k !== (bytes !== null) || v !== k) throw new Error(`This model is centred in part: K ${k}, V ${v}.`);
    return context;
  };
  try {
    const reference = await create('f16', null);
    const contexts = [];
    for (const { bytes } of cases) contexts.push(await create(values.type, bytes));
    const { klds, results } = await reference.compare(contexts, read, { chunk: depth, onProgress });
    return cases.map(({ name }, i) => ({
      ...{ name, depth, chunks, tokens: results[i].tokens },
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
  const cells = rows.map(({ name, depth, tokens, kld, kld999, change, changeError }) => {
    const base = kld - change;
    const changed = change === 0 ? '' : `${percent(change, base)} ± ${percent(changeError, base)}`;
    return [name, depth, tokens, kld.toFixed(5), kld999.toFixed(3), changed];
  });
  const head = ['calibration', 'depth', 'tokens', 'mean KLD', '99.9% KLD', 'change, ± paired standard error'];
  return table(head, cells);
}

await runCommand(main);
