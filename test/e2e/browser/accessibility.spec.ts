/** axe on the main screens, dark and light: no violation at all. */
import { expect, type Page } from '@playwright/test';
import { ask } from '../chat';
import { axe } from '../moments';
import { ready, test } from '../serve';
import { lookAtOtherSettings, lookAtPaletteAndShelf } from './screens';

for (const colorScheme of ['light', 'dark'] as const) {
  test(`main screens, ${colorScheme}`, async ({ browserPage: page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await ready(page);
    const found: Record<string, unknown> = {};
    found['first start'] = await violations(page);

    await ask(page, 'What is a compiler?');
    found.chat = await violations(page);

    if (colorScheme === 'light') await smallScreens(page, found);

    await page.getByTestId('settings-open').click();
    await settingsAreFilled(page);
    await expect(page.getByTestId('kept-total')).toHaveText(/^No caches are kept/);
    found['settings of memory'] = await violations(page);
    const look = async (screen: string) => {
      found[screen] = await violations(page);
    };
    await lookAtOtherSettings(page, look);
    await page.getByTestId('settings-tab-memory').click();
    await page.keyboard.press('Escape');

    await page.getByTestId('model-picker').click();
    await expect(page.getByTestId('model-item').first()).toBeVisible();
    found.models = await violations(page);

    await page.keyboard.press('Escape');
    await lookAtPaletteAndShelf(page, look);
    await page.keyboard.press('Escape');
    await expect(page.getByTestId('shelf-view')).toBeHidden();
    await page.getByTestId('all-chats-menu').click();
    await page.getByRole('menuitem', { name: 'About Concertina' }).click();
    await expect(page.getByTestId('about')).toBeVisible();
    found.about = await violations(page);

    const small = colorScheme === 'light' ? ['folder', 'export', 'preset', 'trash'] : [];
    const settings = ['memory', 'chat', 'advanced'].map((part) => `settings of ${part}`);
    const screens = ['first start', 'chat', ...settings, 'models', 'palette', 'shortcuts', 'shelf', 'about', ...small];
    expect(found).toEqual(Object.fromEntries(screens.map((screen) => [screen, []])));
  });
}

/** Their colors are those of the main screens: one theme shows as much as both. */
async function smallScreens(page: Page, found: Record<string, unknown>): Promise<void> {
  const chosen = async (action: RegExp) => {
    const chat = page.getByTestId('chat-item').first();
    await chat.getByRole('button', { name: /^Actions/ }).click();
    await page.getByRole('menuitem', { name: action }).click();
  };
  await chosen(/^Move to a folder/);
  await expect(page.getByRole('dialog')).toBeVisible();
  found.folder = await violations(page);
  await page.keyboard.press('Escape');
  await chosen(/^Export/);
  await expect(page.getByTestId('export-dialog')).toBeVisible();
  found.export = await violations(page);
  await page.keyboard.press('Escape');

  await page.getByTestId('settings-open').click();
  await page.getByTestId('settings-tab-chat').click();
  await page.getByTestId('preset-new').click();
  await expect(page.getByTestId('preset-name')).toBeVisible();
  found.preset = await violations(page);
  await page.keyboard.press('Escape');
  await page.getByTestId('settings-tab-memory').click();
  await page.keyboard.press('Escape');

  await page.getByTestId('trash-open').click();
  await expect(page.getByTestId('trash')).toBeVisible();
  found.trash = await violations(page);
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
  const { violations: list, passes } = await axe(page);
  // an empty page would have no violations either
  expect(passes.length).toBeGreaterThan(15);
  return list.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}
