// `npm run test:source`: a newcomer's way with the README alone. A bare Debian with Node and git, a clone of the last commit, `npm
// start` as root, and the first answer in a browser, timed. Nothing is cached: packages of Debian and npm are fetched, and all is
// compiled. Takes minutes and needs root, so neither `npm test` nor CI runs it.
// CLI: node test/packages/source.mjs [--keep]      --keep: leaves the Debian, to look at it

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { BUILD, ROOT } from '../../native/prepare/paths.mjs';
import { cli, must, PrepareError, run } from '../../native/prepare/process.mjs';
import { BareRoot } from './bareRoot.mjs';

/** `npm start` to first answer. */
const LIMIT_S = 480;
/** A build that hangs ends. */
const PATIENCE_MS = 40 * 60_000;
const NODE = ['/usr/bin/node', '/usr/bin/npm', '/usr/lib/node_modules/npm'];

/** Whom this machine's network has Node trust beside its own list, as that of a company may. */
const CERTIFICATES = process.env.NODE_EXTRA_CA_CERTS;

const root = new BareRoot(path.join(BUILD, 'source-test', 'root'));
const inside = (name) => path.join(root.folder, name);

/** What the README asks for: Node with npm, as they are on this machine, and git. Then a clone. */
async function prepare() {
  await root.make({});
  await root.run('apt-get', ['update', '-qq']);
  await root.run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'git']);
  for (const file of NODE) {
    if (!fs.existsSync(file))
      throw new PrepareError(`This takes the Node of this machine from ${file}, which is missing.`);
    fs.mkdirSync(path.dirname(inside(file)), { recursive: true });
    fs.cpSync(file, inside(file), { recursive: true, verbatimSymlinks: true });
  }
  // where this machine's npm gets its packages
  const settings = path.join(os.homedir(), '.npmrc');
  if (fs.existsSync(settings)) fs.copyFileSync(settings, inside('root/.npmrc'));
  for (const file of ['etc/resolv.conf', 'etc/hosts']) fs.copyFileSync(`/${file}`, inside(file));
  if (CERTIFICATES) {
    fs.mkdirSync(path.dirname(inside(CERTIFICATES)), { recursive: true });
    fs.copyFileSync(CERTIFICATES, inside(CERTIFICATES));
  }
  await must('Cloning', 'git', ['clone', '--quiet', '--no-hardlinks', ROOT, inside('root/concertina')]);
}

/** `npm start`, until the page is served. @returns {Promise<{child: import('node:child_process').ChildProcess, url: string}>} */
async function start(startedAt) {
  const plain = ['HOME=/root', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'LC_ALL=C.UTF-8'];
  if (CERTIFICATES) plain.push(`NODE_EXTRA_CA_CERTS=${CERTIFICATES}`);
  const command = ['/usr/bin/env', '-i', ...plain, 'sh', '-c', 'cd /root/concertina && exec npm start'];
  const child = spawn('chroot', [root.folder, ...command], { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const limit = setTimeout(() => end(child), PATIENCE_MS);
  const lines = [];
  try {
    const url = await new Promise((resolve, reject) => {
      const onLine = (line) => {
        lines.push(line);
        if (/^\[\d\/\d\].*done|headless|Node/.test(line)) console.log(`  ${seconds(startedAt)} ${line}`);
        const printed = /http:\/\/127\.0\.0\.1:\d+\/\S*token=\S+/.exec(line)?.[0];
        if (printed) resolve(printed);
      };
      for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', onLine);
      child.once('exit', (code) =>
        reject(new PrepareError(`npm start ended with code ${code}:\n${lines.slice(-40).join('\n')}`)),
      );
    });
    return { child, url };
  } finally {
    clearTimeout(limit);
  }
}

function end(child) {
  try {
    // npm, the app and its engine
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

const seconds = (since) => `${Math.round((Date.now() - since) / 1000)} s`;

/** In Chromium: test/e2e/source.spec.ts. @returns {Promise<number>} seconds from `since` to the end of the answer */
async function firstAnswer(url, since) {
  const program = path.join(ROOT, 'node_modules', '@playwright', 'test', 'cli.js');
  const { code, stdout, stderr } = await run(process.execPath, [program, 'test', '--project=source'], {
    cwd: ROOT,
    env: { CONCERTINA_SOURCE: url, CONCERTINA_SINCE: String(since) },
  });
  if (code !== 0) throw new PrepareError(`The page gave no answer:\n${stdout}${stderr}`);
  return Number(/first answer: (\d+) s/.exec(stdout)?.[1] ?? Number.NaN);
}

cli(import.meta.url, async (args) => {
  const { values } = parseArgs({ args, options: { keep: { type: 'boolean' } } });
  const loadBefore = os.loadavg()[0].toFixed(1);
  let child;
  try {
    console.log('a bare Debian with Node, git and a clone');
    await prepare();
    const startedAt = Date.now();
    console.log('npm start');
    const started = await start(startedAt);
    child = started.child;
    console.log(`  ${seconds(startedAt)} the page is served`);
    const answered = await firstAnswer(started.url, startedAt);
    console.log(
      `source to first answer: ${answered} s (limit ${LIMIT_S} s), ${os.availableParallelism()} cores, load average ${loadBefore} before`,
    );
    if (!(answered <= LIMIT_S)) throw new PrepareError(`It took longer than ${LIMIT_S} s.`);
  } finally {
    if (child) end(child);
    await (values.keep ? root.unmount() : root.remove());
  }
});
