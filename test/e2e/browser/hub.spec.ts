/** The hub through the headless server: the page asks the server, and the server alone asks the hub. */
import path from 'node:path';
import { expect } from '@playwright/test';
import { startHub } from '@/test/fixtures/hub/server';
import { tinyModel } from '../app';
import { ask } from '../chat';
import { hubModels, tinyFile, tinyRepo } from '../hubModels';
import { axe } from '../moments';
import { test as base, ready } from '../serve';

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
  await ready(page);
  await page.keyboard.press('Control+o');
  await page.getByTestId('hub-search').fill('tiny');
  await page.locator(`[data-testid="hub-item"][data-repo="${tinyRepo}"]`).click();
  await expect(page.getByTestId('hub-longest')).toBeVisible({ timeout: 60_000 });
  await expect(page.getByTestId('hub-fit')).toHaveAttribute('data-grade', 'full');
  const { violations } = await axe(page);
  expect(violations.map(({ id }) => id)).toEqual([]);

  await page.getByTestId('hub-download').click();
  await page.getByTestId('models-tab-downloads').click();
  await page.getByTestId('download-chat').click({ timeout: 60_000 });
  await expect(page.getByTestId('models-view')).toBeHidden();
  expect((await ask(page, 'What is a compiler?')).trim()).not.toBe('');
  expect(strangers).toEqual([]);

  // deleted from its row, and back before its file is gone
  await page.keyboard.press('Control+o');
  await page.getByTestId('models-tab-here').click();
  const rows = page.getByTestId('models-here').getByTestId('model-item');
  await rows.filter({ hasText: 'built in' }).getByRole('button').first().click();
  await expect(rows.filter({ hasText: 'built in' })).toHaveAttribute('data-loaded', 'true', { timeout: 60_000 });
  await rows.filter({ hasText: tinyFile }).hover();
  await rows.filter({ hasText: tinyFile }).getByTestId('model-delete').click();
  await expect(page.getByTestId('confirm')).toContainText('10 seconds');
  await page.getByTestId('confirm-action').click();
  await expect(rows).toHaveCount(1);
  await page.getByTestId('model-undo').click();
  await expect(rows).toHaveCount(2);
  await expect(page.getByTestId('model-deleted')).toHaveCount(0);
  // once more, for a look that may take longer than the row stays
  await rows.filter({ hasText: tinyFile }).hover();
  await rows.filter({ hasText: tinyFile }).getByTestId('model-delete').click();
  await page.getByTestId('confirm-action').click();
  await expect(rows).toHaveCount(1);
  const { violations: ofDeleted } = await axe(page);
  expect(ofDeleted.map(({ id }) => id)).toEqual([]);
  await page.keyboard.press('Escape');

  // no keyring without a desktop: only the environment gives a token
  await page.getByTestId('settings-open').click();
  await page.getByTestId('settings-tab-advanced').click();
  await expect(page.getByTestId('hub-token-state')).toContainText('HF_TOKEN');
  await expect(page.getByTestId('hub-token')).toHaveCount(0);
  await expect(page.getByTestId('settings-panel')).toContainText(serverEnv.HF_ENDPOINT ?? 'no endpoint');
});

const lyingRepo = 'somebody/lying-GGUF';
const lying = base.extend({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the needed fixtures off the pattern
  serverEnv: async ({}, use) => {
    const files = { 'lying-Q4_0.gguf': tinyModel, 'lying-Q8_0.gguf': tinyModel };
    const hub = await startHub([{ id: lyingRepo, files }]);
    hub.faults.lies = { 'lying-Q4_0.gguf': { size: -5 } };
    await use({ HF_ENDPOINT: hub.url });
    await hub.close();
  },
});

lying(
  'a file whose size cannot be is named with the reason, and the others are listed',
  async ({ browserPage: page }) => {
    await ready(page);
    await page.keyboard.press('Control+o');
    await page.getByTestId('hub-search').fill('lying');
    await page.locator(`[data-testid="hub-item"][data-repo="${lyingRepo}"]`).click();
    await expect(page.getByTestId('hub-refused')).toContainText('lying-Q4_0.gguf: The hub gives its size as -5.');
    await expect(page.getByTestId('hub-file')).toHaveCount(1);
  },
);
