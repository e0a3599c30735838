/** Headless mode for the tests: the real server as its own process, and Debian's Chromium in front of it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type Browser, test as base, chromium, type Page } from '@playwright/test';
import { root } from './app';

/** As root, in a closed network: without these Chromium keeps asking for hosts that it cannot reach. */
const chromiumArgs = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface Server {
  /** with the token, as printed */
  url: string;
  output: () => string;
  pid: number;
}

export const test = base.extend<
  { serverEnv: Record<string, string>; server: Server; browserPage: Page },
  { browserOfDebian: Browser }
>({
  browserOfDebian: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the needed fixtures off the pattern
    async ({}, use) => {
      const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: chromiumArgs });
      await use(browser);
      await browser.close();
    },
    { scope: 'worker' },
  ],

  serverEnv: {},

  server: async ({ serverEnv }, use, info) => {
    const data = info.outputPath('data');
    await mkdir(data, { recursive: true });
    const { child, server } = await startServer(data, serverEnv);
    await use(server);
    if (info.status !== info.expectedStatus) {
      await info.attach('output of the server', { body: server.output(), contentType: 'text/plain' });
    }
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  },

  browserPage: async ({ browserOfDebian, server }, use) => {
    // axe asks for a context that was made on purpose
    const context = await browserOfDebian.newContext();
    const page = await context.newPage();
    await page.goto(server.url);
    await use(page);
    await context.close();
  },
});

async function startServer(
  data: string,
  serverEnv: Record<string, string>,
): Promise<{ child: ChildProcess; server: Server }> {
  const serve = path.join(root, 'build', 'app', 'serve.cjs');
  const child = spawn(process.execPath, [serve, '--data', data, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, CONCERTINA_FIRST_PROBE: 'off', ...serverEnv },
  });
  let text = '';
  const url = new Promise<string>((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      text += chunk;
      const found = /http:\/\/127\.0\.0\.1:\d+\/\S*token=\S+/.exec(text);
      if (found) resolve(found[0]);
    };
    child.stdout?.on('data', onData);
    child.stderr?.on('data', onData);
    child.once('exit', (code) => reject(new Error(`the server ended with code ${code}:\n${text}`)));
  });
  return { child, server: { url: await url, output: () => text, pid: child.pid ?? 0 } };
}
