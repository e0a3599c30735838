import { readFile, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { defaultPort, keptToken, lockFolder, parseServeOptions, UsageError } from '@/electron/server/options';
import { temporaryFolder } from '@/test/fixtures/temporary';

test('without arguments it serves this machine from the home folder', () => {
  expect(parseServeOptions([])).toEqual({
    host: '127.0.0.1',
    port: defaultPort,
    portAsked: false,
    dataFolder: join(os.homedir(), '.concertina'),
    model: null,
    estimate: null,
  });
});

test.each(['0.0.0.0', '::', '192.168.1.5', 'example.com'])('--host %s is refused', (host) => {
  expect(() => parseServeOptions(['--host', host])).toThrow(/only addresses of this machine/);
});

test.each([['--port', 'many'], ['--port', '70000'], ['--colour'], ['file.gguf']])(
  '%s %s is a usage error',
  (...args) => {
    expect(() => parseServeOptions(args)).toThrow(UsageError);
  },
);

test('a data folder serves one process at a time; the lock of a dead one is taken over', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'serve.lock'), '1');
  expect(() => lockFolder(folder)).toThrow(/already runs/);
  await writeFile(join(folder, 'serve.lock'), '4194305');
  lockFolder(folder);
  expect(await readFile(join(folder, 'serve.lock'), 'utf8')).toBe(String(process.pid));
});

test('the key of a data folder stays, and only its owner may read it', async () => {
  const folder = await temporaryFolder();
  const token = keptToken(folder);
  expect(token).toMatch(/^[A-Za-z0-9_-]{32}$/);
  expect(keptToken(folder)).toBe(token);
  expect(keptToken(await temporaryFolder())).not.toBe(token);
  expect((await stat(join(folder, 'serve.key'))).mode & 0o777).toBe(0o600);
});

test('a damaged key is replaced', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'serve.key'), '');
  expect(keptToken(folder)).toMatch(/^[A-Za-z0-9_-]{32}$/);
});
