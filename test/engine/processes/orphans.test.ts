/** Who starts a server for itself may be killed: the server ends all the same. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { tinyModel } from '../../models.mjs';
import { root, temporaryFolder } from '../support';

const parent = `
import { startServe } from './test/serve.mjs';
const { url, pid } = await startServe(process.argv[1], ['--model', process.argv[2]]);
console.log(url, pid);
`;

it('a server ends when the process that started it was killed', async () => {
  const line = ['--input-type=module', '-e', parent, temporaryFolder(), tinyModel];
  const child = spawn(process.execPath, line, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [said] = await once(createInterface(child.stdout), 'line');
  const [url, pid] = said.split(' ');
  expect((await fetch(`${url}/health`)).status).toBe(200);
  child.kill('SIGKILL');
  await expect.poll(() => runs(Number(pid))).toBe(false);
  await expect(fetch(`${url}/health`)).rejects.toThrow();
});

/** Nobody may have asked yet how an orphan ended: Linux lists it as a zombie until then. */
function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/\) Z /.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
