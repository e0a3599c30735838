/** The way through screens that more than one test looks at. */
import { expect, type Page } from '@playwright/test';

type Look = (screen: string) => Promise<void>;

/** The parts of the open settings beside the first. */
export async function lookAtOtherSettings(page: Page, look: Look): Promise<void> {
  for (const part of ['chat', 'advanced']) {
    await page.getByTestId(`settings-tab-${part}`).click();
    await expect(page.getByTestId(`settings-tab-${part}`)).toHaveAttribute('data-state', 'active');
    await look(`settings of ${part}`);
  }
}

/** The palette, the list of shortcuts and the shelf, which is left open. */
export async function lookAtPaletteAndShelf(page: Page, look: Look): Promise<void> {
  for (const [name, keys] of [
    ['palette', 'Control+Shift+P'],
    ['shortcuts', 'Control+/'],
  ] as const) {
    await page.keyboard.press(keys);
    await expect(page.getByTestId(name)).toBeVisible();
    await look(name);
    await page.keyboard.press('Escape');
    await expect(page.getByTestId(name)).toBeHidden();
  }
  await page.getByTestId('shelf-open').click();
  await expect(page.getByTestId('shelf-view')).toBeVisible();
  await look('shelf');
}
