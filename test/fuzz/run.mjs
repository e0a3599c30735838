// `npm run fuzz`: input that nobody means well, against the real code. Each target has a process of its own, so that what ends it
// is found and saved; what was found once is replayed first (test/fuzz/corpus). Prints one line of figures for each target, and
// ends with 1 where something crashed, hung or failed without a reason. Two targets run at a time, a core each.
// CLI: npm run fuzz -- [--target gguf,ipc] [--seed 1] [--seconds 10 | --cases 1000] [--first 0] [--replay FILE] [--sanitize]

import { fork } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { bundleForNode } from '../../electron/build.mjs';
import { buildEngine } from '../../native/prepare/build.mjs';
import { BUILD, ROOT } from '../../native/prepare/paths.mjs';
import { run as runProgram } from '../../native/prepare/process.mjs';
import { CommandError, list, number, OptionError, runCommand } from '../bench/command.mjs';
import { twoAtATime } from '../programs.mjs';

/** in the order of their lines */
export const TARGETS = ['gguf', 'sessions', 'chats', 'documents', 'ipc', 'http'];
/** of one case; a loaded machine is slow, and a reader that gives up by itself takes its time */
const HANG_MS = 120_000;
/** A target that does not come up, or does not end, is as good as one that hangs. */
const SLACK_MS = 300_000;
const FOLDER = path.join(BUILD, 'fuzz');
const FAILED = path.join(FOLDER, 'failed');
/** what AddressSanitizer writes: its reports, `.PID` behind the name */
const SANITIZER_LOG = path.join(FOLDER, 'sanitizer');
const CORPUS = path.join(ROOT, 'test', 'fuzz', 'corpus');

/**
 * @typedef {object} Figures
 * @property {number} cases
 * @property {Record<string, number>} refused by code
 * @property {number} served
 * @property {number} crashes processes that ended, and errors without a code
 * @property {number} hangs
 * @property {number} slowestMs
 * @property {string} note
 */

/** @returns {Figures} */
const noFigures = () => ({ cases: 0, refused: {}, served: 0, crashes: 0, hangs: 0, slowestMs: 0, note: '' });

async function main(args) {
  const text = /** @type {const} */ ({ type: 'string' });
  const { values } = parseArgs({
    args,
    options: {
      target: text,
      seed: text,
      seconds: text,
      cases: text,
      first: text,
      replay: text,
      sanitize: { type: 'boolean' },
    },
  });
  const known = (name) => {
    if (TARGETS.includes(name)) return name;
    throw new OptionError(`There is no target ${name}. There are: ${TARGETS.join(', ')}.`);
  };
  const targets = list('--target', values.target, TARGETS, known);
  if (values.sanitize && values.target !== 'gguf') throw new OptionError('--sanitize needs --target gguf.');
  const seed = number('--seed', values.seed ?? '1', 0, 1e6);
  const first = number('--first', values.first ?? '0', 0, 1e9);
  const cases = values.cases === undefined ? 1e12 : number('--cases', values.cases, 1, 1e9);
  const seconds = number('--seconds', values.seconds ?? (values.cases ? '86400' : '10'), 1, 86_400);
  if (values.sanitize) Object.assign(process.env, await sanitizedEngine());
  await bundleForNode('child', 'test/fuzz/child.ts', FOLDER);
  let failed = 0;
  await twoAtATime(targets, async (target) => {
    const figures = noFigures();
    const started = performance.now();
    const replayed = values.replay ? [values.replay] : corpusOf(target);
    for (const file of replayed) await run({ target, figures, replay: file });
    const end = values.replay ? 0 : performance.now() + seconds * 1000;
    for (let at = first; at < first + cases && performance.now() < end; ) {
      at = await run({ target, figures, seed, at, last: first + cases, until: end });
    }
    for (const [file, text] of sanitizerReports()) report(target, figures, file, text);
    if (figures.crashes + figures.hangs > 0) failed++;
    console.log(lineOf(target, seed, figures, (performance.now() - started) / 1000, replayed.length));
  });
  // as the stages of the tests end
  console.log(`${targets.length - failed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}

/** The environment of processes that load an engine built with AddressSanitizer. @returns {Promise<Record<string, string>>} */
async function sanitizedEngine() {
  if (process.platform !== 'linux') throw new OptionError('--sanitize is for Linux and GCC.');
  const { bin } = await buildEngine({ sanitized: true });
  const { stdout } = await runProgram(process.env.CXX ?? 'c++', ['-print-file-name=libasan.so']);
  for (const [file] of sanitizerReports()) fs.rmSync(file);
  const options = {
    // V8 keeps what it has until the end
    detect_leaks: 0,
    // as malloc does: a file may ask for more than there is
    allocator_may_return_null: 1,
    allow_user_segv_handler: 1,
    log_path: SANITIZER_LOG,
  };
  return {
    CONCERTINA_ADDON: path.join(bin, 'concertina.node'),
    LD_PRELOAD: stdout.trim(),
    ASAN_OPTIONS: Object.entries(options)
      .map(([name, value]) => `${name}=${value}`)
      .join(':'),
  };
}

/** Their files, and how they begin. @returns {[string, string][]} */
function sanitizerReports() {
  const name = path.basename(SANITIZER_LOG);
  if (!fs.existsSync(FOLDER)) return [];
  return fs
    .readdirSync(FOLDER)
    .filter((file) => file.startsWith(`${name}.`))
    .map((file) => path.join(FOLDER, file))
    .map((file) => [file, fs.readFileSync(file, 'utf8').slice(0, 2000)]);
}

/** Cases that failed once; each is a file that `saved` wrote. @returns {string[]} */
function corpusOf(target) {
  const folder = path.join(CORPUS, target);
  if (!fs.existsSync(folder)) return [];
  return fs.readdirSync(folder).map((name) => path.join(folder, name));
}

/**
 * One process, until it has done all that it was asked, or something ends it: the next one goes on behind that case.
 * @returns {Promise<number>} index of the next case
 */
function run({ target, figures, seed = 0, at = 0, last = 0, until = 0, replay = '' }) {
  const current = path.join(FOLDER, `${target}.current.json`);
  fs.rmSync(current, { force: true });
  const child = fork(path.join(FOLDER, 'child.cjs'), [target, current], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: {
      ...process.env,
      CONCERTINA_ADDON: process.env.CONCERTINA_ADDON ?? path.join(BUILD, 'native', 'bin', 'concertina.node'),
      CONCERTINA_FIRST_PROBE: 'off',
      // nothing of this reaches a hub
      HF_ENDPOINT: 'http://127.0.0.1:9',
    },
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk) => {
    said = (said + chunk).slice(-4000);
  });
  return new Promise((resolve, reject) => {
    let next = at;
    let done = false;
    let hung = false;
    const hang = () => {
      hung = true;
      child.kill('SIGKILL');
    };
    let timer = setTimeout(hang, SLACK_MS);
    child.on('message', (/** @type {any} */ message) => {
      clearTimeout(timer);
      timer = setTimeout(hang, message.type === 'case' ? HANG_MS : SLACK_MS);
      if (message.type === 'case') {
        next = message.next;
        count(figures, message);
        if (message.problem) report(target, figures, saved(target, seed, message.next, message.kept), message.problem);
      } else if (message.type === 'done') {
        done = true;
        figures.note = message.note;
      }
    });
    child.on('exit', (code, signal) => {
      clearTimeout(timer);
      if (done) return resolve(next);
      if (!fs.existsSync(current))
        return reject(new CommandError(`${target} did not come up (${signal ?? code}).\n${said}`));
      const kept = saved(target, seed, next, current);
      if (hung) {
        figures.hangs++;
        console.log(`${target}: a case hung: ${kept}`);
      } else report(target, figures, kept, `ended with ${signal ?? code}\n${said.trim()}`);
      resolve(next + 1);
    });
    child.send({ seed, first: at, last, msLeft: Math.max(0, until - performance.now()), replay });
  });
}

function count(figures, { cases, served, refused, ms }) {
  figures.cases += cases;
  figures.served += served;
  for (const [code, times] of Object.entries(refused)) figures.refused[code] = (figures.refused[code] ?? 0) + times;
  figures.slowestMs = Math.max(figures.slowestMs, ms);
}

function report(target, figures, kept, problem) {
  figures.crashes++;
  // the first ones say enough
  if (figures.crashes <= 20) console.log(`${target}: ${problem}\n  saved: ${kept}`);
}

/** The case that was under way, for `--replay` and, once it is mended, for the corpus. */
function saved(target, seed, index, current) {
  fs.mkdirSync(FAILED, { recursive: true });
  const file = path.join(FAILED, `${target}-${seed}-${index}.json`);
  fs.renameSync(current, file);
  return path.relative(ROOT, file);
}

/** @param {Figures} figures */
function lineOf(target, seed, figures, seconds, replayed) {
  const all = Object.entries(figures.refused).sort(([, a], [, b]) => b - a);
  const sum = all.reduce((total, [, times]) => total + times, 0);
  const codes = all.map(([code, times]) => `${code} ${times}`).join(', ');
  return (
    `${target}: seed ${seed}, ${figures.cases} cases in ${seconds.toFixed(0)} s (${replayed} of the corpus first): ` +
    `${sum} refused${codes ? ` (${codes})` : ''}, ${figures.served} served, ${figures.crashes} crashes, ${figures.hangs} hangs; ` +
    `slowest ${(figures.slowestMs / 1000).toFixed(1)} s${figures.note ? `; ${figures.note}` : ''}`
  );
}

await runCommand(main);
