import { createHash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { checksums, componentsOutsideNpm, releaseProblems } from '@/electron/release.mjs';
import { temporaryFolder } from '@/test/fixtures/temporary';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const wanted = { version: '1.2.3', electron: '45.0.0' };

/** A folder with one package and the list of it; `change` is what went wrong. */
async function built(change: object = {}, file = 'concertina_1.2.3_amd64.deb'): Promise<string> {
  const folder = await temporaryFolder();
  writeFileSync(path.join(folder, file), 'package');
  const list = {
    version: '1.2.3',
    homepage: 'https://example.org/app',
    runtime: { standIn: false, electron: '45.0.0', arch: 'x64' },
    vulkan: true,
    files: [{ name: file, bytes: 7, sha256: sha256('package') }],
    ...change,
  };
  writeFileSync(path.join(folder, 'built-linux-x64.json'), JSON.stringify(list));
  return folder;
}

const problems = (folder: string, tag?: string) => releaseProblems(folder, { tag, wanted }).join('\n');

test('what was built around the real Electron may be published, under its own tag', async () => {
  const folder = await built();
  expect(problems(folder)).toBe('');
  expect(problems(folder, 'v1.2.3')).toBe('');
  expect(problems(folder, 'v1.2.4')).toContain('it must be v1.2.3');
});

test('what was built around the test runtime is refused, however it is named', async () => {
  const runtime = { standIn: true, electron: '33.2.1', arch: 'x64' };
  expect(problems(await built({ runtime }))).toContain('packed around the test runtime (Electron 33.2.1)');
  const file = 'concertina-test_1.2.3_amd64.deb';
  expect(problems(await built({}, file))).toBe(`${file} is named for tests.`);
});

test.each([
  [
    'another Electron',
    { runtime: { standIn: false, electron: '44.0.0', arch: 'x64' } },
    'packed around Electron 44.0.0',
  ],
  ['an engine without Vulkan', { vulkan: false }, 'its engine has no Vulkan'],
  ['another version', { version: '1.2.2' }, 'version 1.2.2'],
  ['no page of the project', { homepage: 'https://concertina.invalid' }, 'name no page'],
  ['an unpacked folder only', { files: [] }, 'No package was built'],
])('%s is refused', async (_name, change, sentence) => {
  expect(problems(await built(change))).toContain(sentence);
});

test('a file that was changed, is missing, or that nobody built is refused', async () => {
  const folder = await built();
  writeFileSync(path.join(folder, 'concertina_1.2.3_amd64.deb'), 'other');
  expect(problems(folder)).toContain('it was changed or replaced');
  rmSync(path.join(folder, 'concertina_1.2.3_amd64.deb'));
  expect(problems(folder)).toContain('is not there any more');
  writeFileSync(path.join(folder, 'setup.exe'), '');
  expect(problems(folder)).toContain('setup.exe is in no list');
  expect(problems(await temporaryFolder())).toContain('run npm run dist');
});

test('checksums are those of all that is published, as sha256sum reads them', async () => {
  const folder = await built();
  expect(checksums(folder)).toBe(`${sha256('package')}  concertina_1.2.3_amd64.deb\n`);
});

test('the bill of materials names llama.cpp by its commit and the built-in model by its hash', () => {
  const parts = componentsOutsideNpm();
  expect(parts[0]).toMatchObject({
    name: 'llama.cpp',
    purl: expect.stringMatching(/^pkg:github\/ggml-org\/llama\.cpp@[0-9a-f]{40}$/),
  });
  expect(parts.filter(({ type }) => type === 'machine-learning-model')).toEqual([
    expect.objectContaining({ hashes: [{ alg: 'SHA-256', content: expect.stringMatching(/^[0-9a-f]{64}$/) }] }),
  ]);
  expect(new Set(parts.map((part) => part['bom-ref'])).size).toBe(parts.length);
});
