// `npm run bump`: patches that are merged into other sources, and what is said where that cannot be done. With real
// repositories of a few lines: what git does with a patch is what counts.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { adviceOf, mergePatch, versionOf } from '../../../../native/prepare/bump.mjs';
import { WorkTree } from '../../../../native/prepare/git-tree.mjs';
import { must } from '../../../../native/prepare/process.mjs';

const lines = (count: number, other: Record<number, string> = {}) =>
  `${Array.from({ length: count }, (_, index) => other[index] ?? `int line_${index};`).join('\n')}\n`;

let scratch = '';
beforeEach(() => {
  scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'concertina-bump-'));
});
afterEach(() => {
  fs.rmSync(scratch, { recursive: true, force: true });
});

/** A bare repository of one commit, as the bundle has it. */
async function repositoryOf(name: string, files: Record<string, string>): Promise<string> {
  const folder = path.join(scratch, name);
  fs.mkdirSync(folder);
  for (const [file, text] of Object.entries(files)) fs.writeFileSync(path.join(folder, file), text);
  const git = (...args: string[]) =>
    must('test', 'git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: folder });
  await git('init', '--quiet');
  await git('add', '.');
  await git('commit', '--quiet', '-m', name);
  return path.join(folder, '.git');
}

/** The patch that `patched` is to `old`, merged into `next`. */
async function merged(
  old: Record<string, string>,
  patched: Record<string, string>,
  next: Record<string, string>,
): Promise<{ conflicts: Awaited<ReturnType<typeof mergePatch>>; read: (file: string) => string }> {
  const before = await repositoryOf('old', old);
  for (const [file, text] of Object.entries(patched)) fs.writeFileSync(path.join(scratch, 'old', file), text);
  const diff = await must('test', 'git', ['diff', '--abbrev=12'], { cwd: path.join(scratch, 'old') });
  const file = path.join(scratch, 'call-site.patch');
  fs.writeFileSync(file, diff);

  const repository = await repositoryOf('next', next);
  const folder = path.join(scratch, 'tree');
  fs.mkdirSync(folder);
  const work = new WorkTree(folder, { repository, alsoFrom: before });
  try {
    await work.git('test', 'read-tree', 'HEAD');
    await work.git('test', 'checkout-index', '--all', '-u');
    const conflicts = await mergePatch(work, { name: 'call-site.patch', file, text: diff });
    return { conflicts, read: (name) => fs.readFileSync(path.join(folder, name), 'utf8') };
  } finally {
    work.dispose();
  }
}

it('puts a patch where its place has moved to and its neighbors have changed', async () => {
  const next = { 'a.c': `int new_first;\n${lines(40, { 18: 'int renamed;' })}` };
  const { conflicts, read } = await merged(
    { 'a.c': lines(40) },
    { 'a.c': lines(40, { 20: 'int line_20;\nour_call();' }) },
    next,
  );
  expect(conflicts).toEqual([]);
  expect(read('a.c')).toContain('int renamed;\nint line_19;\nint line_20;\nour_call();\n');
});

it('names the file, the line and the hunk of a conflict, and merges the rest', async () => {
  const patched = {
    'a.c': lines(60, { 5: 'int line_5;\nfirst_call();', 50: 'int line_50;\nsecond_call();' }),
    'b.c': lines(10, { 3: 'third_call();' }),
  };
  const next = { 'a.c': lines(60, { 50: 'int line_50(void);' }), 'b.c': lines(10) };
  const { conflicts, read } = await merged({ 'a.c': lines(60), 'b.c': lines(10) }, patched, next);
  expect(conflicts).toEqual([
    {
      ...{ patch: 'call-site.patch', file: 'a.c', line: expect.any(Number) },
      hunk: expect.stringMatching(/^@@ -49,6 \+50,7 @@/),
    },
  ]);
  expect(read('a.c').split('\n')[(conflicts[0]?.line ?? 0) - 1]).toMatch(/^<{7} /);
  expect(read('a.c')).toContain('first_call();');
  expect(read('b.c')).toContain('third_call();');
  const advice = adviceOf(conflicts, 'v9');
  expect(advice).toContain('call-site.patch conflicts in build/bump/llama.cpp/a.c, line');
  expect(advice).toContain('npm run bump -- v9 --continue');
});

it('says that a file is gone, and merges the others of the patch', async () => {
  const old = { 'a.c': lines(10), 'b.c': lines(10) };
  const patched = { 'a.c': lines(10, { 3: 'our_call();' }), 'b.c': lines(10, { 3: 'third_call();' }) };
  const { conflicts, read } = await merged(old, patched, { 'b.c': lines(10) });
  expect(conflicts).toEqual([{ patch: 'call-site.patch', file: 'a.c', line: null, hunk: 'the file is gone' }]);
  expect(read('b.c')).toContain('third_call();');
  expect(adviceOf(conflicts, 'v9')).toContain('call-site.patch cannot be put into a.c: the file is gone.');
});

it('reads the version of ggml', () => {
  const text = 'set(GGML_VERSION_MAJOR 0)\nset(GGML_VERSION_MINOR 23)\nset(GGML_VERSION_PATCH 1)\n';
  expect(versionOf(text)).toBe('0.23.1');
});
