/**
 * electron: the app in its window (the test runtime, under Xvfb); browser: headless mode in Chromium; dist: the packaged app;
 * vulkan: the window with a model on a GPU;
 * installed: the one that `npm run test:packages` installed; source: the one that `npm run test:source` built; screenshots: not a
 * test, takes pictures (`npm run screenshots`); meter-cost and chat-cost: not tests either, they measure (`npm run bench:meter`,
 * `npm run bench:chat`); soak: many hours of use, accelerated (`npm run soak`).
 */
import { defineConfig } from '@playwright/test';

export default defineConfig({
  testDir: 'test/e2e',
  outputDir: 'build/test-results/e2e',
  globalSetup: './test/e2e/global-setup.ts',
  reporter: [['list'], ['json', { outputFile: 'build/test-results/e2e.json' }]],
  // much of a test is waiting; whole files, so that the tests of one file follow each other as they are written
  workers: 2,
  timeout: 180_000,
  expect: { timeout: 40_000 },
  forbidOnly: Boolean(process.env.CI),
  projects: [
    // first: one file, beside which the other worker would have nothing to do at the end
    { name: 'dist', testMatch: 'dist.spec.ts' },
    { name: 'electron', testMatch: 'electron/*.spec.ts' },
    { name: 'browser', testMatch: 'browser/*.spec.ts' },
    // of `npm test -- vulkan`
    { name: 'vulkan', testDir: 'test/vulkan', testMatch: 'window.spec.ts' },
    { name: 'installed', testMatch: 'installed.spec.ts' },
    { name: 'source', testMatch: 'source.spec.ts' },
    { name: 'screenshots', testMatch: 'screenshots.spec.ts' },
    { name: 'meter-cost', testMatch: 'meter-cost.spec.ts' },
    { name: 'chat-cost', testMatch: 'chat-cost.spec.ts' },
    { name: 'soak', testMatch: 'soak.spec.ts' },
  ],
});
