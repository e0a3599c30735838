// Runs a program beside others: cases and planted mistakes share two cores with the compilers.

import { spawn } from 'node:child_process';

/**
 * @param {string} program @param {string[]} args
 * @param {{timeoutMs?: number}} [options] timeoutMs: killed after it; no limit without
 * @returns {Promise<{stdout: string, stderr: string, status: number | null, signal: NodeJS.Signals | null}>}
 * @throws when it cannot be started
 */
export function runProgram(program, args, { timeoutMs } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
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
