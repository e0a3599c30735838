/** Who starts a server for itself may be killed: the server ends all the same. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { tinyModel } from '../../models.mjs';
import { root, temporaryFolder } from '../support';

const parent = `
import { startServe } from './test/serve.mjs';
const { url } = await startServe(process.argv[1], ['--model', process.argv[2]]);
console.log(url);
`;

it('a server ends when the process that started it was killed', async () => {
  const line = ['--input-type=module', '-e', parent, temporaryFolder(), tinyModel];
  const child = spawn(process.execPath, line, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [url] = await once(createInterface(child.stdout), 'line');
  expect((await fetch(`${url}/health`)).status).toBe(200);
  child.kill('SIGKILL');
  await expect
    .poll(() =>
      fetch(`${url}/health`).then(
        () => 'answers',
        () => 'gone',
      ),
    )
    .toBe('gone');
});
