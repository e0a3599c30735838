/** From the first screen to a chat with a model of one's own, by one click; and what is said where the hub is out of reach. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import { catalogEntrySchema } from '@/electron/contract/hub';
import { Gate } from '@/test/fixtures/gate';
import type { RepoSpec } from '@/test/fixtures/hub/repos';
import { startHub } from '@/test/fixtures/hub/server';
import { resizeWindow, root, test, tinyModel } from '../app';
import { ask, call, greedy, ready } from '../chat';
import { axe, axeInBoth } from '../moments';

const megabyte = 1024 ** 2;
const strip = (page: Page) => page.getByTestId('first-model');
const violations = async (page: Page) => (await axe(page)).violations.map(({ id }) => id);

/** Every model that the first screen may offer, whatever the memory of this machine: each is the tiny one. */
async function firstModels(): Promise<RepoSpec[]> {
  const { models } = JSON.parse(await readFile(path.join(root, 'assets', 'catalog', 'models.json'), 'utf8'));
  const entries = catalogEntrySchema.array().parse(models);
  return entries
    .filter(({ first }) => first)
    .map(({ repo, file, quant }) => ({ id: repo, files: { [file ?? `model-${quant}.gguf`]: tinyModel } }));
}

test('one click downloads the model that fits, with pause and progress in place, and ends in a chat', async ({
  launch,
}) => {
  const hub = await startHub(await firstModels());
  const { app, page } = await launch({ settings: { sampling: greedy }, env: { HF_ENDPOINT: hub.url } });
  await ready(page);
  await resizeWindow({ app, page }, 900, 600);
  const get = page.getByTestId('first-model-get');
  await expect(get).toBeInViewport({ ratio: 1 });
  await expect(page.getByTestId('first-model-facts')).toContainText('Takes at least');
  expect(await axeInBoth(page)).toEqual([]);
  expect(hub.seen).toEqual([]);

  const gate = new Gate().hold();
  hub.faults.hold = { at: 4 * megabyte, gate };
  await get.focus();
  await page.keyboard.press('Enter');
  const row = strip(page).getByTestId('download');
  await expect(row).toHaveAttribute('data-state', 'active', { timeout: 60_000 });
  await gate.reached();
  expect(await violations(page)).toEqual([]);
  await row.getByTestId('download-pause').click();
  await expect(row).toHaveAttribute('data-state', 'paused');
  hub.faults.hold = null;
  gate.open();
  await row.getByTestId('download-resume').click();

  await expect(strip(page)).toHaveCount(0, { timeout: 60_000 });
  await expect
    .poll(async () => {
      const [models, { modelId, state }] = await Promise.all([
        call(page, 'models.list', undefined),
        call(page, 'engine.status', undefined),
      ]);
      return [models.find(({ id }) => id === modelId)?.source, state];
    })
    .toEqual(['downloaded', 'ready']);
  expect((await ask(page, 'What is a compiler?')).trim()).not.toBe('');
  await page.getByTestId('new-chat').click();
  await expect(page.getByRole('region', { name: 'New chat' })).toBeVisible();
  await expect(strip(page)).toHaveCount(0);
  await hub.close();
});

test('where the hub cannot be reached, the strip says what works without it', async ({ launch }) => {
  const hub = await startHub([]);
  await hub.close();
  const { page } = await launch({ env: { HF_ENDPOINT: hub.url } });
  await ready(page);
  await page.getByTestId('first-model-get').click();
  const problem = page.getByTestId('first-model-problem');
  await expect(problem).toContainText('The built-in model works without it', { timeout: 60_000 });
  await expect(page.getByTestId('first-model-get')).toHaveText('Try again');
  expect(await violations(page)).toEqual([]);
  await page.getByTestId('first-model-others').click();
  await expect(page.getByTestId('models-view')).toBeVisible();
});
