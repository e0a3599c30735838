/** Before all e2e tests: the Electron to test in, and on Linux a display of our own, so that no window disturbs anyone. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { ensureTestRuntime } from './runtime.mjs';

export default async function globalSetup(): Promise<() => void> {
  if (process.platform !== 'linux') return () => {};
  await ensureTestRuntime();
  const display = await startXvfb();
  // workers are started later and inherit it
  process.env.DISPLAY = `:${display.number}`;
  // Electron would otherwise prefer the session's compositor to our display
  process.env.XDG_SESSION_TYPE = 'x11';
  delete process.env.WAYLAND_DISPLAY;
  return () => display.process.kill();
}

/** Xvfb itself chooses a free display and writes its number to file descriptor 3. */
async function startXvfb(): Promise<{ process: ChildProcess; number: string }> {
  // Xvfb does not make the folder of its socket when it is not root
  mkdirSync('/tmp/.X11-unix', { recursive: true });
  const xvfb = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1600x1200x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  const numbers = xvfb.stdio[3];
  if (!numbers) throw new Error('Xvfb: no pipe for the display number');
  const [data] = await Promise.race([
    once(numbers, 'data'),
    once(xvfb, 'error').then(([error]) => Promise.reject(error)),
    once(xvfb, 'exit').then(([code]) => Promise.reject(new Error(`Xvfb ended at once with code ${code}`))),
  ]);
  return { process: xvfb, number: String(data).trim() };
}
