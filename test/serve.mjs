// `concertina serve` as a process of its own, for tests and benches that talk to its API.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import { BUILD } from '../native/prepare/paths.mjs';

/** A port of this machine that nobody listens on now. @returns {Promise<number>} */
export async function freePort() {
  const probe = net.createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = /** @type {net.AddressInfo} */ (probe.address());
  probe.close();
  await once(probe, 'close');
  return port;
}

/** that its clients show */
export const KEY = 'a-key-of-the-tests';

/**
 * On a free port of this machine. Resolves when it answers.
 * @param {string} data its folder
 * @param {string[]} options of `serve`
 * @returns {Promise<{url: string, pid: number | undefined, stop: () => Promise<void>}>} url: without a path, http://127.0.0.1:PORT
 * @throws when it ends before that, with what it printed
 */
export async function startServe(data, options) {
  const program = path.join(BUILD, 'app', 'serve.cjs');
  const line = [program, 'serve', '--port', '0', '--key', KEY, '--data', data, ...options];
  const child = spawn(process.execPath, line, {
    stdio: 'pipe',
    // it ends with this process, also when that is killed
    env: { ...process.env, CONCERTINA_FIRST_PROBE: 'off', CONCERTINA_END_WITH_STDIN: '1' },
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  let printed = '';
  const url = await new Promise((resolve, reject) => {
    const read = (chunk) => {
      printed += chunk;
      const found = /^API (\S+)\/v1$/m.exec(printed)?.[1];
      if (found) resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`concertina serve ended with code ${code}:\n${printed}`)));
  });
  return { url, pid: child.pid, stop };
}
