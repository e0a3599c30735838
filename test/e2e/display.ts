/** A display for the windows of one worker, so that they disturb nobody and take the focus from no window of another worker. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { test as base } from '@playwright/test';

/** What a test starts opens its windows there: it inherits the environment of the worker. */
export const test = base.extend<object, { display: string }>({
  display: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the needed fixtures off the pattern
    async ({}, use) => {
      if (process.platform !== 'linux') return use('');
      const { xvfb, number } = await startXvfb();
      process.env.DISPLAY = `:${number}`;
      // Electron would otherwise prefer the session's compositor to our display
      process.env.XDG_SESSION_TYPE = 'x11';
      delete process.env.WAYLAND_DISPLAY;
      await use(process.env.DISPLAY);
      xvfb.kill();
    },
    { scope: 'worker', auto: true },
  ],
});

/** Xvfb itself chooses a free display and writes its number to file descriptor 3. */
async function startXvfb(): Promise<{ xvfb: ChildProcess; number: string }> {
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
  return { xvfb, number: String(data).trim() };
}
