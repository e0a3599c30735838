// Builds and runs the native tests on every SIMD level: ours (turbo-tests) and upstream's own from the patched tree.
// CLI: node test/native/run.mjs      exit status 1 when one fails

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { buildEngine, describePatches } from '../../native/prepare/build.mjs';
import { forgetMovedBuild } from '../../native/prepare/cmake-cache.mjs';
import { BIN, BUILD, ROOT } from '../../native/prepare/paths.mjs';
import { must, run, withLock } from '../../native/prepare/process.mjs';
import { prepareUpstream } from '../../native/prepare/upstream.mjs';
import { runProgram, twoAtATime } from '../programs.mjs';

/**
 * @typedef {{command: string[], env?: Record<string, string>, bin?: string, under?: string[], level?: string, gpu?: boolean}} Run
 *   bin: folder of the program; under: command that runs it; level: SIMD level that turbo-tests must say to be in effect;
 *   gpu: one that supports none of the cases is no failure
 */

/** test-backend-ops: only the cases whose parameters name a turbo type; of matrix products, those of q6_K weights. */
const backendOps = (op, program = 'test-backend-ops', backend = 'CPU') => [
  ...[program, 'test', '-o', op, '-b', backend, '-p', op === 'MUL_MAT' ? 'type_a=q6_K' : 'turbo'],
];

/** The kernels' level needs VNNI, which comes with all else that it needs. */
const hasAvx512 = hasProcessorFlag('avx512_vnni');

/** @param {string[]} command of test-backend-ops */
const quick = (command) => command.map((part) => (part === 'turbo' ? QUICK_TYPES : part));

const OPS = ['SET_ROWS', 'GET_ROWS', 'CPY', 'FLASH_ATTN_EXT', 'MUL_MAT'];

/** Of the turbo types those without a trellis, whose encoder takes minutes where it is emulated: turbo-tests hold its bytes there. */
const QUICK_TYPES = 'turbo[34](_64)?[,)]';

/** @type {Run[]} */
const RUNS = [
  { command: ['turbo-tests'], level: hasAvx512 ? 'avx512' : '' },
  { command: ['test-quantize-fns'] },
  ...OPS.map((op) => ({ command: backendOps(op) })),
  // levels below the machine's own, through ggml's dispatch; what lies above the kernels is the same on each
  ...['scalar', 'avx2'].flatMap((level) => [
    { command: ['turbo-tests', '--kernels'], env: { CONCERTINA_SIMD: level } },
    ...['FLASH_ATTN_EXT', 'MUL_MAT'].map((op) => ({ command: backendOps(op), env: { CONCERTINA_SIMD: level } })),
  ]),
];

/**
 * The GPU against the CPU. What it does not support is left out by the program.
 * @type {Run[]}
 */
const METAL_RUNS = ['SET_ROWS', 'CPY', 'FLASH_ATTN_EXT'].map((op) => ({
  command: backendOps(op, 'test-backend-ops', 'MTL0'),
  gpu: true,
}));
const hasMetal = process.platform === 'darwin' && process.arch === 'arm64';

/** AVX-512 kernels in SIMDe's emulation, where the processor has no AVX-512 to run them itself. */
const EMULATED = ['turbo-tests-avx512', 'test-backend-ops-avx512'];
/** @type {Run[]} */
const EMULATED_RUNS = [
  { command: ['turbo-tests-avx512'], level: 'avx512' },
  ...['SET_ROWS', 'FLASH_ATTN_EXT', 'MUL_MAT'].map((op) => ({
    command: quick(backendOps(op, 'test-backend-ops-avx512')),
  })),
];

// The kernels for Arm on an x86-64 machine: cross-compiled without llama (arm64/CMakeLists.txt) and run by qemu's user mode.
// What is run here is correctness; how fast an Arm CPU is, an emulator cannot say.

const ARM64 = path.join(BUILD, 'native-arm64');
const TRIPLE = 'aarch64-linux-gnu';

const ARM64_BIN = path.join(ARM64, 'bin');

/** Starts an Arm program. cortex-a72 has no dotprod, max has all that qemu knows. */
const onArm = (cpu) => ['qemu-aarch64', '-cpu', cpu];

/**
 * Each case of test-backend-ops takes about a second in qemu: of flash attention those with a prompt and single tokens,
 * GQA, sinks, ALiBi and soft-cap for each pair of types and head size (kv=96).
 * @type {Run[]}
 */
const ARM64_RUNS = [
  { command: ['turbo-tests'], under: onArm('max'), level: 'neon' },
  { command: quick(backendOps('SET_ROWS')), under: onArm('max') },
  { command: [...backendOps('FLASH_ATTN_EXT').slice(0, -1), `kv=96.*${QUICK_TYPES}`], under: onArm('max') },
  { command: ['turbo-tests', 'unpacking'], under: onArm('cortex-a72'), level: 'scalar' },
].map((item) => ({ ...item, bin: ARM64_BIN }));

/** @param {Run} run */
async function runOne({ command: [program, ...args], env = {}, bin = BIN, under = [], level = '', gpu = false }) {
  const label = [...Object.entries(env).map((pair) => pair.join('=')), ...under, program, ...args].join(' ');
  const [file, ...rest] = [...under, path.join(bin, program), ...args];
  const { status, stdout, stderr } = await runProgram(file, rest, { env });
  const ran = program.startsWith('test-backend-ops') ? ranCases(stdout) : stdout.includes(`SIMD level: ${level}`);
  if (gpu && status === 0 && !ran && /not supported/.test(stdout)) {
    // the virtual GPU of a hosted runner
    const family = /GPU family: \w+/.exec(stdout + stderr)?.[0] ?? 'unknown GPU family';
    console.log(`skipped: ${label}: compiled only, this GPU does not run it (${family})`);
    return { ok: true, skipped: 1 };
  }
  const ok = status === 0 && (ran || program === 'test-quantize-fns');
  console.log(`${ok ? 'ok' : 'FAILED'}: ${label}: ${lastResult(stdout)}`);
  const skips = stdout.split('\n').filter((line) => line.startsWith('skipped: '));
  for (const skip of skips) console.log(`  ${skip}`);
  if (!ok) console.log(stdout + stderr);
  return { ok, skipped: skips.length };
}

/** @param {string} flag as /proc/cpuinfo writes it */
function hasProcessorFlag(flag) {
  const file = '/proc/cpuinfo';
  return fs.existsSync(file) && new RegExp(`^flags.* ${flag}( |$)`, 'm').test(fs.readFileSync(file, 'utf8'));
}

/** A filter that matches nothing would pass too. */
function ranCases(stdout) {
  const found = /(\d+)\/(\d+) tests passed/.exec(stdout);
  return found !== null && Number(found[2]) > 0;
}

function lastResult(stdout) {
  const lines = stdout.split('\n').filter((line) => / passed/.test(line) && !/backends passed/.test(line));
  return lines.length ? lines[lines.length - 1].trim() : 'done';
}

/** Builds turbo-tests and test-backend-ops for Arm. @returns {Promise<string>} why it cannot be done here; empty: done */
async function buildArm64() {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return 'only Linux on x86-64 runs Arm programs in qemu here';
  const missing = [];
  for (const tool of [`${TRIPLE}-gcc`, `${TRIPLE}-g++`, 'qemu-aarch64', 'ninja']) {
    if ((await run(tool, ['--version'])).code !== 0) missing.push(tool);
  }
  if (missing.length > 0)
    return `${missing.join(', ')} not found (apt-get install g++-${TRIPLE} qemu-user ninja-build)`;
  await withLock(path.join(BUILD, 'native-arm64.lock'), compileArm64, console.error);
  return '';
}

async function compileArm64() {
  const { folder } = await prepareUpstream();
  const source = path.join(import.meta.dirname, 'arm64');
  forgetMovedBuild({ source, build: ARM64 }, console.error);
  fs.mkdirSync(ARM64, { recursive: true });
  await must('Configuring the tests for Arm', 'cmake', [
    ...['-G', 'Ninja', '-S', source, '-B', ARM64],
    ...['-DCMAKE_BUILD_TYPE=Release', '-DCMAKE_SYSTEM_NAME=Linux', '-DCMAKE_SYSTEM_PROCESSOR=aarch64'],
    ...[`-DCMAKE_C_COMPILER=${TRIPLE}-gcc`, `-DCMAKE_CXX_COMPILER=${TRIPLE}-g++`, `-DCONCERTINA_UPSTREAM=${folder}`],
  ]);
  const jobs = String(os.availableParallelism());
  await must('Building the tests for Arm', 'cmake', ['--build', ARM64, '--parallel', jobs], {
    env: { CCACHE_BASEDIR: process.env.CCACHE_BASEDIR ?? ROOT },
  });
}

const emulation = !hasAvx512 && process.arch === 'x64' && fs.existsSync('/usr/include/simde/x86/avx512.h');
let shown = '';
await buildEngine({
  targets: ['tests', ...(emulation ? EMULATED : [])],
  onProgress: ({ stage, fraction }) => {
    const line = `${stage} ${Math.floor(fraction * 10) * 10}%`;
    if (line !== shown) console.log(line);
    shown = line;
  },
});
console.log(describePatches());
const noArm = await buildArm64();

// the longest first, so that the two that run at a time end together
const runs = [
  ...(noArm ? [] : ARM64_RUNS),
  ...(emulation ? EMULATED_RUNS : []),
  ...RUNS,
  ...(hasMetal ? METAL_RUNS : []),
];
const results = await twoAtATime(runs, runOne);
if (!emulation && !hasAvx512)
  console.log('skipped: AVX-512: SIMDe emulates it on x86-64 and was not found (apt-get install libsimde-dev)');
if (noArm) console.log(`skipped: NEON: ${noArm}`);

const failed = results.filter(({ ok }) => !ok).length;
const skipped = results.reduce(
  (sum, result) => sum + result.skipped,
  (emulation || hasAvx512 ? 0 : 1) + (noArm ? 1 : 0),
);
console.log(`${results.length - failed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed ? 1 : 0;
