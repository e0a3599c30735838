// Runs the tests named again and again beside two busy loops, as on a machine with other work: a test that races with what
// it tests fails sooner or later. Prints what passed and failed of each; exit code 1 when anything failed or nothing ran.
// CLI: node test/repeat.mjs TIMES FILE [FILE...] [-g NAME]     e2e tests by their .spec.ts, others by their .test.ts

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { BUILD, ROOT } from '../native/prepare/paths.mjs';

const bin = (...parts) => path.join(ROOT, 'node_modules', ...parts);
const report = path.join(BUILD, 'test-results', 'repeat.json');

const args = process.argv.slice(2);
const at = args.indexOf('-g');
const name = at === -1 ? null : args.splice(at, 2)[1];
const [times = '', ...files] = args;
const inWindow = files.every((file) => file.endsWith('.spec.ts'));
const others = files.every((file) => /\.test\.tsx?$/.test(file));
if (!/^[1-9]\d*$/.test(times) || files.length === 0 || !(inWindow || others)) {
  console.error('usage: node test/repeat.mjs TIMES FILE [FILE...] [-g NAME]');
  process.exit(2);
}

/** @type {Map<string, {passed: number, failed: number}>} */
const counts = new Map();
function count(title, passed) {
  const one = counts.get(title) ?? { passed: 0, failed: 0 };
  one[passed ? 'passed' : 'failed']++;
  counts.set(title, one);
}

let child = null;
let interrupted = false;

const loops = [1, 2].map(() => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
const endLoops = () => {
  for (const loop of loops) loop.kill('SIGKILL');
};
process.on('exit', endLoops);
// what has been counted until then is printed
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    interrupted = true;
    child?.kill('SIGINT');
  });

let clean = true;
fs.mkdirSync(path.dirname(report), { recursive: true });
if (inWindow) {
  // a worker of its own for all of them, and no second chance
  const options = ['--reporter=line,json', '--retries=0', `--repeat-each=${times}`, ...(name ? ['-g', name] : [])];
  const projects = ['electron', 'browser', 'dist'].map((project) => `--project=${project}`);
  await run([bin('@playwright', 'test', 'cli.js'), 'test', ...projects, ...options, ...files]);
  readReport((suite) => countSpecs(suite, ''));
} else {
  for (let round = 0; round < Number(times) && !interrupted; round++) {
    const options = ['--reporter=dot', '--reporter=json', `--outputFile.json=${report}`, ...(name ? ['-t', name] : [])];
    await run([bin('vitest', 'vitest.mjs'), 'run', ...options, ...files]);
    readReport(({ testResults }) => {
      for (const { assertionResults } of testResults)
        for (const { fullName, status } of assertionResults)
          if (status === 'passed' || status === 'failed') count(fullName, status === 'passed');
    });
  }
}
endLoops();

for (const [title, { passed, failed }] of counts) console.log(`${passed} passed, ${failed} failed: ${title}`);
const failed = [...counts.values()].reduce((sum, one) => sum + one.failed, 0);
process.exitCode = counts.size === 0 || failed > 0 || !clean ? 1 : 0;

function countSpecs({ suites = [], specs = [], file = '' }, of) {
  for (const spec of specs) {
    for (const { results } of spec.tests) {
      for (const { status } of results)
        if (status !== 'skipped' && status !== 'interrupted') count(`${of || file} ${spec.title}`, status === 'passed');
    }
  }
  for (const suite of suites) countSpecs(suite, of || suite.file);
}

/** A run that left none has failed before its first test. */
function readReport(use) {
  if (fs.existsSync(report)) use(JSON.parse(fs.readFileSync(report, 'utf8')));
  else clean = false;
}

/** @returns {Promise<void>} */
function run(command) {
  fs.rmSync(report, { force: true });
  return new Promise((resolve) => {
    const env = { ...process.env, PLAYWRIGHT_JSON_OUTPUT_FILE: report };
    child = spawn(process.execPath, command, { cwd: ROOT, stdio: 'inherit', env });
    child.on('close', (code) => {
      clean &&= code === 0;
      resolve();
    });
  });
}
