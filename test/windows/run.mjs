// `npm run test:windows`: what was cross-built for Windows, run under Wine on Linux. The machine code's use of the stack, the native
// tests and llama.cpp's own, the engine's and the services' tests under Windows' Node, headless mode, and the packages. It says nothing of
// a window, a GPU or the speed of Windows.
// CLI: node test/windows/run.mjs [stack|native|engine|services|headless|package ...]      exit status 1 when one fails

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packWindows } from '../../electron/packaging/windows.mjs';
import { BUILD, ROOT, WINDOWS_BIN } from '../../native/prepare/paths.mjs';
import { checkStack } from './stack.mjs';
import { DRIVE_C, endWine, prepareWine, runInWine, seenInWine } from './wine.mjs';

/** @typedef {{passed: number, failed: number, skipped: number}} Counts */

const RESULTS = path.join(BUILD, 'test-results');
const ADDON = path.join(WINDOWS_BIN, 'concertina.node');

/** Loading, files that are refused, sessions on disk, a full context, calibrations, and what the addon and the app agree on. */
const ENGINE_TESTS = ['structs', 'models/load', 'sessions/session.test', 'generate/overflow', 'cache/centring'];

/** Of the services: what touches files, and needs neither a network from inside nor symbolic links, which Wine 8 lacks. */
const SERVICE_TESTS = ['lib/files', 'lib/folderLock', 'lib/paths', 'settings'];

/** Flash attention: those with a prompt and single tokens, GQA, sinks, ALiBi and soft-cap for each pair of types and head size. */
const OPS = {
  SET_ROWS: 'turbo',
  GET_ROWS: 'turbo',
  CPY: 'turbo',
  FLASH_ATTN_EXT: 'kv=96.*turbo',
  MUL_MAT: 'type_a=q6_K',
};

const STAGES = {
  stack: async () => {
    const files = ['concertina.node', 'turbo-tests.exe', 'test-backend-ops.exe'];
    return sum(await inOrder(files, stackOf));
  },
  native: async () => {
    const programs = [
      ...[['turbo-tests'], ['turbo-tests', 'avx2'], ['turbo-tests', 'scalar'], ['test-quantize-fns']],
      ...Object.keys(OPS).map((op) => ['test-backend-ops', op]),
    ];
    return sum(await inOrder(programs, nativeProgram));
  },
  engine: () =>
    vitestInWine(
      'engine',
      ENGINE_TESTS.map((name) => `test/engine/${name}`),
    ),
  services: () =>
    vitestInWine(
      'unit',
      SERVICE_TESTS.map((name) => `test/unit/electron/services/${name}`),
    ),
  headless: () =>
    vitest('windows', [], (args) => runHere([path.join('node_modules', 'vitest', 'vitest.mjs'), ...args])),
  package: async () => {
    const { zip, installer } = await packWindows({ output: path.join(BUILD, 'windows-package') });
    return sum([await unpackedZip(zip), await installed(installer)]);
  },
};

/** What is in the zip answers, in a folder with blanks and an umlaut. @returns {Promise<Counts>} */
async function unpackedZip(zip) {
  const folder = path.join(DRIVE_C, 'Programme für alle');
  fs.rmSync(folder, { recursive: true, force: true });
  const { Open } = await import('unzipper');
  await (await Open.file(zip)).extract({ path: folder });
  // where nothing runs in Wine, an engine that asks Vulkan starts Wine's desktop, which takes its pipes and outlives it
  await endWine();
  const answer = await answerOf(path.join(folder, fs.readdirSync(folder)[0]), 'zip');
  fs.rmSync(folder, { recursive: true, force: true });
  return told('the zip: unpacked, it answers', answer.problem);
}

/** Installs, answers, and uninstalls without a trace. @returns {Promise<Counts>} */
async function installed(installer) {
  const target = path.join(DRIVE_C, 'users', os.userInfo().username, 'AppData', 'Local', 'Programs', 'concertina-test');
  // the folder of all programs of the person, which a new Wine lacks, stays for the others
  fs.mkdirSync(path.dirname(target), { recursive: true });
  const before = await everything();
  const set = await runInWine('install', [installer, '/S']);
  const hasAll = ['uninstall.exe', 'concertina.cmd', 'app', 'runtime'].every((name) =>
    fs.existsSync(path.join(target, name)),
  );
  const counts = [told('the installer: silent, it installs', set.code === 0 && hasAll ? '' : `code ${set.code}`)];
  counts.push(told('installed, it answers', (await answerOf(target, 'installed')).problem));
  const removed = await runInWine('uninstall', [path.join(target, 'uninstall.exe'), '/S']);
  // a copy of it goes on: no program of Windows removes itself
  for (let tries = 0; fs.existsSync(target) && tries < 300; tries++) await sleep(200);
  const left = (await everything()).filter((item) => !before.includes(item));
  counts.push(told('uninstalled, nothing is left', removed.code === 0 ? left.join(', ') : `code ${removed.code}`));
  return sum(counts);
}

/** @returns {Promise<{problem: string}>} empty: the packaged command line answered a question on the built-in model */
async function answerOf(folder, name) {
  const data = path.join(DRIVE_C, 'users', 'package-test');
  fs.rmSync(data, { recursive: true, force: true });
  const program = path.join(folder, 'runtime', 'concertina.exe');
  const script = seenInWine(path.join(folder, 'app', 'build', 'app', 'serve.cjs'));
  const question = 'The special magic number for Fresno is 77763886. What is the special magic number for Fresno?';
  const options = ['--context', '1024', '--temperature', '0', '--json', '--data', seenInWine(data)];
  const limitMs = 5 * 60_000;
  const { code, output } = await runInWine(`answer-${name}`, [program, script, 'run', question, ...options], {
    limitMs,
  });
  fs.rmSync(data, { recursive: true, force: true });
  return { problem: code === 0 && output.includes('77763886') ? '' : `code ${code}: ${output.slice(-1500)}` };
}

/** Folders and files of the user and of programs, and what the registry lists as installed. */
async function everything() {
  // what is in the registry comes to its file then
  await endWine();
  const folders = ['users', 'Program Files', 'ProgramData'].map((name) => path.join(DRIVE_C, name));
  const top = fs.readdirSync(DRIVE_C);
  const files = folders.flatMap(below);
  const registry =
    fs.readFileSync(path.join(DRIVE_C, '..', 'user.reg'), 'utf8').match(/^\[.*\\Uninstall\\.*\]/gm) ?? [];
  return [...top, ...files, ...registry].filter((name) => !/\/Temp\//.test(name));
}

/** Links are not followed: Wine links the folders of the user to those of Linux. @returns {string[]} */
function below(folder) {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    return entry.isDirectory() ? [file, ...below(file)] : [file];
  });
}

/** @returns {Counts} */
function told(what, problem) {
  console.log(problem ? `FAILED: ${what}: ${problem}` : `ok: ${what}`);
  return one(!problem);
}

/** @returns {Promise<Counts>} */
async function stackOf(name) {
  const { functions, aligned, faulty } = await checkStack(path.join(WINDOWS_BIN, name));
  // none at all would mean that nothing was looked at
  const ok = faulty.length === 0 && functions > 100 && aligned > 0;
  const says = `${functions} functions, ${aligned} keep AVX registers on a stack that they align`;
  console.log(
    `${ok ? 'ok' : 'FAILED'}: stack of ${name}: ${says}${faulty.map((one) => `\n  not aligned: ${one}`).join('')}`,
  );
  return one(ok);
}

/** @returns {Promise<Counts>} a program's own tests, or one for what it ran */
async function nativeProgram([program, what = '']) {
  const isOps = program === 'test-backend-ops';
  const args = isOps ? ['test', '-o', what, '-b', 'CPU', '-p', OPS[what]] : [];
  const env = what && !isOps ? { CONCERTINA_SIMD: what } : {};
  const file = path.join(WINDOWS_BIN, `${program}.exe`);
  const { code, output } = await runInWine(`${program}-${what || 'best'}`, [file, ...args], { env });
  const cases = /(\d+)\/(\d+) tests passed/.exec(output);
  const own = [...output.matchAll(/^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm)].at(-1);
  const ran = isOps ? Number(cases?.[2] ?? 0) > 0 : program !== 'turbo-tests' || Number(own?.[1] ?? 0) > 0;
  const ok = code === 0 && ran;
  console.log(`${ok ? 'ok' : 'FAILED'}: ${[program, what].join(' ').trim()}: ${(own ?? cases)?.[0] ?? `code ${code}`}`);
  if (!ok) console.log(output.slice(-4000));
  if (own)
    return { passed: Number(own[1]), failed: Math.max(Number(own[2]), ok ? 0 : 1), skipped: Number(own[3] ?? 0) };
  return one(ok);
}

/** Tests of vitest by Windows' Node, with the addon of Windows. */
async function vitestInWine(project, files) {
  const node = await prepareWine();
  const quantize = seenInWine(path.join(WINDOWS_BIN, 'llama-quantize.exe'));
  const env = { CONCERTINA_ADDON: seenInWine(ADDON), CONCERTINA_QUANTIZE: quantize, NO_COLOR: '1' };
  const script = path.join('node_modules', 'vitest', 'vitest.mjs');
  return vitest(project, files, async (args) => {
    const { code, output } = await runInWine(`vitest-${project}`, [node, script, ...args], {
      env,
      limitMs: 60 * 60_000,
    });
    console.log(output);
    return code;
  });
}

/** @param {(args: string[]) => Promise<number>} start @returns {Promise<Counts>} */
async function vitest(project, files, start) {
  const report = path.join(RESULTS, `windows-${project}.json`);
  fs.rmSync(report, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${path.relative(ROOT, report)}`];
  const code = await start(['run', '--project', project, ...reporters, ...files]);
  if (!fs.existsSync(report)) return one(false);
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(fs.readFileSync(report, 'utf8'));
  const failed = code !== 0 && numFailedTests === 0 ? 1 : numFailedTests;
  return { passed: numPassedTests, failed, skipped: numPendingTests + numTodoTests };
}

function runHere(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

async function inOrder(items, body) {
  const results = [];
  for (const item of items) results.push(await body(item));
  return results;
}

const one = (ok) => ({ passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 });

/** @param {Counts[]} list @returns {Counts} */
function sum(list) {
  const total = (key) => list.reduce((number, counts) => number + counts[key], 0);
  return { passed: total('passed'), failed: total('failed'), skipped: total('skipped') };
}

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(STAGES, name));
if (unknown.length > 0) {
  console.error(`unknown stage ${unknown.join(', ')}; there are: ${Object.keys(STAGES).join(', ')}`);
  process.exit(2);
}
fs.mkdirSync(RESULTS, { recursive: true });
await prepareWine();
const results = [];
for (const name of Object.keys(STAGES).filter((stage) => asked.length === 0 || asked.includes(stage))) {
  const startedAt = Date.now();
  console.log(`\n=== ${name}`);
  const counts = await STAGES[name]();
  results.push(counts);
  const { passed, failed, skipped } = counts;
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(0);
  console.log(`=== ${name} took ${seconds} s; passed: ${passed}, failed: ${failed}, skipped: ${skipped}`);
}
await endWine();
const total = sum(results);
console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
