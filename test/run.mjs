// `npm test`: sets everything up, then runs all checks and tests in order, each stage with a header and its time, at the end
// one line with true counts, and before it the name and the message of each failed test, since a record of CI may hold the end of
// the output alone. Every stage runs even after a failure. `npm test -- unit e2e` runs only the stages named, with
// what they need set up; `npm test -- engine sessions` only the test files of one stage whose path has the word.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { BUILD, ROOT } from '../native/prepare/paths.mjs';

const RESULTS = path.join(BUILD, 'test-results');
/** A stage that hangs must not eat the time of a CI run. */
const STAGE_LIMIT_MS = 30 * 60_000;

const bin = (...parts) => path.join(ROOT, 'node_modules', ...parts);
const lingui = (check, option) => [bin('@lingui', 'cli', 'dist', 'lingui-check.js'), check, option, '--workers', '1'];

/** @typedef {{passed: number, failed: number, skipped: number}} Counts */

/** What failed so far, as text. @type {string[]} */
const failures = [];

/** Stages that need nothing but the packages of npm. */
const LIGHT = ['check', 'unit'];
/** Stages whose files can be chosen by a part of their path. */
const CHOOSING = ['unit', 'engine', 'e2e', 'kernels'];

/** @type {Record<string, (patterns: string[]) => Promise<Counts>>} */
const STAGES = {
  check: async () =>
    sum([
      await command('types', [bin('typescript', 'bin', 'tsc'), '--noEmit']),
      await command('lint and format', [bin('@biomejs', 'biome', 'bin', 'biome'), 'check', '.']),
      await command('format of C, C++ and Metal', [path.join(ROOT, 'test', 'format.mjs')]),
      await command('layers', [path.join(ROOT, 'test', 'layers.mjs')]),
      await command('figures', [path.join(ROOT, 'test', 'figures.mjs')]),
      await command('workflows', [path.join(ROOT, 'test', 'workflows.mjs')]),
      await command('texts', [path.join(ROOT, 'test', 'texts.mjs')]),
      await command('directions', [path.join(ROOT, 'test', 'directions.mjs')]),
      await command('catalogs (npm run messages writes them)', lingui('sync', '--clean')),
      await command('translations', lingui('missing', '--verbose')),
    ]),
  unit: (patterns) => vitest('unit', patterns),
  native: () => counting([path.join(ROOT, 'test', 'native', 'run.mjs')]),
  kernels: (patterns) => counting([path.join(ROOT, 'test', 'kernels', 'run.mjs'), ...patterns]),
  engine: (patterns) => vitest('engine', patterns),
  vulkan: async () => {
    const missing = withoutVulkan();
    if (missing) {
      console.log(`skipped: ${missing}`);
      return { passed: 0, failed: 0, skipped: 1 };
    }
    const { code } = await node([path.join(ROOT, 'native', 'prepare', 'build.mjs'), 'gpu-tests']);
    if (code !== 0) return { passed: 0, failed: 1, skipped: 0 };
    return sum([await vitest('vulkan', []), await playwright(['vulkan'], [])]);
  },
  server: () => counting([path.join(ROOT, 'test', 'server', 'upstreamSuite.mjs')]),
  fuzz: () => counting([path.join(ROOT, 'test', 'fuzz', 'run.mjs'), '--seconds', '8']),
  // screenshots are a project too, but no test
  e2e: (patterns) => playwright(['electron', 'browser', 'dist'], patterns),
};

/** Why nothing can be tested on Vulkan here. */
function withoutVulkan() {
  const cache = path.join(BUILD, 'native', 'CMakeCache.txt');
  if (!fs.existsSync(cache) || !fs.readFileSync(cache, 'utf8').includes('GGML_VULKAN:BOOL=ON'))
    return 'the engine is built without Vulkan (node native/prepare/vulkan.mjs unpacks what that needs)';
  const drivers = '/usr/share/vulkan/icd.d';
  if (!fs.existsSync(drivers) || fs.readdirSync(drivers).length === 0)
    return 'no Vulkan driver is installed (on Debian: apt-get install libvulkan1 mesa-vulkan-drivers)';
  return null;
}

/** One check that either passes or fails. */
async function command(name, args) {
  const { code } = await node(args);
  console.log(
    code === 0 ? `ok: ${name}` : `FAILED: ${name}${name.includes('format') ? '; npm run format writes it' : ''}`,
  );
  if (code !== 0) failures.push(name);
  return withExit(code, { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 });
}

async function vitest(project, patterns) {
  const report = path.join(RESULTS, `${project}.json`);
  fs.rmSync(report, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { code } = await node([bin('vitest', 'vitest.mjs'), 'run', '--project', project, ...reporters, ...patterns]);
  const result = readJson(report);
  keepFailures(
    result?.testResults.flatMap(({ name, message, assertionResults }) =>
      [{ fullName: 'the file', status: message ? 'failed' : '', failureMessages: [message] }, ...assertionResults]
        .filter(({ status }) => status === 'failed')
        .map((test) => ({ file: name, title: test.fullName, message: test.failureMessages[0] ?? '' })),
    ),
  );
  return withExit(
    code,
    result && {
      passed: result.numPassedTests,
      failed: result.numFailedTests,
      skipped: result.numPendingTests + result.numTodoTests,
    },
  );
}

async function playwright(projects, patterns) {
  const report = path.join(RESULTS, 'e2e.json');
  fs.rmSync(report, { force: true });
  const chosen = projects.map((name) => `--project=${name}`);
  const { code } = await node([bin('@playwright', 'test', 'cli.js'), 'test', ...chosen, ...patterns]);
  const stats = readJson(report)?.stats;
  keepFailures(readJson(report)?.suites?.flatMap(failedSpecs));
  if (stats?.flaky) console.log(`${stats.flaky} test(s) passed only when run again`);
  return withExit(
    code,
    stats && { passed: stats.expected + stats.flaky, failed: stats.unexpected, skipped: stats.skipped },
  );
}

/** A runner of ours, whose last line counts what passed. */
async function counting(args) {
  const { code, output } = await node(args, { capture: true });
  failures.push(...(output.match(/^(?:\w+: )?FAILED.*(?:\n.*){0,8}/gm) ?? []));
  return withExit(code, closingLine(output));
}

/** The failed tests of a suite of Playwright's report, and of the suites in it. */
function failedSpecs({ file, specs = [], suites = [] }) {
  const own = specs
    .filter(({ ok }) => !ok)
    .map(({ title, tests }) => ({
      file,
      title,
      message: tests.flatMap(({ results }) => results.map(({ error }) => error?.message ?? '')).join('\n'),
    }));
  return [...own, ...suites.flatMap(failedSpecs)];
}

/** @param {{file: string, title: string, message: string}[]} list */
function keepFailures(list = []) {
  for (const { file, title, message } of list) {
    const lines = stripVTControlCharacters(message).split('\n').slice(0, 12);
    failures.push([`${path.relative(ROOT, file)}: ${title}`, ...lines].join('\n  '));
  }
}

/** A stage that ended badly without a failed test (a file that does not load, a crash of the runner) has failed once. */
function withExit(code, counts = { passed: 0, failed: 0, skipped: 0 }) {
  return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

/** @returns {Counts | undefined} */
function closingLine(output) {
  const match = [...output.matchAll(/^(?:\w+: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm)].at(-1);
  return match && { passed: Number(match[1]), failed: Number(match[2]), skipped: Number(match[3] ?? 0) };
}

/** @param {Counts[]} list @returns {Counts} */
function sum(list) {
  const total = (key) => list.reduce((number, counts) => number + counts[key], 0);
  return { passed: total('passed'), failed: total('failed'), skipped: total('skipped') };
}

function readJson(file) {
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : undefined;
}

/** @returns {Promise<{code: number, output: string}>} */
function node(args, { capture = false, timeout = STAGE_LIMIT_MS } = {}) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      stdio: ['ignore', capture ? 'pipe' : 'inherit', 'inherit'],
      timeout,
    });
    let output = '';
    child.stdout?.on('data', (chunk) => {
      output += chunk;
      process.stdout.write(chunk);
    });
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

/** ms of all cores since the machine started, other programs of the machine among them */
function processorTimes() {
  const times = os.cpus().map((core) => core.times);
  const all = times.flatMap((one) => Object.values(one)).reduce((sum, ms) => sum + ms, 0);
  return { all, idle: times.reduce((sum, { idle }) => sum + idle, 0) };
}

function busySince(before) {
  const now = processorTimes();
  return Math.round(100 * (1 - (now.idle - before.idle) / Math.max(1, now.all - before.all)));
}

const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(0)} s`;
const line = ({ passed, failed, skipped }) => `${passed} passed, ${failed} failed, ${skipped} skipped`;

const args = process.argv.slice(2);
const stages = args.filter((name) => Object.hasOwn(STAGES, name));
const patterns = args.filter((name) => !stages.includes(name));
if (patterns.length > 0 && !(stages.length === 1 && CHOOSING.includes(stages[0]))) {
  console.error(
    `unknown stage ${patterns.join(', ')}; there are: ${Object.keys(STAGES).join(', ')}.\n` +
      `Files are chosen by a part of their path after one of ${CHOOSING.join(', ')}: npm test -- engine sessions`,
  );
  process.exit(2);
}
const chosen = stages.length > 0 ? stages : Object.keys(STAGES);
const purpose = chosen.every((name) => LIGHT.includes(name)) ? 'packages' : 'test';
const setUp = await node([path.join(ROOT, 'native', 'prepare', 'setup.mjs'), purpose], { timeout: 0 });
if (setUp.code !== 0) process.exit(setUp.code);

fs.mkdirSync(RESULTS, { recursive: true });
const startedAt = Date.now();
const results = [];
for (const name of Object.keys(STAGES).filter((stage) => chosen.includes(stage))) {
  const stageStartedAt = Date.now();
  const before = processorTimes();
  console.log(`\n=== ${name}`);
  const counts = await STAGES[name](patterns);
  results.push(counts);
  console.log(
    `=== ${name} took ${seconds(stageStartedAt)}; passed: ${counts.passed}, failed: ${counts.failed}, skipped: ${counts.skipped}; processor ${busySince(before)}% busy`,
  );
}
const total = sum(results);
if (failures.length > 0) console.log(`\n=== what failed\n${failures.join('\n')}`);
console.log(`\nall stages took ${seconds(startedAt)}`);
console.log(line(total));
// nothing run is no success either
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
