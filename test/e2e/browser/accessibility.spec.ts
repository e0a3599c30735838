/** axe on the main screens, light and dark: no violation at all. */
import { expect, type Page } from '@playwright/test';
import { ask } from '../chat';
import { axeInBoth } from '../moments';
import { ready, test } from '../serve';
import { lookAtOtherSettings, lookAtPaletteAndShelf } from './screens';

test('main screens', async ({ browserPage: page }) => {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await ready(page);
  const found: Record<string, unknown> = {};
  const look = async (screen: string) => {
    found[screen] = await violations(page);
  };
  await look('first start');

  await ask(page, 'What is a compiler?');
  await look('chat');

  await smallScreens(page, look);

  await page.getByTestId('settings-open').click();
  await settingsAreFilled(page);
  await expect(page.getByTestId('kept-total')).toHaveText(/^No caches are kept/);
  await look('settings of memory');
  await lookAtOtherSettings(page, look);
  await page.getByTestId('settings-tab-memory').click();
  await page.keyboard.press('Escape');

  await page.getByTestId('model-picker').click();
  await expect(page.getByTestId('model-item').first()).toBeVisible();
  await look('models');

  await page.keyboard.press('Escape');
  await lookAtPaletteAndShelf(page, look);
  await page.keyboard.press('Escape');
  await expect(page.getByTestId('shelf-view')).toBeHidden();
  await page.getByTestId('all-chats-menu').click();
  await page.getByRole('menuitem', { name: 'About Concertina' }).click();
  await expect(page.getByTestId('about')).toBeVisible();
  await look('about');

  const settings = ['memory', 'chat', 'advanced'].map((part) => `settings of ${part}`);
  const others = ['models', 'palette', 'shortcuts', 'shelf', 'about', 'folder', 'export', 'preset', 'trash'];
  const screens = ['first start', 'chat', ...settings, ...others];
  expect(found).toEqual(Object.fromEntries(screens.map((screen) => [screen, []])));
});

async function smallScreens(page: Page, look: (screen: string) => Promise<void>): Promise<void> {
  const chosen = async (action: RegExp) => {
    const chat = page.getByTestId('chat-item').first();
    await chat.getByRole('button', { name: /^Actions/ }).click();
    await page.getByRole('menuitem', { name: action }).click();
  };
  await chosen(/^Move to a folder/);
  await expect(page.getByRole('dialog')).toBeVisible();
  await look('folder');
  await page.keyboard.press('Escape');
  await chosen(/^Export/);
  await expect(page.getByTestId('export-dialog')).toBeVisible();
  await look('export');
  await page.keyboard.press('Escape');

  await page.getByTestId('settings-open').click();
  await page.getByTestId('settings-tab-chat').click();
  await page.getByTestId('preset-new').click();
  await expect(page.getByTestId('preset-name')).toBeVisible();
  await look('preset');
  await page.keyboard.press('Escape');
  await page.getByTestId('settings-tab-memory').click();
  await page.keyboard.press('Escape');

  await page.getByTestId('trash-open').click();
  await expect(page.getByTestId('trash')).toBeVisible();
  await look('trash');
  await page.getByRole('button', { name: 'Back to the chats' }).click();
}

/** Until the engine has reported what the context needs, its marks are dimmed, and nothing is there that says so. */
async function settingsAreFilled(page: Page): Promise<void> {
  await expect(page.getByTestId('settings-context')).toBeVisible();
  await expect(page.getByTestId('memory-need')).toBeVisible();
}

async function violations(page: Page): Promise<string[]> {
  // dimmed for the moment in which the tokens are counted
  await expect(page.locator('[data-stale="true"]')).toHaveCount(0);
  return axeInBoth(page);
}
