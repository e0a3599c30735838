/**
 * `pull` as a person runs it, in a process of its own, over the test hub and with the embedded model as the file: also killed at
 * random, again and again. CONCERTINA_KILL_ROUNDS=50 for as many rounds as a release wants.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { bundleForNode } from '../../../../electron/build.mjs';
import { startHub } from '../../../fixtures/hub/server';
import { temporaryFolder } from '../../../fixtures/temporary';

const root = path.resolve(import.meta.dirname, '..', '..', '..', '..');
// the command looks for the app's assets two folders up
const bundles = path.join(root, 'build', `test-pull-${process.pid}`);
const tinyModel = path.join(root, 'assets', 'models', 'concertina-tiny-q8_0.gguf');
const rounds = Number(process.env.CONCERTINA_KILL_ROUNDS ?? 8);
const repo = 'someone/Tiny-GGUF';
const file = 'tiny-Q8_0.gguf';
const digest = (data: Buffer) => createHash('sha256').update(data).digest('hex');

beforeAll(() => bundleForNode('serve', 'electron/serve/main.ts', bundles), 60_000);
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

/** A byte more of the file was sent, or the process is gone. */
async function until(condition: () => boolean, ended: Promise<unknown>): Promise<void> {
  let gone = false;
  void ended.then(() => {
    gone = true;
  });
  while (!gone && !condition()) await new Promise((done) => setTimeout(done, 3));
}

test('search, pull and list: answers on stdout, progress on stderr, codes at the end', {
  timeout: 60_000,
}, async () => {
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

test(`${rounds} times killed: the file is whole at the end, and nothing else is left`, {
  timeout: 30_000 + rounds * 15_000,
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
    hub.faults.bytesPerSecond = kind === 'end' ? null : 12_000_000;
    const { child, ended } = begin('pull', `${repo}/${file}`);
    const before = sent();
    const goal = kind === 'middle' ? Math.random() * 6_000_000 : size - 1;
    if (kind === 'startUp') await new Promise((done) => setTimeout(done, 100 + Math.random() * 600));
    else {
      const there = () => fs.statSync(`${place}.part`, { throwIfNoEntry: false })?.size ?? 0;
      await until(() => (kind === 'end' ? there() >= size : sent() - before > goal), ended);
      // reading the rest, the checksum, the header and the renaming lie in these
      if (kind === 'end') await new Promise((done) => setTimeout(done, Math.random() * 40));
    }
    child.kill('SIGKILL');
    await ended;
    counts[kind]++;
    // whatever is under the final name is the whole file
    if (fs.existsSync(place)) expect(digest(fs.readFileSync(place))).toBe(whole);
  }
  hub.faults.bytesPerSecond = null;
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
