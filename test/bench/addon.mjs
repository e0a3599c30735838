// `npm run bench:addon`: answers of two builds of the addon, another one against that of this tree: time to the first token, tokens
// per second, and whether the texts are the same. Both run in this process; in each round both answer the same prompt from an empty
// cache, and they take turns at being first. A figure is the median of the rounds, a ratio is made within a round.
// CLI: npm run bench:addon -- --base OLD.node [--model FILE|small|tiny] [--prompt 256] [--generate 256] [--rounds 15]
//      [--types turbo4,q8_0,f16] [--threads 0] [--json]

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../../native/prepare/paths.mjs';
import { modelFile } from '../models.mjs';
import { list, number, OptionError, pairOf, runCommand, table } from './command.mjs';
import { contextOptions, fill, loadTypeScript } from './quality/engine.mjs';
import { median, ratioOf } from './speed/report.mjs';

const GREEDY = { temperature: 0, topK: 1, topP: 1, minP: 0, repeatPenalty: 1, seed: 1 };

function readOptions(args) {
  const text = (preset) => /** @type {const} */ ({ type: 'string', ...(preset ? { default: preset } : {}) });
  const { values } = parseArgs({
    args,
    options: {
      base: text(),
      model: text('small'),
      text: text(path.join(ROOT, 'test', 'fixtures', 'heldout.txt')),
      ...{ prompt: text('256'), generate: text('256'), rounds: text('15'), types: text(), threads: text('0') },
      json: { type: 'boolean', default: false },
    },
  });
  if (!values.base) throw new OptionError('--base names the concertina.node to compare with.');
  return {
    ...{ base: path.resolve(values.base), model: modelFile(values.model), text: values.text, json: values.json },
    prompt: number('--prompt', values.prompt, 1, 1 << 20),
    generate: number('--generate', values.generate, 2, 1 << 20),
    rounds: number('--rounds', values.rounds, 1, 1000),
    types: list('--types', values.types, ['turbo4', 'q8_0', 'f16'], pairOf),
    threads: number('--threads', values.threads, 0, 512),
  };
}

async function main(args) {
  const options = readOptions(args);
  const { loadAddon } = await loadTypeScript('electron/engine/native/engine.ts');
  const addons = [loadAddon(options.base), loadAddon()];
  const load = (addon) => addon.loadModel(options.model, -1, () => {}, new addon.Cancellation());
  const sides = [];
  for (const addon of addons) sides.push({ addon, model: await load(addon) });
  const tokens = fill(sides[0].model.tokenize(fs.readFileSync(options.text, 'utf8'), false, false), options.prompt);
  const results = [];
  for (const type of options.types) results.push(await compare(sides, type, tokens, options));
  for (const { model } of sides) await model.dispose();
  if (options.json) return console.log(JSON.stringify({ ...options, results }, null, 2));
  report(options, results);
}

async function compare(sides, type, tokens, { generate, rounds, threads }) {
  const [typeK, typeV = typeK] = type.split('/');
  const nCtx = Math.ceil((tokens.length + generate + 1) / 512) * 512;
  const settings = { ...contextOptions({ typeK, typeV }, nCtx, threads), rope: 'model' };
  const contexts = [];
  for (const { model } of sides) contexts.push(await model.createContext(settings));
  const samples = sides.map(() => ({ ttft: new Map(), token: new Map() }));
  let same = true;
  // the first round, which also reads weights and touches new memory, does not count
  for (let round = 0; round <= rounds; round++) {
    const texts = [];
    for (const side of round % 2 ? [0, 1] : [1, 0]) {
      const { ttftMs, decodeMs, decodeTokens, text } = await answer(
        sides[side].addon,
        contexts[side],
        tokens,
        generate,
      );
      texts.push(text);
      if (round === 0) continue;
      samples[side].ttft.set(round, ttftMs / 1000);
      samples[side].token.set(round, decodeMs / 1000 / decodeTokens);
    }
    same &&= texts[0] === texts[1];
    if (round > 0) console.error(`${type}, round ${round} of ${rounds}`);
  }
  for (const context of contexts) await context.dispose();
  const of = (what) => ({
    base: median([...samples[0][what].values()]),
    this: median([...samples[1][what].values()]),
    timesAsFast: ratioOf(samples[1][what], samples[0][what]),
  });
  return { type, same, ttftSeconds: of('ttft'), secondsPerToken: of('token') };
}

function answer(addon, context, tokens, maxTokens) {
  context.clear();
  const sampling = { sampling: GREEDY, now: 0, jsonSchema: '', grammar: '', continueFrom: { text: '', thinking: '' } };
  const options = { ...sampling, stop: [], maxTokens, candidates: 0, ignoreEnd: true };
  return context.generate(
    tokens,
    options,
    () => {},
    () => {},
    new addon.Cancellation(),
  );
}

function report({ model, prompt, generate, rounds }, results) {
  const load = os.loadavg()[0].toFixed(2);
  console.log(`${path.basename(model)}, prompt of ${prompt} tokens, answer of ${generate}, ${rounds} rounds`);
  console.log(`${os.cpus()[0]?.model.trim()}, ${os.availableParallelism()} cores, load average ${load} at the end\n`);
  const ratio = ({ median, p10, p90 }) => `${median.toFixed(3)} (${p10.toFixed(3)}-${p90.toFixed(3)})`;
  const rows = results.map(({ type, same, ttftSeconds: ttft, secondsPerToken: token }) => [
    ...[type, ...[ttft.base, ttft.this].map((value) => (value * 1000).toFixed(1)), ratio(ttft.timesAsFast)],
    ...[token.base, token.this].map((value) => (1 / value).toFixed(1)),
    ...[ratio(token.timesAsFast), same ? 'yes' : 'NO'],
  ]);
  const ttft = ['TTFT ms, base', 'this', 'times as fast'];
  console.log(table(['cache', ...ttft, 'tok/s, base', 'this', 'times as fast', 'same text'], rows));
}

await runCommand(main);
