/** The hub through the headless server: the page asks the server, and the server alone asks the hub. */
import path from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { expect } from '@playwright/test';
import { startHub } from '../../fixtures/hub/server';
import { ask } from '../chat';
import { hubModels, tinyRepo } from '../hubModels';
import { test as base } from '../serve';

const test = base.extend({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the needed fixtures off the pattern
  serverEnv: async ({}, use, info) => {
    const hub = await startHub(hubModels(path.join(info.outputDir, 'of-the-hub')));
    await use({ HF_ENDPOINT: hub.url });
    await hub.close();
  },
});

test('a model is found, downloaded and chatted with', async ({ browserPage: page, serverEnv }) => {
  const strangers: string[] = [];
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(page.url()).origin) strangers.push(request.url());
  });
  await expect(page.getByTestId('meter-types')).toContainText('turbo', { timeout: 60_000 });
  await page.keyboard.press('Control+o');
  await page.getByTestId('hub-search').fill('tiny');
  await page.locator(`[data-testid="hub-item"][data-repo="${tinyRepo}"]`).click();
  await expect(page.getByTestId('hub-longest')).toBeVisible({ timeout: 60_000 });
  await expect(page.getByTestId('hub-fit')).toHaveAttribute('data-grade', 'full');
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id }) => id)).toEqual([]);

  await page.getByTestId('hub-download').click();
  await page.getByTestId('models-tab-downloads').click();
  await page.getByTestId('download-chat').click({ timeout: 60_000 });
  await expect(page.getByTestId('models-view')).toBeHidden();
  expect((await ask(page, 'What is a compiler?')).trim()).not.toBe('');
  expect(strangers).toEqual([]);

  // no keyring without a desktop: only the environment gives a token
  await page.getByTestId('settings-open').click();
  await expect(page.getByTestId('hub-token-state')).toContainText('HF_TOKEN');
  await expect(page.getByTestId('hub-token')).toHaveCount(0);
  await expect(page.getByTestId('settings-panel')).toContainText(serverEnv.HF_ENDPOINT ?? 'no endpoint');
});
