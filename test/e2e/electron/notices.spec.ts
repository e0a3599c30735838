/** Whose work is in the app can be read in it. */
import { expect } from '@playwright/test';
import { test } from '../app';
import { ready } from '../chat';

test('the Help menu shows the third-party notices, and the diagnostics lead to them', async ({ launch }) => {
  const { app, page } = await launch();
  await ready(page);
  const text = page.getByTestId('third-party-text');
  await app.evaluate(({ Menu, BrowserWindow }) => {
    const help = Menu.getApplicationMenu()?.items.find(({ role }) => role === 'help');
    const item = help?.submenu?.items.find(({ label }) => label.startsWith('Third-party notices'));
    item?.click(undefined, BrowserWindow.getAllWindows()[0], undefined);
  });
  await expect(text).toContainText('llama.cpp and ggml');
  await expect(text).toContainText('SIL OPEN FONT LICENSE');
  await page.keyboard.press('Escape');
  await expect(text).toBeHidden();

  await page.keyboard.press('Control+d');
  await page.getByTestId('third-party-open').click();
  await expect(text).toContainText('Permission is hereby granted');
  await expect(page.getByTestId('diagnostics')).toBeHidden();
});
