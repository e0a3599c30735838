/**
 * `pull` as a person runs it, in a process of its own, over the test hub and with the tests' model as the file: also killed at
 * random, again and again. CONCERTINA_KILL_ROUNDS=50 for as many rounds as a release wants.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Gate } from '@/test/fixtures/gate';
import { startHub } from '@/test/fixtures/hub/server';
import { temporaryFolder } from '@/test/fixtures/temporary';
import { bundleForNode } from '../../../../electron/build.mjs';
import { tinyModel } from '../../../models.mjs';

const root = path.resolve(import.meta.dirname, '..', '..', '..', '..');
// the command looks for the app's assets two folders up
const bundles = path.join(root, 'build', `test-pull-${process.pid}`);
const rounds = Number(process.env.CONCERTINA_KILL_ROUNDS ?? 8);
const repo = 'someone/Tiny-GGUF';
const file = 'tiny-Q8_0.gguf';
const digest = (data: Buffer) => createHash('sha256').update(data).digest('hex');

beforeAll(() => bundleForNode('serve', 'electron/server/main.ts', bundles), 60_000);
afterAll(() => fs.rmSync(bundles, { recursive: true, force: true }));

async function setUp() {
  const hub = await startHub([{ id: repo, files: { [file]: tinyModel, 'tiny-F16.gguf': tinyModel }, license: 'mit' }]);
  onTestFinished(() => hub.close());
  const data = await temporaryFolder();
  const children = new Set<ChildProcess>();
  onTestFinished(() => {
    for (const child of children) child.kill('SIGKILL');
  });

  function begin(...args: string[]) {
    const env = { ...process.env, HF_ENDPOINT: hub.url, HTTPS_PROXY: '', HTTP_PROXY: '', HF_TOKEN: '' };
    const child = spawn(process.execPath, [path.join(bundles, 'serve.cjs'), ...args, '--data', data], { env });
    children.add(child);
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (text) => {
      stdout += text;
    });
    child.stderr.on('data', (text) => {
      stderr += text;
    });
    const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
      child.on('close', (code) => resolve({ code, stdout, stderr }));
    });
    return { child, ended };
  }
  return { hub, data, begin, place: path.join(data, 'models', ...repo.split('/'), file) };
}

/** It is so, or the process is gone. */
async function until(condition: () => boolean, ended: Promise<unknown>): Promise<void> {
  let gone = false;
  void ended.then(() => {
    gone = true;
  });
  while (!gone && !condition()) await new Promise((done) => setTimeout(done, 3));
}

test('search, pull and list: answers on stdout, progress on stderr, codes at the end', async () => {
  const { begin, place } = await setUp();
  const found = await begin('search', 'tiny', '--json').ended;
  expect(JSON.parse(found.stdout)).toMatchObject({ models: [{ repo, license: 'mit' }], next: null });
  const page = await begin('inspect', repo).ended;
  expect(page.stdout).toContain(file);
  const pulled = await begin('pull', `${repo}:q8_0`, '--json').ended;
  expect(pulled).toMatchObject({ code: 0 });
  expect(JSON.parse(pulled.stdout)).toMatchObject({ state: 'done', repo, file });
  expect(pulled.stderr).toContain('100 %');
  expect(digest(fs.readFileSync(place))).toBe(digest(fs.readFileSync(tinyModel)));
  const listed = await begin('list', '--json').ended;
  expect(JSON.parse(listed.stdout)).toEqual(
    expect.arrayContaining([expect.objectContaining({ fileName: file, source: 'downloaded' })]),
  );
  const missing = await begin('pull', `${repo}:Q2_K`).ended;
  expect(missing.code).toBe(1);
  expect(missing.stderr).toContain(`${repo}:F16`);
  expect((await begin('pull').ended).code).toBe(2);
});

test('a file of which the hub says what cannot be is refused by its name, and the others can be had', {
  timeout: 60_000,
}, async () => {
  const { hub, begin } = await setUp();
  hub.faults.lies = { 'tiny-F16.gguf': { size: -5 } };
  const page = await begin('inspect', repo).ended;
  expect(page.stdout).toContain(file);
  expect(page.stdout).toContain('left out: tiny-F16.gguf. The hub gives its size as -5.');
  for (const target of [`${repo}:F16`, `${repo}/tiny-F16.gguf`]) {
    const refused = await begin('pull', target).ended;
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('tiny-F16.gguf cannot be downloaded. The hub gives its size as -5.');
  }
  expect(await begin('pull', repo).ended).toMatchObject({ code: 0 });
});

test(`${rounds} times killed: the file is whole at the end, and nothing else is left`, {
  timeout: 60_000 + rounds * 30_000,
}, async () => {
  const { hub, data, begin, place } = await setUp();
  const whole = digest(fs.readFileSync(tinyModel));
  const size = fs.statSync(tinyModel).size;
  const sent = () => hub.seen.filter(({ where }) => where === 'cdn').reduce((sum, one) => sum + one.sent, 0);
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
    const { child, ended } = begin('pull', `${repo}/${file}`);
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
  const last = await begin('pull', `${repo}/${file}`).ended;
  expect(last, last.stderr).toMatchObject({ code: 0 });
  expect(digest(fs.readFileSync(place))).toBe(whole);
  const left = fs
    .readdirSync(data, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(part|log|tmp|lock)\b/.test(name));
  expect(left).toEqual([]);
  console.log(
    `killed ${rounds} times: ${JSON.stringify(counts)}, ${(sent() / size).toFixed(2)} times the file was sent`,
  );
});
