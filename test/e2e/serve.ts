/** Headless mode for the tests: the real server as its own process, and Debian's Chromium in front of it. */
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type Browser, test as base, chromium, expect, type Page, type TestInfo } from '@playwright/test';
import { type Server, spawnServer } from '../fixtures/headlessApp';
import { keepCalibrations, takeCalibrations } from './calibrations';

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

export const test = base.extend<
  { serverEnv: Record<string, string>; server: Server; browserPage: Page },
  { browserOfDebian: Browser; sharedServer: Server }
>({
  /** of all tests of a worker that ask for it */
  sharedServer: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the needed fixtures off the pattern
    async ({}, use, info) => {
      await withServer(path.join(info.project.outputDir, `shared-server-${info.workerIndex}`), {}, use);
    },
    { scope: 'worker' },
  ],

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
    await withServer(info.outputPath('data'), serverEnv, async (server) => {
      await use(server);
      await attachOutput(server, info);
    });
  },

  // English, unless a test asks for another language
  locale: 'en-US',

  browserPage: async ({ browserOfDebian, server, locale }, use) => {
    // axe asks for a context that was made on purpose
    const context = await browserOfDebian.newContext({ locale });
    const page = await context.newPage();
    await page.goto(server.url);
    await use(page);
    await context.close();
  },
});

/** For tests that need no data folder and no environment of their own: what the others leave behind must not matter to them. */
export const sharing = test.extend({
  server: async ({ sharedServer }, use, info) => {
    await use(sharedServer);
    await attachOutput(sharedServer, info);
  },
});

async function withServer(
  data: string,
  env: Record<string, string>,
  use: (server: Server) => Promise<void>,
): Promise<void> {
  await mkdir(data, { recursive: true });
  await takeCalibrations(data);
  const server = await spawnServer(data, env);
  const { child } = server;
  await use(server);
  child.kill('SIGTERM');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  await keepCalibrations(data);
}

async function attachOutput(server: Server, info: TestInfo): Promise<void> {
  if (info.status === info.expectedStatus) return;
  await info.attach('output of the server', { body: server.output(), contentType: 'text/plain' });
}

/** The page shows an engine with a model. */
export const ready = (page: Page): Promise<void> =>
  expect(page.getByTestId('meter-types')).toContainText('turbo', { timeout: 60_000 });
