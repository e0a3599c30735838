/** Steps over models of other apps: added where they lie, shown once, with settings of their own, and to the trash. */
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { type ElectronApplication, expect, type Page } from '@playwright/test';
import { bias, dense, q4_0, writeShape } from '../engine/shapeParts';
import { lmStudioTree, ollamaTree } from '../fixtures/modelTrees';
import { tinyModel } from './app';
import { ask, call, ready } from './chat';
import { axe } from './moments';

const ofLmStudio = 'tiny-q8_0.gguf';

/** A home folder in which LM Studio and Ollama keep the same model. One byte more than the built-in one, which is another model so. */
export async function writeOtherApps(home: string): Promise<void> {
  const content = Buffer.concat([await readFile(tinyModel), Buffer.alloc(1)]);
  await lmStudioTree(path.join(home, '.lmstudio', 'models'), content);
  await ollamaTree(path.join(home, '.ollama', 'models'), 'registry.ollama.ai/library/tiny/latest', content);
}

/** For pictures: LM Studio has a model of some size besides, whose K projection has a bias. */
export async function writeHome(home: string): Promise<void> {
  await writeOtherApps(home);
  const folder = path.join(home, '.lmstudio', 'models', 'Qwen', 'Qwen2.5-14B-Instruct-GGUF');
  await mkdir(folder, { recursive: true });
  const sizes = { layers: 48, embd: 5120, heads: 40, headsKv: 8, headDim: 128, ff: 13_824, vocab: 152_064, type: q4_0 };
  const biases = (layer: string) => [
    bias(`${layer}.attn_q`, 5120),
    ...['k', 'v'].map((side) => bias(`${layer}.attn_${side}`, 1024)),
  ];
  const shape = dense('Qwen2.5-14B-Instruct-Q4_0', 'qwen2', sizes, biases);
  const general = { 'general.name': 'Qwen2.5 14B Instruct', 'general.license': 'apache-2.0', 'general.file_type': 2 };
  writeShape(folder, shape, general);
}

const row = (page: Page) =>
  page
    .getByTestId('models-here')
    .getByTestId('model-item')
    .filter({ hasText: `${ofLmStudio} in ~/.lmstudio` });

export async function openHere(page: Page): Promise<void> {
  await page.keyboard.press('Control+o');
  await page.getByTestId('models-tab-here').click();
}

/** Nothing is read before the person agrees; then both files are one entry. */
export async function addOtherApps(page: Page): Promise<void> {
  await openHere(page);
  await expect(page.getByTestId('models-offer')).toHaveText(['Add those of LM Studio', 'Add those of Ollama']);
  expect((await call(page, 'models.list', undefined)).some(({ source }) => source === 'folder')).toBe(false);
  await page.getByTestId('models-offer').first().click();
  await expect(page.getByTestId('models-offer')).toHaveText(['Add those of Ollama']);
  await page.getByTestId('models-offer').click();
  await expect(page.getByTestId('models-folder')).toHaveCount(2);
  await expect(row(page)).toContainText('and in 1 more');
  await expect(page.getByTestId('models-here')).toContainText('its download is not complete');
}

/** Set in the panel, kept over the choice of another model. */
export async function ownSettings(page: Page): Promise<void> {
  await row(page).getByRole('button').first().click();
  await expect(row(page)).toHaveAttribute('data-loaded', 'true', { timeout: 60_000 });
  const { modelId } = await ready(page);
  await page.keyboard.press('Escape');
  expect((await ask(page, 'What is a lamp?')).trim()).not.toBe('');
  await page.getByTestId('settings-open').click();
  await page.getByTestId('settings-tab-memory').click();
  await page.getByTestId('settings-scope').getByText('This model').click();
  await expect(page.getByTestId('settings-scope')).toHaveAttribute('data-own', 'true');
  await page.getByTestId('settings-context').fill('2048');
  await page.getByTestId('settings-context').blur();
  await page.getByTestId('settings-apply').click();
  const length = async () => (await ready(page)).context?.nCtxAsked;
  await expect.poll(length, { timeout: 60_000 }).toBe(2048);
  const list = await call(page, 'models.list', undefined);
  const embedded = list.find(({ source }) => source === 'embedded')?.id ?? '';
  await call(page, 'models.select', { modelId: embedded });
  // Auto, as for all models: what the built-in one was trained for
  expect(await length()).toBe(32_768);
  await expect(page.getByTestId('settings-scope')).toHaveAttribute('data-own', 'false');
  await call(page, 'models.select', { modelId: modelId ?? '' });
  expect(await length()).toBe(2048);
  await call(page, 'models.select', { modelId: embedded });
  await page.getByTestId('settings-open').click();
}

/** The dialog says what the model is; one of its two places goes to the trash, with a note that Ollama lists it. */
export async function detailsAndTrash(app: ElectronApplication, page: Page): Promise<void> {
  await app.evaluate(({ shell }) => {
    // the machine of the tests has no desktop with a trash
    shell.trashItem = async (file) => process.mainModule?.require('node:fs').rmSync(file);
  });
  await openHere(page);
  await row(page).getByTestId('model-details').click();
  await expect(page.getByTestId('model-facts')).toContainText('Trained context');
  await expect(page.getByTestId('model-facts')).toContainText(/SHA-256[0-9a-f]{64}/);
  await expect(page.getByTestId('model-types')).toContainText('turbo4');
  const { violations } = await axe(page);
  expect(violations.map(({ id }) => id)).toEqual([]);
  await page.getByTestId('model-trash').nth(1).click();
  await expect(page.getByTestId('confirm')).toContainText('Ollama keeps it there and will miss it.');
  await page.getByTestId('confirm-action').click();
  await expect(page.getByTestId('model-place')).toHaveCount(1);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
}
