// Programs of the native, kernel and server tests, as many at a time as a runner of CI has cores for: two, or more where they wait.

import { spawn } from 'node:child_process';

/**
 * @param {string} program @param {string[]} args
 * @param {{timeoutMs?: number, env?: Record<string, string>}} [options] timeoutMs: killed after it; no limit without;
 *   env: on top of this process's
 * @returns {Promise<{stdout: string, stderr: string, status: number | null, signal: NodeJS.Signals | null}>}
 * @throws when it cannot be started
 */
export function runProgram(program, args, { timeoutMs, env = {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (status, signal) => resolve({ stdout, stderr, status, signal }));
  });
}

/**
 * @template T, R
 * @param {T[]} items @param {(item: T, index: number) => Promise<R>} body
 * @returns {Promise<R[]>}
 */
export const twoAtATime = (items, body) => atATime(2, items, body);

/**
 * Results keep the order.
 * @template T, R
 * @param {number} count @param {T[]} items @param {(item: T, index: number) => Promise<R>} body
 * @returns {Promise<R[]>}
 */
export async function atATime(count, items, body) {
  const results = new Array(items.length);
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await body(items[index], index);
    }
  };
  await Promise.all(Array.from({ length: count }, worker));
  return results;
}
