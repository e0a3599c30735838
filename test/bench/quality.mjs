// `npm run quality`: what each KV cache type costs in quality against f16, on any model and text: perplexity, KL
// divergence, how often the most likely token stays, and facts found in long text.
// CLI: npm run quality -- --help        stdout: tables, or one JSON object with --json; progress goes to stderr

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { BUILD, ROOT } from '../../native/prepare/paths.mjs';
import { Progress } from '../../native/prepare/progress.mjs';
import { runCommand, writeRun } from './command.mjs';
import { loadEngine } from './quality/engine.mjs';
import {
  ask,
  createContext,
  evaluateDepth,
  fitInto,
  makeDocuments,
  newRow,
  plan,
  SHALLOWEST_NEEDLES,
} from './quality/measure.mjs';
import { HELP, missingOf, pairsOf, parseOptions, readResult } from './quality/options.mjs';
import { addTo, charts, markdown, requireSame, resultOf, writeDocument } from './quality/report.mjs';
import { contentOf, f16Weights } from './quality/weights.mjs';

const say = (line) => console.error(line);

async function measure(settings, command) {
  const startedAt = Date.now();
  const engine = await loadEngine();
  const { earlier } = settings;
  const pairs = missingOf(earlier, pairsOf(settings, engine.capabilities().cacheTypes));
  const { nCtxTrain } = await engine.inspect(settings.model);
  const f16 = settings.weights === 'f16';
  const progress = new Progress((f16 ? 1 : 0) + settings.depths.length + (settings.documents > 0 ? 1 : 0));
  const modelFile = f16
    ? await progress.stage('f16 weights', (onProgress) => f16Weights(settings.model, { onProgress }))
    : settings.model;
  const model = await engine.loadModel(modelFile, { gpuLayers: 0 });
  const folder = fs.mkdtempSync(path.join(BUILD, 'quality-'));
  try {
    const text = fs.readFileSync(settings.text, 'utf8');
    const tokens = model.tokenize(text, { addSpecial: true });
    const rows = pairs.map(newRow);
    const steps =
      earlier && settings.chunks === null ? stepsOf(earlier, settings) : plan(settings, tokens.length, nCtxTrain);
    const result = (measured) =>
      resultOf({
        ...measured,
        command,
        settings,
        model: { ...model.info, file: path.basename(settings.model), sha256: contentOf(settings.model) },
        textSha256: contentOf(settings.text),
        engine: engine.capabilities(),
        date: new Date().toISOString(),
        seconds: (Date.now() - startedAt) / 1000,
        cpu: os.cpus()[0]?.model.trim() ?? 'unknown processor',
      });
    if (earlier) requireSame(earlier, result({ rows: [], depths: steps.map((step) => ({ ...step, tokens: 0 })) }));
    const setting = { engine, model, modelFile, tokens, folder, say, threads: settings.threads };
    const depths = await evaluateAll(setting, rows, steps, earlier ? Infinity : settings.budget, progress);
    if (settings.documents > 0) {
      await progress.stage('needles', (on) => findNeedles({ ...settings, ...setting, text }, rows, on));
    }
    const measured = result({ rows, depths });
    return earlier ? addTo(earlier, measured) : measured;
  } finally {
    await model.dispose();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** As many chunks as were read before, so that the figures are of the same tokens. */
const stepsOf = (earlier, { depths }) => depths.map((depth) => ({ depth, chunks: earlier.depths[depth]?.chunks ?? 0 }));

async function evaluateAll(setting, rows, steps, budget, progress) {
  const startedAt = performance.now();
  const spent = () => (performance.now() - startedAt) / 1000;
  const done = [];
  let ahead = steps;
  if (Number.isFinite(budget)) {
    // one chunk shows how fast this machine is
    const sample = { ...steps[0], chunks: 1 };
    await evaluateDepth(setting, rows, sample.depth, sample.chunks, () => {});
    ahead = fitInto([sample], steps, spent(), budget - spent());
  }
  while (ahead.length > 0) {
    const { depth, chunks } = ahead[0];
    const what = `${chunks} x ${depth} tokens, ${rows.length} types and pairs`;
    const tokens = await progress.stage(what, (on) => evaluateDepth(setting, rows, depth, chunks, on));
    done.push({ depth, chunks, tokens });
    ahead = fitInto(done, ahead.slice(1), spent(), budget - spent());
  }
  return done;
}

async function findNeedles({ text, depths, documents, ...setting }, rows, onProgress) {
  const count = (part) => setting.model.tokenize(part).length;
  const deep = depths.filter((depth) => depth >= SHALLOWEST_NEEDLES);
  const sets = deep.map((depth) => ({ depth, documents: makeDocuments(text, count, depth, documents) }));
  const total = rows.length * sets.reduce((sum, { depth }) => sum + depth, 0);
  let done = 0;
  for (const row of rows) {
    row.needles = {};
    for (const { depth, documents } of sets) {
      onProgress({ fraction: done / total, detail: `${row.name} at ${depth}` });
      const context = await createContext(setting, row, depth);
      const answered = await ask(context, documents);
      await context.dispose();
      row.needles[depth] = { right: answered.filter(Boolean).length, of: answered.length };
      done += depth;
    }
  }
}

async function main(args) {
  const settings = parseOptions(args);
  if (settings.help) return console.log(HELP);
  const result = settings.from
    ? readResult(settings.from)
    : await measure(settings, ['npm run quality --', ...args].join(' '));
  if (!settings.from) {
    writeRun(settings.out ?? path.join(BUILD, 'quality'), 'quality', result, markdown(result), charts(result));
  }
  if (settings.writeDocs) for (const file of writeDocument(result)) say(`wrote ${path.relative(ROOT, file)}`);
  console.log(settings.json ? JSON.stringify(result) : markdown(result));
}

await runCommand(main);
