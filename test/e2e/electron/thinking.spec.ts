/** What a person sets about thinking counts in the next answer, and is there after a restart. */
import path from 'node:path';
import { expect } from '@playwright/test';
import { readGguf, thinkingTemplate, writeChanged } from '../../engine/gguf';
import { test, tinyModel } from '../app';
import { answers, answerText, ask, greedy, ready } from '../chat';

test('thinking is limited, switched off, and stays so', async ({ launch, dataDir }) => {
  const model = path.join(dataDir, 'thinker.gguf');
  writeChanged(readGguf(tinyModel), model, { 'tokenizer.chat_template': thinkingTemplate }, true);
  const first = await launch({ model, settings: { sampling: { ...greedy, maxTokens: 24 } } });
  const { page } = first;
  await ready(page);
  await ask(page, 'Tell me a story about an old clock.');
  // it thinks for as long as it may write
  await expect(answers(page).last().getByTestId('thinking')).toBeVisible();
  expect(await answerText(page)).toBe('');

  await page.getByTestId('settings-open').click();
  await page.getByTestId('settings-tab-chat').click();
  await page.getByTestId('settings-thinkingBudget').fill('6');
  await page.getByTestId('settings-thinkingBudget').press('Enter');
  await page.getByRole('button', { name: 'Close the settings' }).click();
  expect(await ask(page, 'Tell me a story about the rain.')).not.toBe('');
  await expect(answers(page).last().getByTestId('thinking')).toBeVisible();

  await page.getByTestId('settings-open').click();
  await page.getByTestId('settings-thinking').getByText('Off').click();
  await page.getByRole('button', { name: 'Close the settings' }).click();
  expect(await ask(page, 'Tell me a story about the sea.')).not.toBe('');
  await expect(answers(page).last().getByTestId('thinking')).toHaveCount(0);
  await first.app.close();

  const again = await launch();
  await ready(again.page);
  await again.page.getByTestId('settings-open').click();
  await again.page.getByTestId('settings-tab-chat').click();
  const thinking = again.page.getByTestId('settings-thinking');
  await expect(thinking.getByRole('radio', { name: 'Off' })).toBeChecked();
});
