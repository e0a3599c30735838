// `npm run bench:speculation`: what drafting from the text (the setting "Draft from the text") brings where an answer quotes and
// where it does not, and whether greedy texts stay the same. In each round both contexts answer the same prompt from an empty
// cache, and take turns at being first; a ratio is made within a round. `quotes`: a passage, then its beginning once more, greedy.
// `writes`: the same passage without that, at temperature 1, so that no answer repeats itself.
// CLI: npm run bench:speculation -- [--model FILE|small|tiny] [--prompt 512] [--generate 256] [--rounds 6]
//      [--types f16,q8_0,turbo4,turbo3] [--threads 0] [--json]

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../../native/prepare/paths.mjs';
import { modelFile } from '../models.mjs';
import { list, number, pairOf, runCommand, table } from './command.mjs';
import { contextOptions, loadEngine } from './quality/engine.mjs';
import { median, ratioOf } from './speed/report.mjs';

/** of the passage that is begun again */
const BEGUN = 24;
/** drafts are always made: as if they had been measured as faster */
const ALWAYS = { withTokens: 200, withoutTokens: 64, withMs: 1e-6, withoutMs: 1e9 };

const GREEDY = { temperature: 0, topK: 1, topP: 1, minP: 0, repeatPenalty: 1, seed: 1 };
const TASKS = [
  { name: 'quotes', sampling: GREEDY, prompt: (passage) => Int32Array.from([...passage, ...passage.slice(0, BEGUN)]) },
  { name: 'writes', sampling: { ...GREEDY, temperature: 1, topK: 0 }, prompt: (passage) => passage },
];

function readOptions(args) {
  const text = (preset) => /** @type {const} */ ({ type: 'string', ...(preset ? { default: preset } : {}) });
  const { values } = parseArgs({
    args,
    options: {
      ...{ model: text('small'), text: text(path.join(ROOT, 'test', 'fixtures', 'heldout.txt')), types: text() },
      ...{ prompt: text('512'), generate: text('256'), rounds: text('6'), threads: text('0') },
      json: { type: 'boolean', default: false },
    },
  });
  return {
    ...{ model: modelFile(values.model), text: values.text, json: values.json },
    prompt: number('--prompt', values.prompt, BEGUN, 1 << 20),
    generate: number('--generate', values.generate, 2, 1 << 20),
    rounds: number('--rounds', values.rounds, 1, 1000),
    types: list('--types', values.types, ['f16', 'q8_0', 'turbo4', 'turbo3'], pairOf),
    threads: number('--threads', values.threads, 0, 512),
  };
}

async function main(args) {
  const options = readOptions(args);
  const engine = await loadEngine();
  const model = await engine.loadModel(options.model, { gpuLayers: -1 });
  const tokens = model.tokenize(fs.readFileSync(options.text, 'utf8'));
  const results = [];
  for (const type of options.types) results.push(...(await measureType(model, type, tokens, options)));
  await model.dispose();
  if (options.json) return console.log(JSON.stringify({ ...options, results }, null, 2));
  report(options, results);
}

async function measureType(model, type, tokens, options) {
  const [typeK, typeV = typeK] = type.split('/');
  const nCtx = Math.ceil((options.prompt + BEGUN + options.generate + 1) / 512) * 512;
  const settings = contextOptions({ typeK, typeV }, nCtx, options.threads);
  const contexts = [];
  for (const speculation of ['off', 'ngram']) contexts.push(await model.createContext({ ...settings, speculation }));
  const results = [];
  for (const task of TASKS) {
    results.push({ type, task: task.name, ...(await measureTask(contexts, task, tokens, options, type)) });
  }
  for (const context of contexts) await context.dispose();
  return results;
}

/** Another passage of the text in each round. */
async function measureTask(contexts, task, tokens, { prompt, generate, rounds }, type) {
  const seconds = [new Map(), new Map()];
  const sums = { drafted: 0, accepted: 0, compared: 0, divergences: [] };
  let trial;
  // the first round, which also reads weights and touches new memory, does not count
  for (let round = 0; round <= rounds; round++) {
    const from = (round * prompt) % Math.max(1, tokens.length - prompt);
    const asked = task.prompt(tokens.slice(from, from + prompt));
    const answers = [];
    for (const side of round % 2 ? [0, 1] : [1, 0]) {
      answers[side] = await answer(contexts[side], asked, task.sampling, generate, ALWAYS);
    }
    // one chat, until it has found out by itself
    if (!trial || trial.withoutTokens < ALWAYS.withoutTokens) {
      trial = (await answer(contexts[1], asked, task.sampling, generate, trial)).result.trial;
    }
    if (round === 0) continue;
    for (const [side, { result }] of answers.entries()) {
      seconds[side].set(round, result.decodeMs / 1000 / result.decodeTokens);
    }
    sums.drafted += answers[1].result.drafts.drafted;
    sums.accepted += answers[1].result.drafts.accepted;
    if (task.sampling === GREEDY) await compare(answers, asked, contexts[0], generate, sums);
    console.error(`${type}, ${task.name}, round ${round} of ${rounds}`);
  }
  const rate = (side) => 1 / median([...seconds[side].values()]);
  return {
    ...{ without: rate(0), with: rate(1), timesAsFast: ratioOf(seconds[1], seconds[0]), ...sums },
    keeps:
      trial.withoutTokens < ALWAYS.withoutTokens
        ? null
        : trial.withMs / trial.withTokens <= trial.withoutMs / trial.withoutTokens,
  };
}

/** Up to the first token that differs; there, by how much the likeliest one was ahead of the second in the context without drafts. */
async function compare([plain, drafted], prompt, context, maxTokens, sums) {
  const at = plain.tokens.findIndex((token, index) => token !== drafted.tokens[index]);
  sums.compared += at < 0 ? plain.tokens.length : at + 1;
  if (at < 0) return;
  const { chunks } = await answer(context, prompt, GREEDY, maxTokens, undefined, 2);
  const [first, second] = chunks.filter(({ token }) => token !== null)[at]?.candidates ?? [];
  sums.divergences.push({ at, logitsApart: first && second ? Math.log(first.probability / second.probability) : null });
}

async function answer(context, prompt, sampling, maxTokens, trial, candidates = 0) {
  context.clear();
  const options = { sampling, stop: [], maxTokens, ignoreEnd: true, candidates, ...(trial && { trial }) };
  const chunks = [];
  const generator = context.generate(prompt, options);
  let step = await generator.next();
  for (; !step.done; step = await generator.next()) chunks.push(step.value);
  const tokens = chunks.flatMap(({ token }) => (token === null ? [] : [token]));
  return { chunks, tokens, result: step.value };
}

function report({ model, prompt, generate, rounds }, results) {
  const load = os.loadavg()[0].toFixed(2);
  console.log(`${path.basename(model)}, passage of ${prompt} tokens, answers of ${generate}, ${rounds} rounds`);
  console.log(`${os.cpus()[0]?.model.trim()}, ${os.availableParallelism()} cores, load average ${load} at the end\n`);
  const rows = results.map((one) => [
    ...[one.type, one.task, one.without.toFixed(1), one.with.toFixed(1)],
    `${one.timesAsFast.median.toFixed(2)} (${one.timesAsFast.p10.toFixed(2)}-${one.timesAsFast.p90.toFixed(2)})`,
    one.drafted === 0 ? 'none' : `${one.accepted} of ${one.drafted}`,
    one.keeps === null ? 'undecided' : one.keeps ? 'on' : 'off',
    one.compared === 0 ? '' : `${one.divergences.length} in ${one.compared}`,
  ]);
  const head = ['cache', 'task', 'tok/s, off', 'on', 'times as fast', 'accepted', 'the chat keeps it', 'other tokens'];
  console.log(table(head, rows));
  const all = results.flatMap(({ divergences }) => divergences);
  const compared = results.reduce((sum, one) => sum + one.compared, 0);
  const gaps = all.map(({ logitsApart }) => (logitsApart ?? Number.NaN).toFixed(3)).join(', ');
  console.log(
    `\n${compared} greedy tokens compared, ${all.length} divergences${gaps && `; logits apart there: ${gaps}`}`,
  );
}

await runCommand(main);
