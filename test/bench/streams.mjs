// `npm run bench:streams`: many answers of the API at once. For so many seconds, streams of greedy completions run against
// `concertina serve` and each is held against its sequential text: up to the first place where they part, which must be one where
// the two likeliest tokens lie closer than the same tokens differ by chance at other batch sizes. A marker in each prompt shows
// that nothing crossed. Then aggregate tokens per second of 1, 4, 8 and 16 streams that write answers to prompts which their slots
// hold already; with --against in turns with llama-server, whose turbo caches are not centered.
// CLI: npm run bench:streams -- [--streams 16] [--seconds 60] [--tokens 64] [--model FILE|small|tiny] [--type turbo4]
//      [--against LLAMA_SERVER] [--rounds 5] [--threads 2]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../../native/prepare/paths.mjs';
import { modelFile } from '../models.mjs';
import { freePort } from '../serve.mjs';
import { number, runCommand } from './command.mjs';
import { median } from './speed/report.mjs';

const COUNTS = [1, 4, 8, 16];
/** of batches in which the same tokens are repeated, to see by how much chance moves a logit */
const SIZES = [2, 3, 4, 8, 16];

function readOptions(args) {
  const text = (preset) => /** @type {const} */ ({ type: 'string', ...(preset ? { default: preset } : {}) });
  const { values } = parseArgs({
    args,
    options: {
      ...{ streams: text('16'), seconds: text('60'), tokens: text('64'), model: text('small'), type: text('turbo4') },
      ...{ against: text(), rounds: text('5'), threads: text('2') },
    },
  });
  return {
    ...{ model: modelFile(values.model), type: values.type, against: values.against },
    streams: number('--streams', values.streams, 1, 64),
    seconds: number('--seconds', values.seconds, 1, 86_400),
    tokens: number('--tokens', values.tokens, 8, 4096),
    rounds: number('--rounds', values.rounds, 1, 1000),
    threads: number('--threads', values.threads, 1, 512),
  };
}

/** A server with llama-server's options, when it answers. @returns {Promise<{ask: Function, pid: number, stop: () => Promise<void>}>} */
async function start(program, { model, type, threads }, slots) {
  const port = await freePort();
  const ours = program.endsWith('.mjs');
  const data = fs.mkdtempSync(path.join(os.tmpdir(), 'concertina-streams-'));
  const line = [
    ...['--port', String(port), '--host', '127.0.0.1', '--model', model, '--threads', String(threads)],
    ...['--ctx-size', String(slots * 512), '--parallel', String(slots), '--kv-unified', '-ctk', type, '-ctv', type],
    ...['--cache-ram', '0'],
  ];
  const child = spawn(ours ? process.execPath : program, ours ? [program, ...line] : line, {
    stdio: 'ignore',
    env: { ...process.env, CONCERTINA_SUITE_DATA: data },
  });
  const ended = once(child, 'exit');
  const stop = async () => {
    // llama-server may wait for its connections when it is asked to end
    child.kill(ours ? 'SIGTERM' : 'SIGKILL');
    await ended;
    fs.rmSync(data, { recursive: true, force: true });
  };
  process.once('exit', () => child.kill('SIGKILL'));
  const address = `http://127.0.0.1:${port}`;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
    if (
      await fetch(`${address}/health`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const ask = async (body) => {
    const response = await fetch(`${address}/completion`, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    return response.json();
  };
  return { ask, pid: /** @type {number} */ (child.pid), stop };
}

/** Words that stand in no other prompt. */
const marker = (index) => `marker${String.fromCharCode(97 + index)}${index}`;
const prompt = (index) =>
  `The word of stream ${index} is ${marker(index)}. ${'The clock in the hall strikes once an hour. '.repeat(1 + (index % 5))}` +
  `The word of this stream, ${marker(index)}, is written`;

const bodyOf = (index, tokens) => ({
  ...{ prompt: prompt(index), n_predict: tokens, temperature: 0, top_k: 0, ignore_eos: true, cache_prompt: false },
  ...{ n_probs: 2, return_tokens: true },
});

/** @returns {{tokens: number[], top: number[], gaps: number[], text: string}} log-probabilities of the chosen, distance to the next */
function stepsOf({ content, completion_probabilities: steps }) {
  return {
    text: content,
    tokens: steps.map(({ id }) => id),
    top: steps.map(({ logprob }) => logprob),
    gaps: steps.map(
      ({ top_logprobs: [first, second] }) => first.logprob - (second?.logprob ?? Number.NEGATIVE_INFINITY),
    ),
  };
}

const partAt = (a, b) => a.tokens.findIndex((token, at) => token !== b.tokens[at]);

/** Largest difference of a log-probability over the same tokens. */
function noiseOf(alone, other) {
  const end = partAt(alone, other);
  const same = end < 0 ? alone.tokens.length : end;
  return Math.max(0, ...alone.top.slice(0, same).map((value, at) => Math.abs(value - (other.top[at] ?? value))));
}

async function check(server, { streams, seconds, tokens }) {
  const all = [...Array(streams).keys()];
  const alone = [];
  for (const index of all) alone.push(stepsOf(await server.ask(bodyOf(index, tokens))));
  let bound = 0;
  for (const size of [...SIZES, ...SIZES].filter((one) => one <= streams)) {
    for (let first = 0; first + size <= streams; first += size) {
      const indices = all.slice(first, first + size);
      const answers = await Promise.all(indices.map((index) => server.ask(bodyOf(index, tokens))));
      answers.forEach((answer, at) => {
        bound = Math.max(bound, noiseOf(alone[indices[at]], stepsOf(answer)));
      });
    }
  }
  const counts = { answers: 0, tokens: 0, same: 0, parted: 0, wrong: 0, crossed: 0 };
  const memory = [residentBytes(server.pid)];
  const until = performance.now() + seconds * 1000;
  const half = performance.now() + seconds * 500;
  await Promise.all(
    all.map(async (index) => {
      while (performance.now() < until) {
        const got = stepsOf(await server.ask(bodyOf(index, tokens)));
        counts.answers++;
        counts.tokens += got.tokens.length;
        if (all.some((other) => other !== index && got.text.includes(marker(other)))) counts.crossed++;
        const at = partAt(alone[index], got);
        if (at < 0) counts.same++;
        // both may move: the two likeliest lie within twice the noise
        else if (alone[index].gaps[at] <= 2 * bound) counts.parted++;
        else counts.wrong++;
        if (memory.length === 1 && performance.now() > half) memory.push(residentBytes(server.pid));
      }
    }),
  );
  memory.push(residentBytes(server.pid));
  return { bound, counts, memory };
}

/** Of a process and those that it has started. */
function residentBytes(pid) {
  if (process.platform !== 'linux') return 0;
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  const own = Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  return children.reduce((sum, child) => sum + residentBytes(Number(child)), own);
}

/** Answers of one sample: one answer alone takes less time than other programs disturb. */
const LEAST_ANSWERS = 8;

/** Tokens per second of so many streams together, answers to prompts that were read before. */
async function rate(server, streams, tokens) {
  const bodies = [...Array(streams).keys()].map((index) => ({
    ...{ prompt: prompt(index), n_predict: tokens, temperature: 0, ignore_eos: true, cache_prompt: true },
  }));
  const started = performance.now();
  const turns = Math.ceil(LEAST_ANSWERS / streams);
  for (let turn = 0; turn < turns; turn++) await Promise.all(bodies.map((body) => server.ask(body)));
  return (turns * streams * tokens) / ((performance.now() - started) / 1000);
}

const listed = (ratios) => `${median(ratios).toFixed(3)} (${ratios.map((one) => one.toFixed(2)).join(' ')})`;

/** In each round every server answers every number of streams, so that all ratios are within a round. */
async function compare(servers, { rounds, tokens }) {
  const present = servers.filter(Boolean);
  const samples = present.map(() => COUNTS.map(() => /** @type {number[]} */ ([])));
  for (let round = 0; round <= rounds; round++) {
    for (const [at, streams] of COUNTS.entries()) {
      const turns = [...present.keys()];
      for (const side of round % 2 ? turns : turns.reverse()) {
        const perSecond = await rate(present[side], streams, tokens);
        if (round > 0) samples[side][at].push(perSecond); // the first one warms up and reads the prompts
      }
    }
  }
  for (const [at, streams] of COUNTS.entries()) {
    const ours = samples[0][at];
    const times = (others) => listed(ours.map((value, round) => value / others[round]));
    const theirs = samples[1]?.[at];
    console.log(
      `${streams} streams: ${median(ours).toFixed(0)} tokens per second, ${times(samples[0][0])} times one stream` +
        (theirs
          ? `; llama-server ${median(theirs).toFixed(0)}, ${median(theirs.map((value, round) => value / samples[1][0][round])).toFixed(3)} times one; ${times(theirs)} times as fast as it`
          : ''),
    );
  }
}

async function main(args) {
  const options = readOptions(args);
  const slots = Math.max(options.streams, ...COUNTS);
  const program = path.join(ROOT, 'test', 'server', 'concertinaServer.mjs');
  const ours = await start(program, options, slots);
  const theirs = options.against ? await start(path.resolve(options.against), options, slots) : null;
  try {
    const { bound, counts, memory } = await check(ours, options);
    console.log(
      `${options.streams} streams, ${options.seconds} s, ${options.type}: ${counts.answers} answers, ${counts.tokens} tokens; ` +
        `${counts.same} as alone, ${counts.parted} part where the two likeliest are closer than ${(2 * bound).toFixed(4)}, ` +
        `${counts.wrong} elsewhere, ${counts.crossed} with the marker of another`,
    );
    console.log(
      `memory at the start, the middle and the end: ${memory.map((one) => `${Math.round(one / 2 ** 20)} MiB`).join(', ')}`,
    );
    await compare([ours, theirs], options);
    process.exitCode = counts.wrong + counts.crossed > 0 ? 1 : 0;
  } finally {
    await Promise.all([ours.stop(), theirs?.stop()]);
  }
}

await runCommand(main);
