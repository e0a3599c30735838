// `npm run test:packages`: the life of an installed app. Makes deb and rpm around the test runtime, installs each in a bare Debian
// (bareRoot.mjs), starts the app there as a person, chats with it, updates it with the chats kept, removes it and looks for what it
// left. Takes minutes and needs root, so neither `npm test` nor CI runs it.
// CLI: node test/packages/run.mjs [--keep] [--reuse]
//   --keep: leaves packages and Debian for --reuse, which takes those of the last run

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { buildDist } from '../../electron/dist.mjs';
import { BUILD, ROOT } from '../../native/prepare/paths.mjs';
import { cli, must, PrepareError, run } from '../../native/prepare/process.mjs';
import { tinyModel } from '../models.mjs';
import { BareRoot, differences } from './bareRoot.mjs';

const FOLDER = path.join(BUILD, 'packages-test');
const INSTALLED = 'opt/Concertina';
const { version: VERSION } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
const NEXT = VERSION.replace(/\d+$/, (patch) => String(Number(patch) + 1));
/** Package to first answer. */
const LIMIT_S = 120;

const root = new BareRoot(path.join(FOLDER, 'root'));
let failures = 0;

async function step(what, body) {
  const startedAt = Date.now();
  const said = await body();
  console.log(`${what}${said ? `: ${said}` : ''} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
}

function check(what, ok, detail = '') {
  console.log(`  ${ok ? 'ok' : 'FAILED'}: ${what}${ok || !detail ? '' : `\n${detail}`}`);
  if (!ok) failures += 1;
}

/** @returns {Promise<{deb: string, rpm: string, nextDeb: string, nextRpm: string}>} */
async function packages(reuse) {
  const made = async (version) => {
    const output = path.join(FOLDER, version);
    if (!reuse || !fs.existsSync(output)) {
      fs.rmSync(output, { recursive: true, force: true });
      await buildDist({ output, version, compression: 'gzip' });
      fs.rmSync(path.join(output, 'linux-unpacked'), { recursive: true, force: true });
    }
    const find = (ending) => path.join(output, fs.readdirSync(output).find((name) => name.endsWith(ending)) ?? '');
    return { deb: find('.deb'), rpm: find('.rpm') };
  };
  const [first, next] = [await made(VERSION), await made(NEXT)];
  return { ...first, nextDeb: next.deb, nextRpm: next.rpm };
}

/** One step of test/e2e/installed.spec.ts. @param {string} name its beginning @param {{version?: string, since?: number, model?: string}} [options] */
async function live(name, { version = VERSION, since, model = '' } = {}) {
  const cli = path.join(ROOT, 'node_modules', '@playwright', 'test', 'cli.js');
  const env = {
    CONCERTINA_INSTALLED: JSON.stringify(root.asPerson('/usr/bin/concertina')),
    CONCERTINA_VERSION: version,
    CONCERTINA_MODEL: model,
    ...(since && { CONCERTINA_SINCE: String(since) }),
  };
  const { code, stdout, stderr } = await run(process.execPath, [cli, 'test', '--project=installed', '-g', `${name}:`], {
    cwd: ROOT,
    env,
  });
  check(`${name} start, as an ordinary user, in Chromium's sandbox`, code === 0, stdout + stderr);
  return Number(/first answer: (\d+) s/.exec(stdout)?.[1] ?? Number.NaN);
}

/** Every program and library finds what it links. */
async function linked() {
  const files = [
    `/${INSTALLED}/concertina`,
    `/${INSTALLED}/chrome-sandbox`,
    `/${INSTALLED}/resources/native/concertina.node`,
  ];
  const missing = (await root.run('ldd', files)).split('\n').filter((line) => line.includes('not found'));
  check('every library is there', missing.length === 0, missing.join('\n'));
}

function associated() {
  const read = (file) => fs.readFileSync(path.join(root.folder, file), 'utf8');
  check('.gguf has its type', read('usr/share/mime/globs2').includes('application/x-gguf:*.gguf'));
  const apps = read('usr/share/applications/mimeinfo.cache');
  check('and the type its app', /application\/x-gguf=.*concertina\.desktop/.test(apps), apps);
}

/** Its target is a path inside of the root. */
const linkThere = () =>
  fs.lstatSync(path.join(root.folder, 'etc/alternatives/concertina'), { throwIfNoEntry: false }) !== undefined;

/** The part that is alike for both kinds of package. */
async function life({ kind, install, update, remove }) {
  const before = root.list();
  const since = Date.now();
  await step(`${kind}: installed`, install);
  const mode = fs.statSync(path.join(root.folder, INSTALLED, 'chrome-sandbox')).mode & 0o7777;
  check(
    'no group or other can write, nothing but the sandbox helper is set-uid',
    mode === 0o4755 || mode === 0o755,
    mode.toString(8),
  );
  await linked();
  associated();
  let answered = Number.NaN;
  await step(`${kind}: chatted with`, async () => {
    answered = await live('first', { since });
  });
  check(`package to first answer within ${LIMIT_S} s`, answered <= LIMIT_S);
  const load = os.loadavg()[0].toFixed(1);
  console.log(
    `  package to first answer: ${answered} s, at a load average of ${load} on ${os.availableParallelism()} cores`,
  );
  await step(`${kind}: started again with a model file`, () =>
    live('again', { model: root.give(tinyModel) }).then(() => ''),
  );
  await step(`${kind}: updated to ${NEXT}`, update);
  check('the command is still there', linkThere());
  await step(`${kind}: chatted with after the update`, () => live('updated', { version: NEXT }).then(() => ''));
  await step(`${kind}: removed`, remove);
  const left = differences(before, root.list());
  check('nothing is left but the data of the person', left.length === 0, left.join('\n'));
  const data = path.join(root.folder, 'home/tester/.config');
  check(
    'and that is still there',
    fs.existsSync(data) && fs.readdirSync(data, { recursive: true }).some((name) => /chats/.test(String(name))),
  );
  fs.rmSync(data, { recursive: true, force: true });
}

async function debian({ deb, nextDeb }) {
  const inside = (file) => {
    fs.copyFileSync(file, path.join(root.folder, 'tmp', path.basename(file)));
    return `/tmp/${path.basename(file)}`;
  };
  const name = (await must('Reading the deb', 'dpkg-deb', ['-f', deb, 'Package'])).trim();
  const depends = (await must('Reading the deb', 'dpkg-deb', ['-f', deb, 'Depends'])).trim();
  await step('deb: what it depends on, by apt', async () => {
    await root.run('apt-get', ['update', '-qq']);
    await root.run('apt-get', ['satisfy', '-y', '-qq', '--no-install-recommends', depends]);
    await root.run('apt-get', ['clean']);
  });
  await life({
    kind: 'deb',
    install: () => root.run('dpkg', ['-i', inside(deb)]).then(() => path.basename(deb)),
    update: () => root.run('dpkg', ['-i', inside(nextDeb)]).then(() => path.basename(nextDeb)),
    remove: () => root.run('dpkg', ['--purge', name]).then(() => ''),
  });
}

/** On Debian's libraries, since there is no Fedora here: what an rpm requires is not checked by this. */
async function redHat({ rpm, nextRpm }) {
  const own = ['--root', root.folder, '--force-debian', '--nodeps'];
  const name = (await must('Reading the rpm', 'rpm', ['-qp', '--qf', '%{NAME}', rpm])).trim();
  await life({
    kind: 'rpm',
    install: () => must('Installing the rpm', 'rpm', [...own, '-i', rpm]).then(() => path.basename(rpm)),
    update: () => must('Updating the rpm', 'rpm', [...own, '-U', nextRpm]).then(() => path.basename(nextRpm)),
    remove: () => must('Removing the rpm', 'rpm', [...own, '-e', name]).then(() => ''),
  });
}

cli(import.meta.url, async (args) => {
  const { values } = parseArgs({ args, options: { reuse: { type: 'boolean' }, keep: { type: 'boolean' } } });
  const startedAt = Date.now();
  fs.mkdirSync(FOLDER, { recursive: true });
  try {
    let made;
    await step(`packages of ${VERSION} and ${NEXT}, around the test runtime`, async () => {
      made = await packages(values.reuse);
    });
    await step('a bare Debian', () => root.make({ reuse: values.reuse }));
    await debian(made);
    await redHat(made);
  } finally {
    await (values.keep ? root.unmount() : root.remove());
  }
  console.log(`all of it took ${((Date.now() - startedAt) / 1000).toFixed(0)} s`);
  if (failures > 0) throw new PrepareError(`${failures} check(s) failed`);
});
