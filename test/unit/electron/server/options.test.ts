import { readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { defaultPort, lockFolder, parseServeOptions, UsageError } from '@/electron/server/options';
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
