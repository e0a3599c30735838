// `npm run bench:addon`: answers of two engines, that of another checkout against this one's: time to the first token, tokens per
// second, and whether the texts are the same. Each has a process of its own, as in the app: two in one process would share its
// threads, which then sleep at each barrier. In each round both answer the same prompt from an empty cache, one after the other,
// and they take turns at being first. A figure is the median of the rounds, a ratio is made within a round.
// CLI: npm run bench:addon -- --base CHECKOUT [--model FILE|small|tiny] [--prompt 256] [--generate 256] [--rounds 15]
//      [--types turbo4,q8_0,f16] [--threads 0] [--json]

import { fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../../native/prepare/paths.mjs';
import { modelFile } from '../models.mjs';
import { CommandError, list, number, OptionError, pairOf, runCommand, table } from './command.mjs';
import { contextOptions, fill } from './quality/engine.mjs';
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
  if (!values.base) throw new OptionError('--base names a checkout, with its build, to compare with.');
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
  const sides = [startSide(options.base, options), startSide(ROOT, options)];
  const results = [];
  try {
    for (const type of options.types) results.push(await compare(sides, type, options));
  } finally {
    for (const { stop } of sides) stop();
  }
  if (options.json) return console.log(JSON.stringify({ ...options, results }, null, 2));
  report(options, results);
}

async function compare(sides, type, { generate, rounds }) {
  for (const { ask } of sides) await ask({ type });
  const samples = sides.map(() => ({ ttft: new Map(), token: new Map() }));
  let same = true;
  // the first round, which also reads weights and touches new memory, does not count
  for (let round = 0; round <= rounds; round++) {
    const texts = [];
    for (const side of round % 2 ? [0, 1] : [1, 0]) {
      const { ttftMs, decodeMs, decodeTokens, text } = await sides[side].ask({ generate });
      texts.push(text);
      if (round === 0) continue;
      samples[side].ttft.set(round, ttftMs / 1000);
      samples[side].token.set(round, decodeMs / 1000 / decodeTokens);
    }
    same &&= texts[0] === texts[1];
    if (round > 0) console.error(`${type}, round ${round} of ${rounds}`);
  }
  const of = (what) => ({
    base: median([...samples[0][what].values()]),
    this: median([...samples[1][what].values()]),
    timesAsFast: ratioOf(samples[1][what], samples[0][what]),
  });
  return { type, same, ttftSeconds: of('ttft'), secondsPerToken: of('token') };
}

// A process with one of the builds: the parent asks it for one thing after the other.

/** `root`: of the checkout. `ask` rejects with what was thrown there, and when the process ends. */
function startSide(root, options) {
  const env = { ...process.env, CONCERTINA_BENCH_SIDE: JSON.stringify({ ...options, root }) };
  const child = fork(import.meta.filename, [], { env });
  const ended = once(child, 'exit').then(([code, signal]) => [{ error: `it ended with ${signal ?? code}` }]);
  const ask = async (wanted) => {
    const answered = once(child, 'message');
    child.send(wanted, () => undefined);
    const [reply] = await Promise.race([answered, ended]);
    if (reply.error) throw new CommandError(`${root}: ${reply.error}`);
    return reply;
  };
  return { ask, stop: () => void child.kill() };
}

/** Answers what is asked: a context of a cache type in place of the one before, or an answer in it. */
async function serveSide({ root, model: path, text, prompt, generate: most, threads }) {
  const { loadEngine } = await import(`${root}/test/bench/quality/engine.mjs`);
  const model = await (await loadEngine()).loadModel(path, { gpuLayers: -1 });
  const tokens = fill(model.tokenize(fs.readFileSync(text, 'utf8')), prompt);
  let context;
  return async ({ type, generate }) => {
    if (type === undefined) return answer(context, tokens, generate);
    const [typeK, typeV = typeK] = type.split('/');
    const nCtx = Math.ceil((tokens.length + most + 1) / 512) * 512;
    await context?.dispose();
    context = await model.createContext(contextOptions({ typeK, typeV }, nCtx, threads));
    return {};
  };
}

async function answer(context, tokens, maxTokens) {
  context.clear();
  const generator = context.generate(tokens, { sampling: GREEDY, stop: [], maxTokens, ignoreEnd: true });
  let step = await generator.next();
  while (!step.done) step = await generator.next();
  return step.value;
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

const side = process.env.CONCERTINA_BENCH_SIDE;
if (side === undefined) await runCommand(main);
else {
  const served = serveSide(JSON.parse(side));
  process.on('message', (wanted) => {
    served
      .then((reply) => reply(wanted))
      .then(({ ttftMs, decodeMs, decodeTokens, text }) => ({ ttftMs, decodeMs, decodeTokens, text }))
      .catch((error) => ({ error: String(error.message) }))
      .then((reply) => process.send?.(reply));
  });
}
