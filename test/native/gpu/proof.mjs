// `npm run proof:gpu`: what a real GPU has to show before turbo caches are said to work on it, as one JSON: the bytes of stored rows and
// attention against the CPU (gpu-tests), llama.cpp's own test-backend-ops, both on every path that the driver's switches leave;
// divergence from f16 on the GPU beside that on the CPU; decode over depth. Its exit status is 1 where something differs.
// CLI: npm run proof:gpu -- [--bin FOLDER] [--model FILE|small|tiny] [--depths 0,8K,32K] [--types f16,q8_0,turbo4,turbo3] [--rounds 2]
//      [--out FILE] [--validate]
// --bin: of a build (build/native/bin, build/native-cuda/bin), with the targets tools, weights, test-backend-ops and gpu-tests. --model: for
// the speed; divergence is of the tests' model. --validate: in place of all that, what Khronos' validation layer says, with its checks of
// synchronization, of gpu-tests and of a short text (Vulkan alone; the layer is Debian's package vulkan-validationlayers).

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { BIN, ROOT } from '../../../native/prepare/paths.mjs';
import { CommandError, list, number, OptionError, pairOf, runCommand, size } from '../../bench/command.mjs';
import { f16Weights } from '../../bench/quality/weights.mjs';
import { modelFile } from '../../models.mjs';

/** Of attention with Vulkan; CUDA has one. */
const PATHS = [
  { name: 'default', env: {} },
  { name: 'without matrices in registers', env: { CONCERTINA_VULKAN_DECODE: '1' } },
  { name: 'without NV matrices', env: { GGML_VK_DISABLE_COOPMAT2: '1' } },
  { name: 'without matrices', env: { GGML_VK_DISABLE_COOPMAT2: '1', GGML_VK_DISABLE_COOPMAT: '1' } },
];
/** Standard errors that the mean of the paired changes may be from none. */
const ERRORS = 2;

const text = (preset) => /** @type {const} */ ({ type: 'string', default: preset });

function readOptions(args) {
  let values;
  try {
    ({ values } = parseArgs({
      args,
      options: {
        ...{ bin: text(BIN), model: text('tiny'), depths: text('0,8K,32K'), types: text('f16,q8_0,turbo4,turbo3') },
        ...{ rounds: text('2'), out: text(''), validate: { type: 'boolean', default: false } },
      },
    }));
  } catch (error) {
    throw new OptionError(`${error.message.split('. ')[0]}. The head of test/native/gpu/proof.mjs lists the options.`);
  }
  const all = ['gpu-tests', 'test-backend-ops', 'llama-bench', 'llama-perplexity', 'llama-quantize'];
  const programs = values.validate ? ['gpu-tests', 'llama-completion'] : all;
  const bin = path.resolve(values.bin);
  const missing = programs.filter((name) => !fs.existsSync(path.join(bin, name)));
  if (missing.length > 0) {
    const build = 'node native/prepare/build.mjs [--cuda] tools weights test-backend-ops gpu-tests';
    throw new OptionError(`${bin} has no ${missing.join(' and no ')}. Build them with: ${build}`);
  }
  return {
    bin,
    model: modelFile(values.model),
    depths: list('--depths', values.depths, [], (depth) => size('--depths', depth, 0)),
    types: list('--types', values.types, [], pairOf),
    rounds: number('--rounds', values.rounds, 1, 100),
    out: values.out,
    validate: values.validate,
  };
}

/** @returns {Promise<{code: number | null, output: string}>} what the program wrote on both streams */
function run(file, args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (piece) => {
        output += piece;
      });
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

const count = (output, pattern) => (output.match(pattern) ?? []).length;

/** llama.cpp counts those that its back end has, in one line at the end, which a crash leaves out. */
export function countOperations({ code, output }) {
  const [, passed = '0', of = '0'] = /^ *(\d+)\/(\d+) tests passed$/m.exec(output) ?? [];
  return {
    passed: Number(passed),
    failed: Number(of) - Number(passed),
    notSupported: count(output, /: not supported \[/g),
    ended: code,
  };
}

async function operations({ bin }, { env }) {
  const tests = await run(path.join(bin, 'gpu-tests'), [], env);
  if (/no GPU was found/.test(tests.output)) {
    throw new CommandError(`${path.join(bin, 'gpu-tests')} found no GPU: this build or this machine has none.`);
  }
  const of = async (op) =>
    countOperations(await run(path.join(bin, 'test-backend-ops'), ['test', '-o', op, '-p', 'turbo'], env));
  return {
    device: /^(\S+: .+)$/m.exec(tests.output.replace(/^ggml_.*$/gm, ''))?.[1] ?? '',
    gpuTests: {
      passed: count(tests.output, /^ok /gm),
      failed: tests.output.match(/^FAIL .*$/gm) ?? [],
      ended: tests.code,
    },
    setRows: await of('SET_ROWS'),
    attention: await of('FLASH_ATTN_EXT'),
  };
}

async function divergence({ bin }, folder) {
  const program = path.join(bin, 'llama-perplexity');
  const model = await f16Weights(modelFile('tiny'), { quantize: path.join(bin, 'llama-quantize') });
  const base = path.join(folder, 'base.bin');
  const common = ['-m', model, '-f', path.join(ROOT, 'test', 'fixtures', 'heldout.txt'), '-c', '2048', '-b', '2048'];
  const reference = [...common, '--kl-divergence-base', base];
  const first = await run(program, [...reference, '-dev', 'none']);
  if (first.code !== 0)
    throw new CommandError(`llama-perplexity ended with ${first.code}: ${first.output.slice(-400)}`);
  const of = async (type, device) => {
    const args = [...reference, '--kl-divergence', '-fa', 'on', '-ctk', type, '-ctv', type, ...device];
    const { output } = await run(program, args);
    const chunks = divergences(output);
    if (chunks.length < 2)
      throw new CommandError(`llama-perplexity gave no divergence of ${type}: ${output.slice(-400)}`);
    return chunks;
  };
  const rows = [];
  for (const type of ['turbo4', 'turbo3']) {
    rows.push({ type, ...paired(await of(type, ['-dev', 'none']), await of(type, ['-ngl', '99'])) });
  }
  return rows;
}

/** Mean KLD of each chunk, of llama-perplexity's running means. @param {string} output @returns {number[]} */
export function divergences(output) {
  const row = /^ *\d+ +[\d.]+ ± +[\d.]+ +-?[\d.]+ ± +[\d.]+ +(-?[\d.]+) ± +[\d.]+ .*%$/gm;
  const means = [...output.matchAll(row)].map(([, mean]) => Number(mean));
  return means.map((mean, at) => mean * (at + 1) - (means[at - 1] ?? 0) * at);
}

const meanOf = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * Means of two runs over the same chunks, and of the change from one to the other with its standard error. At least two chunks.
 * @param {number[]} cpu @param {number[]} gpu
 */
export function paired(cpu, gpu) {
  const changes = gpu.map((value, at) => value - cpu[at]);
  const change = meanOf(changes);
  const variance = changes.reduce((sum, value) => sum + (value - change) ** 2, 0) / (changes.length - 1);
  return { cpu: meanOf(cpu), gpu: meanOf(gpu), change, error: Math.sqrt(variance / changes.length) };
}

/** All types one after the other in each round, so that what else the machine does meets all of them. */
async function speed({ bin, model, depths, types, rounds }) {
  const found = new Map();
  for (let round = 0; round < rounds; round++) {
    for (const name of types) {
      const [typeK, typeV = typeK] = name.split('/');
      const args = ['-m', model, '-ngl', '99', '-fa', '1', '-p', '0', '-n', '64', '-r', '2', '-o', 'json'];
      const { code, output } = await run(path.join(bin, 'llama-bench'), [
        ...args,
        ...['-d', depths.join(','), '-ctk', typeK, '-ctv', typeV],
      ]);
      const begin = output.indexOf('[\n');
      if (code !== 0 || begin < 0)
        throw new CommandError(`llama-bench of ${name} ended with ${code}: ${output.slice(-400)}`);
      for (const { n_depth, avg_ts } of JSON.parse(output.slice(begin, output.lastIndexOf(']') + 1))) {
        const key = `${name} ${n_depth}`;
        found.set(key, [...(found.get(key) ?? []), avg_ts]);
      }
    }
  }
  return types.flatMap((type) =>
    depths.map((depth) => ({ type, depth, tokensPerSecond: found.get(`${type} ${depth}`) })),
  );
}

/** What a result says is wrong, as sentences. */
export function problemsOf({ paths, kld }) {
  const problems = [];
  for (const [name, { gpuTests, setRows, attention }] of Object.entries(paths)) {
    if (gpuTests.ended !== 0) problems.push(`${name}: gpu-tests ended with ${gpuTests.ended}`);
    problems.push(...gpuTests.failed.map((line) => `${name}: ${line}`));
    for (const [op, of] of Object.entries({ setRows, attention })) {
      if (of.failed > 0 || of.ended !== 0)
        problems.push(`${name}: ${of.failed} of ${op} differ, ended with ${of.ended}`);
      if (of.passed === 0) problems.push(`${name}: no operation of ${op} ran`);
    }
  }
  for (const { type, change, error } of kld) {
    const apart = Math.abs(change) / error;
    if (apart > ERRORS) problems.push(`${type}: the divergence is ${apart.toFixed(1)} standard errors from the CPU's`);
  }
  return problems;
}

/** Debian 12's layer reads the first, later ones the second. */
const SYNCHRONIZATION = {
  VK_LAYER_ENABLES: 'VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT',
  VK_KHRONOS_VALIDATION_VALIDATE_SYNC: 'true',
};
const LAYER = 'VK_LAYER_KHRONOS_validation';
const TRIES = 5;

/** Messages of the layer by their id: how many, and the first one whole. @param {string} output */
export function messagesOf(output) {
  const found = {};
  for (const [, id, rest] of output.matchAll(/Validation (?:Error|Warning)[^\n]*?\[ ?([\w.-]+) ?\]([^\n]*)/g)) {
    found[id] ??= { count: 0, first: rest.trim() };
    found[id].count += 1;
  }
  return found;
}

/** The output of each program that the layer watched, with how it ended. */
async function validation({ bin, model }) {
  const env = { VK_INSTANCE_LAYERS: LAYER, VK_LOADER_DEBUG: 'layer', ...SYNCHRONIZATION };
  const chat = ['-m', model, '-ngl', '99', '-fa', 'on', '-c', '1024', '-n', '8', '--temp', '0', '-no-cnv'];
  const prompt = 'The old clock in the hall strikes once an hour. '.repeat(12);
  // in parts: a software device ends long ones by faults of its own
  const parts = ['turbo4', 'turbo3', 'turbo4_64', 'turbo3_64'].flatMap((type) =>
    ['operations', '1', '3', '40'].map((part) => [type, part]),
  );
  const runs = {
    ...Object.fromEntries(parts.map((part) => [`gpu-tests ${part.join(' ')}`, ['gpu-tests', part]])),
    ...Object.fromEntries(
      ['f16', 'turbo4', 'turbo3'].map((type) => [
        `a text with ${type}`,
        ['llama-completion', [...chat, '-ctk', type, '-ctv', type, '-p', prompt]],
      ]),
    ),
  };
  const found = {};
  for (const [name, [program, args]] of Object.entries(runs)) {
    console.error(`validation, ${name}`);
    const once = () => run(path.join(bin, program), args, env);
    let { code, output } = await once();
    // null: ended by a signal
    for (let tries = 1; code === null && tries < TRIES; tries++) ({ code, output } = await once());
    if (!/Insert instance layer "?VK_LAYER_KHRONOS_validation/.test(output))
      throw new CommandError(`${LAYER} was not loaded: on Debian, apt-get install vulkan-validationlayers.`);
    found[name] = { ended: code, messages: messagesOf(output) };
  }
  return found;
}

async function main(args) {
  const options = readOptions(args);
  if (options.validate) {
    const found = await validation(options);
    console.log(JSON.stringify(found, null, 2));
    if (Object.values(found).some(({ ended, messages }) => ended !== 0 || Object.keys(messages).length > 0))
      process.exitCode = 1;
    return;
  }
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'concertina-gpu-'));
  try {
    const paths = {};
    for (const way of PATHS) {
      console.error(`operations, ${way.name}`);
      paths[way.name] = await operations(options, way);
      if (paths[way.name].device.startsWith('CUDA')) break;
    }
    console.error('divergence');
    const kld = await divergence(options, folder);
    console.error('speed');
    const result = { paths, kld, speed: await speed(options) };
    const problems = problemsOf(result);
    const json = JSON.stringify({ ...result, problems }, null, 2);
    if (options.out) fs.writeFileSync(options.out, `${json}\n`);
    console.log(json);
    if (problems.length > 0) process.exitCode = 1;
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) await runCommand(main);
