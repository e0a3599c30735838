/** axe on the main screens, dark and light: no violation at all. */
import { AxeBuilder } from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';
import { ask } from '../chat';
import { test } from '../serve';

for (const colorScheme of ['light', 'dark'] as const) {
  test(`main screens, ${colorScheme}`, async ({ browserPage: page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await expect(page.getByTestId('meter-types')).toContainText('turbo', { timeout: 60_000 });
    const found: Record<string, unknown> = {};
    found['first start'] = await violations(page);

    await ask(page, 'What is a compiler?');
    found.chat = await violations(page);

    await page.getByTestId('settings-open').click();
    await expect(page.getByTestId('settings-context')).toBeVisible();
    found.settings = await violations(page);
    await page.keyboard.press('Escape');

    await page.getByTestId('model-picker').click();
    await expect(page.getByTestId('model-item').first()).toBeVisible();
    found.models = await violations(page);

    expect(found).toEqual({ 'first start': [], chat: [], settings: [], models: [] });
  });
}

async function violations(page: Page): Promise<string[]> {
  // dimmed for the moment in which the tokens are counted
  await expect(page.locator('[data-stale="true"]')).toHaveCount(0);
  const { violations: list, passes } = await new AxeBuilder({ page }).analyze();
  // an empty page would have no violations either
  expect(passes.length).toBeGreaterThan(15);
  return list.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}
