/** A forked process and its parent, as two real processes: what ends when. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@/test/fixtures/temporary';
import { bundleForNode } from '../../../../../electron/build.mjs';

const bundles = resolve('build/test-bundles');
beforeAll(() => bundleForNode('engineTransport', 'electron/services/engine/engineTransport.ts', bundles), 60_000);

test('a command ends with its process, whatever that has started and left with its output', async () => {
  const folder = await temporaryFolder();
  const command = join(folder, 'command.cjs');
  const child = join(folder, 'child.cjs');
  const pidFile = join(folder, 'left.pid');
  // as a driver's helper does: it has the pipes of the process, and ends when the test has looked
  await writeFile(
    child,
    `const left = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => 0, 1e6)'],
       { stdio: ['ignore', 'inherit', 'inherit'], detached: true });
     require('node:fs').writeFileSync(process.argv[2], String(left.pid));
     console.error('its last words');
     process.exit(7);`,
  );
  await writeFile(
    command,
    `const transport = require(process.argv[2]).forkProcess(process.argv[3], [process.argv[4]]);
     transport.onOutput((text) => process.stdout.write(text));
     transport.onExit(({ code }) => console.log('code ' + code));`,
  );
  onTestFinished(async () => void process.kill(Number(await readFile(pidFile, 'utf8')), 'SIGKILL'));
  const args = [command, join(bundles, 'engineTransport.cjs'), child, pidFile];
  const ran = promisify(execFile)(process.execPath, args);
  onTestFinished(() => void ran.child.kill('SIGKILL'));
  const { stdout } = await ran;
  expect(stdout.split('\n').sort()).toEqual(['', 'code 7', 'its last words']);
  expect(process.kill(Number(await readFile(pidFile, 'utf8')), 0)).toBe(true);
}, 20_000);
