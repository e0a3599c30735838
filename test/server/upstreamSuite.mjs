// Runs llama.cpp's own server tests (tools/server/tests, pytest) against a server that takes llama-server's options. This
// project's tests' model stands for the models that upstream's tests download (model_variants.py); tests that need more are
// left out, each with a reason (leftOut.json). What upstream's own server passes (baseline.json) must pass: the exit status
// is 1 when a test of it does not.
// CLI: node test/server/upstreamSuite.mjs [--server PATH] [--files chat_completion,slot_save] [--json OUT] [--repeat N]
//        [--upstream DIR] [--model FILE] [--python PATH] [--threads N] [--file-limit SECONDS] [--test-limit SECONDS]
//        [--baseline FILE | --write-baseline]
//   --server: llama-server; left out: `concertina serve` with the same options (concertinaServer.mjs)
//   --repeat: a test that fails in one round has failed

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { BUILD, ROOT, TREE } from '../../native/prepare/paths.mjs';
import { cli, must, PrepareError, withLock } from '../../native/prepare/process.mjs';
import { findPython, PYTHON_MODULES } from '../../native/prepare/system.mjs';
import { atATime } from '../programs.mjs';

const HERE = import.meta.dirname;
const BASELINE = path.join(HERE, 'baseline.json');
const LEFT_OUT = path.join(HERE, 'leftOut.json');
const OURS = path.join(HERE, 'concertinaServer.mjs');
const SCRATCH = path.join(BUILD, 'upstream-suite');
/** A third of a test is waiting, for a server that starts or ends: on two cores a third file has room. */
const FILES_AT_A_TIME = 3;
const OUTCOMES = /** @type {const} */ (['passed', 'failed', 'skipped', 'left out']);

/**
 * @typedef {{outcome: string, seconds: number, reason: string}} TestResult
 * @typedef {Record<string, TestResult>} Tests by the test's id without its file
 * @typedef {{passed: number, failed: number, skipped: number, 'left out': number, seconds: number, tests: Tests}} FileResult
 *   seconds: of wall time, with the starts of servers
 * @typedef {{folder: string, python: string, server: string, threads: string, fileLimit: number, testLimit: string}} Suite
 *   folder: where pytest runs; limits in seconds
 */

function pythonFor(wanted) {
  const python = findPython(wanted ? [wanted] : undefined);
  if (python) return python;
  const packages = PYTHON_MODULES.map((name) => `python3-${name}`).join(' ');
  throw new PrepareError(
    `${wanted ?? 'python3'} cannot import ${PYTHON_MODULES.join(', ')}. On Debian: apt-get install ${packages}`,
  );
}

/**
 * Copies upstream's tests, since they write beside themselves, and links the chat templates that they read by a relative path.
 * @returns {string} the folder that pytest runs in
 */
function copyTests(upstream) {
  const tests = path.join('tools', 'server', 'tests');
  if (!fs.existsSync(path.join(upstream, tests)))
    throw new PrepareError(`${upstream} has no ${tests}. Unpack llama.cpp: node native/prepare/upstream.mjs`);
  fs.rmSync(SCRATCH, { recursive: true, force: true });
  fs.cpSync(path.join(upstream, tests), path.join(SCRATCH, tests), { recursive: true });
  fs.symlinkSync(path.join(upstream, 'models'), path.join(SCRATCH, 'models'), 'junction');
  fs.mkdirSync(path.join(SCRATCH, tests, 'tmp'), { recursive: true });
  const expectations = JSON.parse(fs.readFileSync(path.join(HERE, 'expectations.json'), 'utf8'));
  for (const [name, changes] of Object.entries(expectations))
    adapt(path.join(SCRATCH, tests, 'unit', name), Object.entries(changes));
  return path.join(SCRATCH, tests);
}

/** Numbers that follow from a model's vocabulary (tokens of a prompt) become those of ours. */
function adapt(file, changes) {
  let source = fs.readFileSync(file, 'utf8');
  for (const [theirs, ours] of changes) {
    if (!source.includes(theirs))
      throw new PrepareError(`${path.basename(file)} has no ${theirs} any more: adapt test/server/expectations.json.`);
    source = source.replaceAll(theirs, ours);
  }
  fs.writeFileSync(file, source);
}

function chooseFiles(folder, files) {
  const all = fs.readdirSync(path.join(folder, 'unit')).filter((name) => /^test_.*\.py$/.test(name));
  if (!files) return all.sort();
  const chosen = files
    .split(',')
    .map((name) => (name.endsWith('.py') ? name : `test_${name.replace(/^test_/, '')}.py`));
  const unknown = chosen.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new PrepareError(`no such file: ${unknown.join(', ')}; there are: ${all.join(', ')}`);
  return chosen;
}

/** @param {string} file @param {Suite} suite @returns {Promise<Tests>} */
async function runFile(file, { folder, python, server, threads, fileLimit, testLimit }) {
  const report = path.join(SCRATCH, `${file}.jsonl`);
  fs.rmSync(report, { force: true });
  const plain = Object.entries(process.env).filter(([name]) => !/^(LLAMA|AIP|HF|PYTEST)_/.test(name));
  const env = {
    ...Object.fromEntries(plain),
    PYTHONPATH: HERE,
    PYTHONDONTWRITEBYTECODE: '1',
    LLAMA_SERVER_BIN_PATH: server,
    LLAMA_CACHE: path.join(SCRATCH, 'cache'),
    CONCERTINA_SUITE_DATA: SCRATCH,
    // hundreds of servers start, each to compile the same source
    NODE_COMPILE_CACHE: path.join(SCRATCH, 'compiled'),
    PATH: [path.dirname(process.execPath), process.env.PATH].join(path.delimiter),
    PORT: String(await freePort()),
    SUITE_MODELS: SCRATCH,
    SUITE_LEFT_OUT: LEFT_OUT,
    SUITE_SERVER: server === OURS ? 'concertina' : 'llama-server',
    SUITE_REPORT: report,
    SUITE_THREADS: threads,
    SUITE_TEST_LIMIT: testLimit,
  };
  const temporary = `--basetemp=${path.join(SCRATCH, `${file}.temporary`)}`;
  const args = ['-m', 'pytest', '-p', 'concertina_substitutes', '-p', 'no:cacheprovider', temporary, `unit/${file}`];
  const log = path.join(SCRATCH, `${file}.log`);
  const ended = await runGroup(python, args, { cwd: folder, env, log, limit: fileLimit });
  return readReport(report, ended, log);
}

/**
 * Runs a program in a process group of its own, so that the servers that its tests start end with it.
 * @returns {Promise<string>} why it ended early; empty: it ended by itself
 */
function runGroup(program, args, { cwd, env, log, limit }) {
  const output = fs.openSync(log, 'w');
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', output, output], detached: true });
  fs.closeSync(output);
  const end = () => {
    try {
      if (child.pid) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // the group has ended
    }
  };
  const interrupt = () => {
    end();
    process.exit(130);
  };
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  return new Promise((resolve, reject) => {
    let reason = '';
    const timer = setTimeout(() => {
      reason = `the file took longer than ${limit} s`;
      end();
    }, limit * 1000);
    child.on('error', reject);
    child.on('close', () => {
      clearTimeout(timer);
      process.off('SIGINT', interrupt);
      process.off('SIGTERM', interrupt);
      end();
      resolve(reason);
    });
  });
}

/** A test without a result has failed: its file ended before it. */
function readReport(report, ended, log) {
  const lines = fs.existsSync(report) ? fs.readFileSync(report, 'utf8').trim().split('\n') : [];
  const entries = lines.filter(Boolean).map((line) => JSON.parse(line));
  const collected = entries.flatMap((entry) => entry.collected ?? []);
  if (collected.length === 0) throw new PrepareError(`pytest found no test; its output is in ${log}`);
  const results = {};
  for (const id of collected)
    results[nameOf(id)] = { outcome: 'failed', seconds: 0, reason: `not run: ${ended || 'pytest ended before it'}` };
  for (const { test, outcome, seconds, reason } of entries)
    if (test) results[nameOf(test)] = { outcome, seconds, reason };
  return results;
}

const nameOf = (id) => id.slice(id.indexOf('::') + 2);

/** A test that failed in one round has failed. */
function worse(before, tests) {
  if (!before) return tests;
  const failed = Object.entries(before.tests).filter(([, { outcome }]) => outcome === 'failed');
  return { ...tests, ...Object.fromEntries(failed) };
}

/** @returns {FileResult} */
function countTests(tests) {
  const list = Object.values(tests);
  const counts = OUTCOMES.map((outcome) => [outcome, list.filter((test) => test.outcome === outcome).length]);
  const seconds = Math.round(list.reduce((sum, test) => sum + test.seconds, 0));
  return /** @type {FileResult} */ ({ ...Object.fromEntries(counts), seconds, tests });
}

function sumOf(results) {
  const total = (key) => Object.values(results).reduce((sum, result) => sum + result[key], 0);
  return Object.fromEntries([...OUTCOMES, 'seconds'].map((key) => [key, total(key)]));
}

const describe = (result) => `${OUTCOMES.map((key) => `${result[key]} ${key}`).join(', ')} (${result.seconds} s)`;

function printTable(results) {
  const rows = [...Object.entries(results), ['total', sumOf(results)]];
  const width = Math.max(...rows.map(([name]) => name.length));
  const columns = [...OUTCOMES, 'seconds'];
  console.log(['file'.padEnd(width), ...columns.map((name) => name.padStart(8))].join(' '));
  for (const [name, result] of rows)
    console.log([name.padEnd(width), ...columns.map((key) => String(result[key]).padStart(8))].join(' '));
}

const writeJson = (file, value) => fs.writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);

/** What a baseline holds: the counts, and of each test that ran its outcome alone. */
function outcomesOf(results) {
  const baseline = {};
  for (const [file, { tests, ...counts }] of Object.entries(results)) {
    const ran = Object.entries(tests).filter(([, { outcome }]) => outcome === 'passed' || outcome === 'failed');
    baseline[file] = { ...counts, tests: Object.fromEntries(ran.map(([name, { outcome }]) => [name, outcome])) };
  }
  return baseline;
}

/** What our server does not offer: the reasons of leftOut.json that are its own. */
const ownReasons = new Set(
  JSON.parse(fs.readFileSync(LEFT_OUT, 'utf8'))
    .filter(({ server }) => server)
    .map(({ reason }) => reason),
);

/** Tests that pass in the baseline and not here, or fail here alone. @returns {string[]} one line each, with the reason */
function lostTests(baseline, results) {
  return Object.entries(results).flatMap(([file, { tests }]) => {
    const before = baseline[file]?.tests ?? {};
    const gone = { outcome: 'gone', reason: 'no such test in this tree' };
    return [...new Set([...Object.keys(before), ...Object.keys(tests)])].flatMap((name) => {
      const { outcome, reason } = tests[name] ?? gone;
      if (outcome === 'left out' && ownReasons.has(reason)) return [];
      const lost = outcome === 'failed' ? before[name] !== 'failed' : outcome !== 'passed' && before[name] === 'passed';
      return lost ? [`${file}::${name}: ${reason}`] : [];
    });
  });
}

let lastPort = 18_080;

/** @returns {Promise<number>} a port that nobody listens on, below those that the system gives to clients */
async function freePort() {
  for (;;) {
    const port = ++lastPort;
    const probe = net.createServer();
    const free = await new Promise((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!free) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
}

/** @returns {Promise<Record<string, FileResult>>} */
async function runFiles({ server, python, files: wanted, upstream, model, threads, repeat, ...values }) {
  const folder = copyTests(path.resolve(upstream));
  const files = chooseFiles(folder, wanted);
  await must('Making the models', python, [path.join(HERE, 'model_variants.py'), path.resolve(model), SCRATCH]);
  const limits = { fileLimit: Number(values['file-limit']), testLimit: values['test-limit'] };
  /** @type {Record<string, FileResult>} */
  const results = {};
  for (let round = 0; round < Number(repeat); round++) {
    const ran = await atATime(FILES_AT_A_TIME, files, async (file) => {
      const tests = await runFile(file, { folder, python, server, threads, ...limits });
      const result = countTests(worse(results[file], tests));
      console.error(`${file}: ${describe(result)}`);
      return result;
    });
    files.forEach((file, index) => {
      results[file] = ran[index];
    });
  }
  return results;
}

async function main(args) {
  const { values } = parseArgs({
    args,
    options: {
      server: { type: 'string' },
      files: { type: 'string' },
      json: { type: 'string' },
      baseline: { type: 'string', default: BASELINE },
      'write-baseline': { type: 'boolean', default: false },
      repeat: { type: 'string', default: '1' },
      upstream: { type: 'string', default: TREE },
      model: { type: 'string', default: path.join(ROOT, 'test', 'fixtures', 'models', 'concertina-tiny-q8_0.gguf') },
      python: { type: 'string' },
      // with two threads each, threads would wait for each other on two cores
      threads: { type: 'string', default: '1' },
      'file-limit': { type: 'string', default: '600' },
      'test-limit': { type: 'string', default: '60' },
    },
  });
  const server = path.resolve(values.server ?? OURS);
  if (!fs.existsSync(server))
    throw new PrepareError(`${server} does not exist. Build it, or name another by --server.`);
  const python = pythonFor(values.python);
  if (values['write-baseline'] && values.files) throw new PrepareError('a baseline has all files: leave out --files');
  const startedAt = Date.now();
  const results = await withLock(`${SCRATCH}.lock`, () => runFiles({ ...values, server, python }), console.error);
  printTable(results);
  console.log(`took ${Math.round((Date.now() - startedAt) / 1000)} s, ${FILES_AT_A_TIME} files at a time`);
  if (values.json) writeJson(values.json, results);
  if (values['write-baseline']) writeJson(BASELINE, outcomesOf(results));
  const baseline = JSON.parse(fs.readFileSync(values.baseline, 'utf8'));
  const lost = lostTests(baseline, results);
  for (const line of lost) console.log(`FAILED: ${line}`);
  const total = sumOf(results);
  const counted = Object.entries(results).flatMap(([file, { tests }]) =>
    Object.entries(tests).filter(
      ([name, { outcome }]) => outcome === 'left out' && baseline[file]?.tests[name] === 'passed',
    ),
  );
  console.log(
    `${total.skipped} skipped as upstream skips them, ${total['left out'] - counted.length} left out for either server (leftOut.json); ` +
      'skipped below: what llama-server passes and concertina serve does not offer',
  );
  console.log(`${total.passed} passed, ${total.failed} failed, ${counted.length} skipped`);
  process.exitCode = lost.length > 0 || total.passed === 0 ? 1 : 0;
}

await cli(import.meta.url, main);
