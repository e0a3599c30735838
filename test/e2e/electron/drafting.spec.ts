/**
 * What is chosen for a model in the settings, with what it takes, and shown in the meter: a second model that drafts, refused where it
 * cannot; an adapter with its scale.
 */
import { expect } from '@playwright/test';
import { writeAdapter } from '@/test/engine/adapter';
import { smallModel } from '../../models.mjs';
import { addModel, test, tinyModel } from '../app';
import { ask, call, greedy, ready } from '../chat';

test('a person chooses a model that drafts, one of another vocabulary is refused, and an adapter for the model', async ({
  launch,
  dataDir,
}) => {
  const { app, page } = await launch({ settings: { sampling: { ...greedy, maxTokens: 24 } } });
  await ready(page);
  const [small] = await call(page, 'models.list', undefined);
  await addModel(app, page, tinyModel);
  await expect.poll(async () => (await call(page, 'models.list', undefined)).length).toBe(2);
  const tiny = (await call(page, 'models.list', undefined)).find(({ id }) => id !== small?.id);
  await page.keyboard.press('Escape');

  await page.getByTestId('settings-open').click();
  await page.getByTestId('settings-tab-advanced').click();
  await page.getByText('Model', { exact: true }).click();
  const choice = page.getByTestId('settings-draft-model');
  await choice.selectOption(tiny?.id ?? '');
  await expect(page.getByText('another vocabulary')).toBeVisible();
  await choice.selectOption(small?.id ?? '');
  const bytes = page.getByTestId('draft-bytes');
  await expect(bytes).toBeVisible();
  const planned = Number(await bytes.getAttribute('data-bytes'));
  await page.getByTestId('settings-apply').click();
  await expect.poll(async () => (await ready(page)).context?.speculation.effective).toBe('draft');
  const { memory } = await ready(page);
  const { weights = 0, kv = 0, compute = 0 } = memory?.draft ?? {};
  expect(weights + kv + compute).toBe(planned);
  expect(await ask(page, 'What is a compiler?')).not.toBe('');

  await page.getByTestId('meter-memory').click();
  await expect(page.getByTestId('meter-draft')).toHaveAttribute('data-bytes', String(planned));
  await page.keyboard.press('Escape');

  await addModel(app, page, writeAdapter(dataDir, { base: smallModel, name: 'tuned-lora.gguf' }));
  const listed = page.getByTestId('model-item').filter({ hasText: 'Tiny tuned' });
  await expect(listed).toContainText('LoRA adapter');
  await listed.getByTestId('adapter-settings').click();
  await page.getByTestId('settings-add-adapter').selectOption({ index: 1 });
  const scale = page.getByTestId('settings-adapter-scale');
  await scale.fill('0.5');
  await scale.press('Enter');
  await expect(page.getByTestId('settings-changes')).toContainText('none → tuned-lora.gguf × 0.5');
  // what the cache holds was computed without it
  await expect(page.getByTestId('apply-cost')).toHaveAttribute('data-kind', 'again');
  await page.getByTestId('settings-apply').click();
  await expect
    .poll(async () => (await ready(page)).context?.adapters)
    .toMatchObject([{ file: 'tuned-lora.gguf', scale: 0.5 }]);
  await page.getByTestId('meter-engine').click();
  await expect(page.getByTestId('details-adapter')).toContainText('tuned-lora.gguf × 0.5');
});
