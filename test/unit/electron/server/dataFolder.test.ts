/** * A data folder that cannot be used, tried as a person does it: in a process of its own, so that one that hangs is ended. As root the rights of a folder say nothing, hence places where no user can make one: a file, and what the kernel keeps below /proc. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireWritable } from '@/electron/services/lib/dataFolder';
import { temporaryFolder } from '@/test/fixtures/temporary';
import { bundleForNode } from '../../../../electron/build.mjs';

const root = path.resolve(import.meta.dirname, '..', '..', '..', '..');
// the command looks for the app's assets two folders up
const bundles = path.join(root, 'build', `test-data-folder-${process.pid}`);
/** Far above the second that an answer takes; a command that never ends does not hold the run. */
const limitMs = 60_000;

beforeAll(() => bundleForNode('serve', 'electron/server/main.ts', bundles), 60_000);
afterAll(() => fs.rmSync(bundles, { recursive: true, force: true }));

interface Ended {
  code: number | string | null;
  stdout: string;
  stderr: string;
}

function serve(...args: string[]): Promise<Ended> {
  const command = [path.join(bundles, 'serve.cjs'), ...args];
  // nobody listens there: a command that asks the hub first is found out by its error
  const env = { ...process.env, HF_ENDPOINT: 'http://127.0.0.1:9', HTTP_PROXY: '', HTTPS_PROXY: '', HF_TOKEN: '' };
  return new Promise((resolve) => {
    execFile(process.execPath, command, { env, timeout: limitMs, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
      resolve({ code: error ? (error.code ?? error.signal ?? null) : 0, stdout, stderr });
    });
  });
}

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
  ['the page', []],
  ['pull', ['pull', 'owner/name:Q8_0']],
  ['inspect of a model of the hub', ['inspect', 'owner/name:Q8_0']],
  ['estimate of a model of the hub', ['estimate', 'owner/name:Q8_0']],
  ['compare', ['compare', '--types', 'f16,q8_0', '--text', import.meta.filename]],
])('%s', (_, args) => {
  test('a folder that cannot be written is one line and exit code 1', { timeout: 4 * limitMs }, async () => {
    for (const { where, why } of await places()) {
      const remedy = 'Choose another folder with --data=FOLDER, or make this one writable.';
      expect(await serve(...args, '--data', where)).toEqual({
        code: 1,
        stdout: '',
        stderr: `Concertina cannot write to ${where}: ${why}. ${remedy}\n`,
      });
    }
  });
});

test('list, which writes nothing, lists what there is', { timeout: 4 * limitMs }, async () => {
  for (const { where } of await places()) {
    expect(await serve('list', '--data', where)).toMatchObject({ code: 0, stderr: '' });
  }
});

test('a command that only reads leaves the list of downloads as it is', { timeout: limitMs }, async () => {
  const folder = await temporaryFolder();
  const list = path.join(folder, 'downloads.json');
  const text = JSON.stringify({ version: 1, downloads: [{ a: 'later version' }] });
  fs.writeFileSync(list, text);
  expect(await serve('list', '--data', folder)).toMatchObject({ code: 0 });
  expect(fs.readFileSync(list, 'utf8')).toBe(text);
});

describe('the check', () => {
  test('makes a folder, for its owner only, and leaves nothing in it', async () => {
    const folder = path.join(await temporaryFolder(), 'a', 'b');
    requireWritable(folder);
    expect(fs.readdirSync(folder)).toEqual([]);
    expect(fs.statSync(folder).mode & 0o777).toBe(0o700);
    requireWritable(folder);
  });

  test('a link to a folder is one, a link to nowhere is none', async () => {
    const folder = await temporaryFolder();
    fs.mkdirSync(path.join(folder, 'real'));
    fs.symlinkSync('real', path.join(folder, 'link'));
    requireWritable(path.join(folder, 'link'));
    fs.symlinkSync('nowhere', path.join(folder, 'broken'));
    expect(() => requireWritable(path.join(folder, 'broken'))).toThrow('no folder can be made there');
  });
});
