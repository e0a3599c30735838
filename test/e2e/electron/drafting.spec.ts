/** A second model drafts: chosen in the settings with what it takes, shown in the meter, and refused where it cannot. */
import { expect } from '@playwright/test';
import { addModel, test, tinyModel } from '../app';
import { ask, call, greedy, ready } from '../chat';

test('a person chooses a model that drafts, and one of another vocabulary is refused', async ({ launch }) => {
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
});
