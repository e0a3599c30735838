// `npm run bench:speculation`: whether greedy texts stay the same when tokens are drafted from the text (the setting
// Drafting → Text), over every cache type, and what drafting brings where an answer quotes and where it does not.
// The same: a text that parts counts as another one where the two likeliest tokens lie further apart than chance moves them, which
// is measured beforehand by reading the same tokens in batches of other sizes. Speed: in each round both contexts answer the same
// prompt from an empty cache, and take turns at being first; a ratio is made within a round. `quotes`: a passage, then its beginning
// once more, greedy. `writes`: the same passage without that, at temperature 1, so that no answer repeats itself.
// CLI: npm run bench:speculation -- [--model FILE|small|tiny] [--prompt 512] [--generate 256] [--rounds 6] [--types turbo4,f16]
//      [--same 5000] [--same-types all] [--threads 0] [--json]
//      --rounds 0: no speed; --same: tokens that are compared, in all types together; 0: none

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
      ...{ same: text('5000'), 'same-types': text() },
      json: { type: 'boolean', default: false },
    },
  });
  return {
    ...{ model: modelFile(values.model), text: values.text, json: values.json },
    prompt: number('--prompt', values.prompt, BEGUN, 1 << 20),
    generate: number('--generate', values.generate, 2, 1 << 20),
    rounds: number('--rounds', values.rounds, 0, 1000),
    types: list('--types', values.types, ['turbo4', 'f16'], pairOf),
    same: number('--same', values.same, 0, 1 << 24),
    sameTypes: list('--same-types', values['same-types'], [], pairOf),
    threads: number('--threads', values.threads, 0, 512),
  };
}

async function main(args) {
  const options = readOptions(args);
  const engine = await loadEngine();
  const model = await engine.loadModel(options.model, { gpuLayers: -1 });
  const tokens = model.tokenize(fs.readFileSync(options.text, 'utf8'));
  const known = engine.capabilities().cacheTypes;
  const wanted = options.sameTypes.length > 0 ? options.sameTypes : known;
  const same = [];
  for (const type of options.same > 0 ? wanted : []) {
    same.push({
      type,
      ...(await compareType(model, type, tokens, { ...options, least: options.same / wanted.length })),
    });
  }
  const results = [];
  for (const type of options.rounds > 0 ? options.types : [])
    results.push(...(await measureType(model, type, tokens, options)));
  await model.dispose();
  if (options.json) console.log(JSON.stringify({ ...options, same, results }, null, 2));
  else report(options, same, results);
  process.exitCode = same.some(({ divergences }) => divergences.length > 0) ? 1 : 0;
}

/** A context without drafts, and one with them. */
async function contextsOf(model, type, { prompt, generate, threads }) {
  const [typeK, typeV = typeK] = type.split('/');
  const nCtx = Math.ceil((prompt + BEGUN + generate + 1) / 512) * 512;
  const settings = contextOptions({ typeK, typeV }, nCtx, threads);
  const contexts = [];
  for (const speculation of ['off', 'ngram']) contexts.push(await model.createContext({ ...settings, speculation }));
  return contexts;
}

/** Another passage of the text in each round. */
const passageOf = (tokens, round, prompt) => {
  const from = (round * prompt) % Math.max(1, tokens.length - prompt);
  return tokens.slice(from, from + prompt);
};

// Whether the texts are the same.

/** Sizes of the batches in which an answer is read again; a draft is checked in one of some such size. */
const BATCHES = [2, 4, 8, 16];

/** Greedy answers until so many tokens were compared; `bound`: the most that chance moves a log-probability */
async function compareType(model, type, tokens, options) {
  const contexts = await contextsOf(model, type, options);
  const sums = { compared: 0, accepted: 0, bound: 0 };
  const parts = [];
  for (let round = 0; sums.compared < options.least; round++) {
    const prompt = TASKS[0].prompt(passageOf(tokens, round, options.prompt));
    const plain = await answer(contexts[0], prompt, GREEDY, options.generate, undefined, 2);
    sums.bound = Math.max(sums.bound, await noiseOf(contexts[0], prompt, plain));
    const drafted = await answer(contexts[1], prompt, GREEDY, options.generate, ALWAYS);
    sums.accepted += drafted.result.drafts.accepted;
    const at = plain.tokens.findIndex((token, index) => token !== drafted.tokens[index]);
    sums.compared += at < 0 ? plain.tokens.length : at + 1;
    if (at >= 0) parts.push({ at, apart: apartAt(plain, at) });
    console.error(`${type}: ${sums.compared} of ${Math.ceil(options.least)} tokens compared`);
  }
  for (const context of contexts) await context.dispose();
  // both may move, each the other way
  const isDivergence = ({ apart }) => apart > 2 * sums.bound;
  return { ...sums, parted: parts.filter((one) => !isDivergence(one)), divergences: parts.filter(isDivergence) };
}

/** By how much the likeliest token was ahead of the second. */
function apartAt({ steps }, at) {
  const [first, second] = steps[at]?.candidates ?? [];
  return first && second ? Math.log(first.probability / second.probability) : Number.POSITIVE_INFINITY;
}

/** Largest difference of the log-probability of the token that was chosen one at a time, when the same tokens are read in batches. */
async function noiseOf(context, prompt, { tokens, steps }) {
  let most = 0;
  for (const size of BATCHES) {
    context.clear();
    for (let at = size; at < tokens.length; at += size) {
      // what is in the cache is kept: the last tokens of this are one batch
      const whole = Int32Array.from([...prompt, ...tokens.slice(0, at)]);
      const [again] = (await generateOn(context, whole, GREEDY, 1, undefined, 8)).steps;
      const [first] = steps[at]?.candidates ?? [];
      const same = again?.candidates.find(({ token }) => token === first?.token);
      if (first && same) most = Math.max(most, Math.abs(Math.log(first.probability / same.probability)));
    }
  }
  return most;
}

// Speed.

async function measureType(model, type, tokens, options) {
  const contexts = await contextsOf(model, type, options);
  const results = [];
  for (const task of TASKS) {
    results.push({ type, task: task.name, ...(await measureTask(contexts, task, tokens, options, type)) });
  }
  for (const context of contexts) await context.dispose();
  return results;
}

async function measureTask(contexts, task, tokens, { prompt, generate, rounds }, type) {
  const seconds = [new Map(), new Map()];
  const sums = { drafted: 0, accepted: 0 };
  let trial;
  // the first round, which also reads weights and touches new memory, does not count
  for (let round = 0; round <= rounds; round++) {
    const asked = task.prompt(passageOf(tokens, round, prompt));
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

/** From an empty cache. */
function answer(context, ...asked) {
  context.clear();
  return generateOn(context, ...asked);
}

/** @returns `steps`: the chunks that brought a token, one for each of `tokens` */
async function generateOn(context, prompt, sampling, maxTokens, trial, candidates = 0) {
  const options = { sampling, stop: [], maxTokens, ignoreEnd: true, candidates, ...(trial && { trial }) };
  const steps = [];
  const generator = context.generate(prompt, options);
  let step = await generator.next();
  for (; !step.done; step = await generator.next()) if (step.value.token !== null) steps.push(step.value);
  return { steps, tokens: steps.map(({ token }) => token), result: step.value };
}

function report({ model, prompt, generate, rounds }, same, results) {
  const load = os.loadavg()[0].toFixed(2);
  console.log(`${path.basename(model)}, passage of ${prompt} tokens, answers of ${generate}, ${rounds} rounds`);
  console.log(`${os.cpus()[0]?.model.trim()}, ${os.availableParallelism()} cores, load average ${load} at the end\n`);
  if (same.length > 0) {
    const gaps = (parts) =>
      parts.length === 0 ? '0' : `${parts.length} (${parts.map(({ apart }) => apart.toFixed(3)).join(', ')})`;
    const rows = same.map((one) => [
      ...[one.type, one.compared, one.accepted, (2 * one.bound).toFixed(4), gaps(one.parted), gaps(one.divergences)],
    ]);
    console.log(table(['cache', 'tokens compared', 'drafted', 'chance', 'part by chance', 'divergences'], rows));
    const sum = (of) => same.reduce((total, one) => total + of(one), 0);
    console.log(
      `\n${sum(({ compared }) => compared)} greedy tokens compared: ${sum(({ divergences }) => divergences.length)} divergences, ` +
        `${sum(({ parted }) => parted.length)} partings by chance (logits apart there)\n`,
    );
  }
  if (results.length === 0) return;
  const rows = results.map((one) => [
    ...[one.type, one.task, one.without.toFixed(1), one.with.toFixed(1)],
    `${one.timesAsFast.median.toFixed(2)} (${one.timesAsFast.p10.toFixed(2)}-${one.timesAsFast.p90.toFixed(2)})`,
    one.drafted === 0 ? 'none' : `${one.accepted} of ${one.drafted}`,
    one.keeps === null ? 'undecided' : one.keeps ? 'on' : 'off',
  ]);
  console.log(table(['cache', 'task', 'tok/s, off', 'on', 'times as fast', 'accepted', 'the chat keeps it'], rows));
}

await runCommand(main);
