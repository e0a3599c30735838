/** A desktop that prefers German: the window and the menu of the system speak it without a setting, and English by one. */
import { expect } from '@playwright/test';
import { test } from '../app';

test('the window and the menu follow the system, and the setting over it', async ({ launch }) => {
  const { app, page } = await launch({ env: { LANGUAGE: 'fr:de', LC_ALL: 'fr_FR.UTF-8' } });
  const menu = () =>
    app.evaluate(({ Menu }) => (Menu.getApplicationMenu()?.items ?? []).map(({ label }) => label).join(' '));
  // French comes first, which the app does not speak
  await expect(page.locator('html')).toHaveAttribute('lang', 'de');
  expect(await menu()).toBe('Datei Bearbeiten Chat Ansicht Fenster Hilfe');

  await page.getByTestId('settings-open').click();
  await page.getByTestId('settings-tab-chat').click();
  await page.getByTestId('settings-language').getByText('English').click();
  await expect(page.locator('html')).toHaveAttribute('lang', 'en');
  await expect.poll(menu).toBe('File Edit Chat View Window Help');
});
