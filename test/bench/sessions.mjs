// `npm run bench:sessions`: restoring a saved session against reading the same tokens again, on any model.
// Rounds interleave what is compared; a figure is the median of the rounds. Each restored context must continue greedily as
// the one that was read did.
// CLI: npm run bench:sessions -- [--model FILE|small|tiny] [--tokens 8000] [--types f16,turbo4,turbo3] [--rounds 3] [--threads 0] [--json]

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { BUILD, ROOT } from '../../native/prepare/paths.mjs';
import { modelFile } from '../models.mjs';
import { dropFromCache, number, runCommand, table } from './command.mjs';
import { contextOptions, fill, loadEngine } from './quality/engine.mjs';
import { median } from './speed/report.mjs';

const CONTINUED = 64;
const GREEDY = { temperature: 0, topK: 1, topP: 1, minP: 0, repeatPenalty: 1, seed: 1 };
// has no end, so that the model does not end early
const GRAMMAR = 'root ::= [a-z ] root';

const { values } = parseArgs({
  options: {
    model: { type: 'string', default: 'small' },
    text: { type: 'string', default: path.join(ROOT, 'test', 'fixtures', 'heldout.txt') },
    tokens: { type: 'string', default: '8000' },
    types: { type: 'string', default: 'f16,turbo4,turbo3' },
    rounds: { type: 'string', default: '3' },
    threads: { type: 'string', default: '0' },
    json: { type: 'boolean', default: false },
  },
});

async function main() {
  const rounds = number('--rounds', values.rounds, 1, 1000);
  const folder = fs.mkdtempSync(path.join(BUILD, 'sessions-bench-'));
  const engine = await loadEngine();
  const model = await engine.loadModel(modelFile(values.model), { gpuLayers: -1 });
  try {
    const tokens = fill(
      model.tokenize(fs.readFileSync(values.text, 'utf8')),
      number('--tokens', values.tokens, 1, 1 << 20),
    );
    const rows = values.types.split(',').map((type) => ({ type, rounds: [] }));
    for (let round = 0; round < rounds; round++) {
      for (const row of rows) {
        row.rounds.push(await measure(model, row.type, tokens, path.join(folder, `${row.type}.kv`)));
        console.error(`round ${round + 1}, ${row.type}: ${JSON.stringify(row.rounds.at(-1))}`);
      }
    }
    report(model, tokens.length, rows);
  } finally {
    await model.dispose();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(model, type, tokens, file) {
  const options = contextOptions(
    { typeK: type, typeV: type },
    Math.ceil((tokens.length + 2 * CONTINUED) / 256) * 256,
    number('--threads', values.threads, 0, 512),
  );
  const read = await model.createContext(options);
  if (read.effective.nCtx < tokens.length + 2 * CONTINUED)
    throw new Error(`a context of ${read.effective.nCtx} tokens is too short; give fewer --tokens`);
  const { promptMs } = await generate(read, tokens, 1);
  const [saveMs, bytes] = await timed(() => read.saveSession(file));
  const expected = await generate(read, tokens, CONTINUED);
  await read.dispose();

  const context = await model.createContext(options);
  const [warmMs] = await timed(() => context.loadSession(file));
  await context.dispose();
  const cold = dropFromCache(file);
  const again = await model.createContext(options);
  const [coldMs] = await timed(() => again.loadSession(file));
  const restored = await generate(again, tokens, CONTINUED);
  await again.dispose();
  return {
    ...{ bytes, readMs: promptMs, saveMs, warmMs, coldMs: cold ? coldMs : null },
    same: restored.text === expected.text && restored.answerTokens === CONTINUED,
    cached: restored.cachedTokens / tokens.length,
  };
}

async function generate(context, tokens, maxTokens) {
  const generator = context.generate(tokens, { sampling: GREEDY, stop: [], maxTokens, grammar: GRAMMAR });
  for (;;) {
    const step = await generator.next();
    if (step.done) return step.value;
  }
}

async function timed(task) {
  const start = performance.now();
  const result = await task();
  return [performance.now() - start, result];
}

function report(model, tokens, rows) {
  const result = rows.map(({ type, rounds }) => {
    const of = (key) => median(rounds.map((round) => round[key]));
    const coldMs = rounds.every((round) => round.coldMs !== null) ? of('coldMs') : null;
    return {
      ...{ type, bytes: of('bytes'), readMs: of('readMs'), saveMs: of('saveMs'), warmMs: of('warmMs'), coldMs },
      ratio: of('readMs') / (coldMs ?? of('warmMs')),
      same: rounds.every(({ same }) => same),
      cached: of('cached'),
    };
  });
  if (values.json)
    return console.log(JSON.stringify({ model: path.basename(modelFile(values.model)), tokens, result }, null, 2));
  console.log(
    `${model.info.name}, ${tokens} tokens, ${os.cpus()[0]?.model.trim()}, median of ${values.rounds} rounds\n`,
  );
  const ms = (value) => (value === null ? 'not measured' : `${value.toFixed(value < 100 ? 1 : 0)} ms`);
  const times = ['read', 'save', 'restore, cached file', 'restore from disk'];
  const cells = result.map(({ type, bytes, readMs, saveMs, warmMs, coldMs, ratio, same }) => [
    ...[type, (bytes / 2 ** 20).toFixed(1), ...[readMs, saveMs, warmMs, coldMs].map(ms)],
    ...[`${ratio.toFixed(0)}x`, same ? 'yes' : 'NO'],
  ]);
  console.log(table(['cache', 'file MiB', ...times, 'reading / restoring', 'same 64 tokens'], cells));
}

await runCommand(main);
