/** Commands as a person runs them: in a process of its own, which is ended where it hangs. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { requireWritable } from '@/electron/services/lib/dataFolder';
import { Gate } from '@/test/fixtures/gate';
import { received, testHub } from '@/test/fixtures/hub/client';
import { temporaryFolder } from '@/test/fixtures/temporary';
import { bundleForNode } from '../../../../electron/build.mjs';
import { tinyModel } from '../../../models.mjs';

// the command looks for the app's assets two folders up
const bundles = path.resolve('build', `test-commands-${process.pid}`);
beforeAll(() => bundleForNode('serve', 'electron/server/main.ts', bundles), 60_000);
afterAll(() => fs.rmSync(bundles, { recursive: true, force: true }));

/** Far above the second that an answer takes; a command that never ends does not hold the run. */
const limitMs = 60_000;

/** `hub`: without one nobody listens there, so that a command that asks it first is found out by its error */
function begin(data: string, args: string[], hub = 'http://127.0.0.1:9') {
  const compiled = { NODE_COMPILE_CACHE: path.join(bundles, 'compiled') };
  const env = { ...process.env, ...compiled, HF_ENDPOINT: hub, HTTP_PROXY: '', HTTPS_PROXY: '', HF_TOKEN: '' };
  const options = { env, timeout: limitMs, killSignal: 'SIGKILL' } as const;
  const child = spawn(process.execPath, [path.join(bundles, 'serve.cjs'), ...args, '--data', data], options);
  onTestFinished(() => void child.kill('SIGKILL'));
  const printed = [text(child.stdout), text(child.stderr)];
  const ended = once(child, 'close').then(async ([code]: (number | null)[]) => {
    const [stdout = '', stderr = ''] = await Promise.all(printed);
    return { code, stdout, stderr };
  });
  return { child, ended };
}

/** Killed at random, again and again: CONCERTINA_KILL_ROUNDS=50 for as many rounds as a release wants. */
const rounds = Number(process.env.CONCERTINA_KILL_ROUNDS ?? 8);
const repo = 'someone/Tiny-GGUF';
const file = 'tiny-Q8_0.gguf';
const digest = (data: Buffer) => createHash('sha256').update(data).digest('hex');

/** The test hub, with the tests' model as its files. */
async function setUp() {
  const hub = await testHub([{ id: repo, files: { [file]: tinyModel, 'tiny-F16.gguf': tinyModel }, license: 'mit' }]);
  const data = await temporaryFolder();
  const run = (...args: string[]) => begin(data, args, hub.url);
  return { hub, data, run, place: path.join(data, 'models', ...repo.split('/'), file) };
}

/** It is so, or the process is gone. */
async function until(condition: () => boolean, ended: Promise<unknown>): Promise<void> {
  let gone = false;
  void ended.then(() => {
    gone = true;
  });
  while (!gone && !condition()) await new Promise((done) => setTimeout(done, 3));
}

test('search, pull, list and rm: answers on stdout, progress on stderr, codes at the end', async () => {
  const { run, place } = await setUp();
  const found = await run('models', 'search', 'tiny', '--json').ended;
  expect(JSON.parse(found.stdout)).toMatchObject({ models: [{ repo, license: 'mit' }], next: null });
  const page = await run('inspect', repo).ended;
  expect(page.stdout).toContain(file);
  const pulled = await run('models', 'pull', `${repo}:q8_0`, '--json').ended;
  expect(pulled).toMatchObject({ code: 0 });
  expect(JSON.parse(pulled.stdout)).toMatchObject({ state: 'done', repo, file });
  expect(pulled.stderr).toContain('100 %');
  expect(digest(fs.readFileSync(place))).toBe(digest(fs.readFileSync(tinyModel)));
  const listed = await run('models', 'list', '--json').ended;
  expect(JSON.parse(listed.stdout)).toEqual(
    expect.arrayContaining([expect.objectContaining({ fileName: file, source: 'downloaded' })]),
  );
  const missing = await run('models', 'pull', `${repo}:Q2_K`).ended;
  expect(missing.code).toBe(1);
  expect(missing.stderr).toContain(`${repo}:F16`);
  expect((await run('models', 'pull').ended).code).toBe(2);
  const removed = await run('models', 'rm', `${repo}:Q8_0`, '--json').ended;
  expect(JSON.parse(removed.stdout)).toMatchObject({ fileName: file, deleted: true });
  expect(fs.existsSync(place)).toBe(false);
  expect((await run('models', 'rm', `${repo}:Q8_0`).ended).code).toBe(1);
});

test('a file of a person leaves the list and stays; the built-in model stays on it', async () => {
  const { data, run } = await setUp();
  const own = path.join(data, 'own.gguf');
  fs.copyFileSync(tinyModel, own);
  const list = { version: 1, files: [own], folders: [], hidden: [] };
  fs.writeFileSync(path.join(data, 'models.json'), JSON.stringify(list));
  expect(await run('models', 'rm', 'own').ended).toMatchObject({ code: 0 });
  expect((await run('models', 'list').ended).stdout).not.toContain('own.gguf');
  expect(fs.existsSync(own)).toBe(true);
  expect((await run('models', 'rm', 'concertina-small').ended).code).toBe(1);
});

test('help goes to stdout, what is wrong with a line to stderr', async () => {
  const data = await temporaryFolder();
  const help = await begin(data, ['run', '--help']).ended;
  expect(help).toMatchObject({ code: 0, stderr: '' });
  expect(help.stdout).toContain('--doc FILE');
  for (const line of [['serach'], ['run', 'Hello', '--context', '3'], ['serve', 'list'], ['completion', 'cmd']]) {
    expect(await begin(data, line).ended, line[0]).toMatchObject({ code: 2, stdout: '' });
  }
});

test('a file of which the hub says what cannot be is refused by its name, and the others can be had', {
  timeout: 60_000,
}, async () => {
  const { hub, run } = await setUp();
  hub.faults.lies = { 'tiny-F16.gguf': { size: -5 } };
  const page = await run('inspect', repo).ended;
  expect(page.stdout).toContain(file);
  expect(page.stdout).toContain('left out: tiny-F16.gguf. The hub gives its size as -5.');
  for (const target of [`${repo}:F16`, `${repo}/tiny-F16.gguf`]) {
    const refused = await run('models', 'pull', target).ended;
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('tiny-F16.gguf cannot be downloaded. The hub gives its size as -5.');
  }
  expect(await run('models', 'pull', repo).ended).toMatchObject({ code: 0 });
});

test(`${rounds} times killed: the file is whole at the end, and nothing else is left`, {
  timeout: 60_000 + rounds * 30_000,
}, async () => {
  const { hub, data, run, place } = await setUp();
  const whole = digest(fs.readFileSync(tinyModel));
  const size = fs.statSync(tinyModel).size;
  const counts = { startUp: 0, middle: 0, end: 0, completed: 0 };

  async function checkWhole(): Promise<void> {
    counts.completed++;
    expect(digest(fs.readFileSync(place))).toBe(whole);
    fs.rmSync(path.join(data, 'models'), { recursive: true });
    fs.rmSync(path.join(data, 'downloads.json'), { force: true });
  }

  for (let round = 0; round < rounds; round++) {
    if (fs.existsSync(place)) await checkWhole();
    const kind = (['middle', 'middle', 'end', 'startUp'] as const)[round % 4] ?? 'middle';
    const gate = new Gate().hold();
    const there = () => fs.statSync(`${place}.part`, { throwIfNoEntry: false })?.size ?? 0;
    // it stays there until it is killed, or until the process has all of it
    const at = Math.min(size - 1, there() + Math.floor(Math.random() * 6_000_000));
    hub.faults.hold = kind === 'end' ? null : { at, gate };
    const { child, ended } = run('models', 'pull', `${repo}/${file}`);
    // whatever moment that is: what is asserted below holds after any
    if (kind === 'startUp') await new Promise((done) => setTimeout(done, 100 + Math.random() * 600));
    if (kind === 'middle') await Promise.race([gate.reached(), ended]);
    if (kind === 'end') {
      await until(() => there() >= size, ended);
      // reading the rest, the checksum, the header and the renaming lie in these
      await new Promise((done) => setTimeout(done, Math.random() * 40));
    }
    child.kill('SIGKILL');
    await ended;
    counts[kind]++;
    // whatever is under the final name is the whole file
    if (fs.existsSync(place)) expect(digest(fs.readFileSync(place))).toBe(whole);
  }
  hub.faults.hold = null;
  const last = await run('models', 'pull', `${repo}/${file}`).ended;
  expect(last, last.stderr).toMatchObject({ code: 0 });
  expect(digest(fs.readFileSync(place))).toBe(whole);
  const left = fs
    .readdirSync(data, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(part|log|tmp|lock)\b/.test(name));
  expect(left).toEqual([]);
  console.log(
    `killed ${rounds} times: ${JSON.stringify(counts)}, ${(received(hub) / size).toFixed(2)} times the file was sent`,
  );
});

/** As root the rights of a folder say nothing, hence places where no user can make one: a file, and what the kernel keeps below /proc. */
async function places(): Promise<{ where: string; why: string }[]> {
  const file = path.join(await temporaryFolder(), 'file');
  fs.writeFileSync(file, 'mine');
  const linux = [{ where: '/proc/concertina/data', why: 'no folder can be made there' }];
  return [
    { where: file, why: 'it, or a folder above it, is a file' },
    { where: path.join(file, 'deeper', 'data'), why: 'it, or a folder above it, is a file' },
    ...(process.platform === 'linux' ? linux : []),
  ];
}

describe.each([
  ['the page', ['serve']],
  ['run', ['run', 'Hello']],
  ['chat', ['chat']],
  ['models pull', ['models', 'pull', 'owner/name:Q8_0']],
  ['inspect of a model of the hub', ['inspect', 'owner/name:Q8_0']],
  ['estimate of a model of the hub', ['estimate', 'owner/name:Q8_0']],
  ['compare', ['compare', '--types', 'f16,q8_0', '--text', import.meta.filename]],
])('%s', (_, args) => {
  test('a folder that cannot be written is one line and exit code 1', { timeout: 4 * limitMs }, async () => {
    for (const { where, why } of await places()) {
      const remedy = 'Choose another folder with --data=FOLDER, or make this one writable.';
      expect(await begin(where, args).ended).toEqual({
        code: 1,
        stdout: '',
        stderr: `Concertina cannot write to ${where}: ${why}. ${remedy}\n`,
      });
    }
  });
});

test('list, which writes nothing, lists what there is, and leaves the list of downloads as it is', {
  timeout: 4 * limitMs,
}, async () => {
  for (const { where } of await places()) {
    expect(await begin(where, ['models', 'list']).ended).toMatchObject({ code: 0, stderr: '' });
  }
  const folder = await temporaryFolder();
  const list = path.join(folder, 'downloads.json');
  const later = JSON.stringify({ version: 1, downloads: [{ a: 'later version' }] });
  fs.writeFileSync(list, later);
  expect(await begin(folder, ['models', 'list']).ended).toMatchObject({ code: 0 });
  expect(fs.readFileSync(list, 'utf8')).toBe(later);
});

test('the check makes a folder, for its owner only, and leaves nothing in it; a link to a folder is one, a link to nowhere is none', async () => {
  const folder = path.join(await temporaryFolder(), 'a', 'b');
  requireWritable(folder);
  expect(fs.readdirSync(folder)).toEqual([]);
  expect(fs.statSync(folder).mode & 0o777).toBe(0o700);
  // of a run that was killed in it
  fs.writeFileSync(path.join(folder, 'write-test.0123abcd.tmp'), 'x');
  requireWritable(folder);
  expect(fs.readdirSync(folder)).toEqual([]);
  fs.mkdirSync(path.join(folder, 'real'));
  fs.symlinkSync('real', path.join(folder, 'link'));
  requireWritable(path.join(folder, 'link'));
  fs.symlinkSync('nowhere', path.join(folder, 'broken'));
  expect(() => requireWritable(path.join(folder, 'broken'))).toThrow('no folder can be made there');
});
