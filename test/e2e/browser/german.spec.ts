/** The window in German, which a German browser gets by itself, and the window mirrored. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import { untranslatedOn } from '@/test/fixtures/untranslatedOnScreen';
import { ask } from '../chat';
import { axe } from '../moments';
import { ready, test } from '../serve';
import { lookAtOtherSettings, lookAtPaletteAndShelf } from './screens';

test.use({ locale: 'de-DE' });

/** Pictures for whoever changes the window: CONCERTINA_PICTURES=FOLDER. */
const pictures = process.env.CONCERTINA_PICTURES;

async function picture(page: Page, name: string): Promise<void> {
  if (!pictures) return;
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const [width, height] of [
      [1280, 800],
      [900, 600],
    ] as const) {
      await page.setViewportSize({ width, height });
      await page.screenshot({ path: path.join(pictures, `${name}-${colorScheme}-${width}.png`) });
    }
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 1280, height: 800 });
}

test('no text of the main screens is English, and axe finds nothing', async ({ browserPage: page }, info) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await ready(page);
  await expect(page.locator('html')).toHaveAttribute('lang', 'de');
  await expect(page.getByText('Text einfügen. Frage stellen.')).toBeVisible();
  const found: Record<string, unknown> = {};
  const look = async (name: string) => {
    await expect(page.locator('[data-stale="true"]')).toHaveCount(0);
    const { violations } = await axe(page);
    found[name] = { english: await untranslatedOn(page), axe: violations.map(({ id }) => id) };
    await picture(page, `german-${name.replaceAll(' ', '-')}`);
  };
  await look('first screen');

  const file = info.outputPath('lamps.txt');
  await writeFile(file, 'The keeper lit the lamp.\n'.repeat(30));
  await page.getByTestId('attach-input').setInputFiles(file);
  await expect(page.getByTestId('document-card')).toHaveAttribute('data-state', 'ready');
  await look('attached document');
  await ask(page, 'Who lit the lamp?');
  await look('chat');
  await page.getByTestId('answer-stats').click();
  await expect(page.getByTestId('answer-figures')).toBeVisible();
  await look('figures');
  await page.keyboard.press('Escape');

  await page.getByTestId('sent-document').first().click();
  await page.getByTestId('document-search').waitFor();
  await look('document');
  await page.getByTestId('document-close').click();

  await page.getByTestId('settings-open').click();
  await expect(page.getByTestId('memory-need')).toBeVisible();
  await look('settings of memory');
  await lookAtOtherSettings(page, look);
  await page.keyboard.press('Escape');
  await lookAtPaletteAndShelf(page, look);

  expect(found).toEqual(Object.fromEntries(Object.keys(found).map((name) => [name, { english: [], axe: [] }])));

  // the setting has the last word, at once
  await page.keyboard.press('Escape');
  await page.getByTestId('settings-open').click();
  await page.getByTestId('settings-tab-chat').click();
  await page.getByTestId('settings-language').getByText('English').click();
  await expect(page.locator('html')).toHaveAttribute('lang', 'en');
  await expect(page.getByTestId('settings-language')).toContainText('Language');
  // and the search for English texts finds them
  expect(await untranslatedOn(page)).toContain('Language');
});

test('the window is mirrored where the language is written from right to left', async ({ browserPage: page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await ready(page);
  await page.evaluate(() => {
    document.documentElement.dir = 'rtl';
  });
  const middle = async (testId: string) => {
    const box = await page.getByTestId(testId).first().boundingBox();
    return box ? box.x + box.width / 2 : Number.NaN;
  };
  // the chats begin on the right, and the button that sends ends the line on the left
  expect(await middle('chat-search')).toBeGreaterThan(1280 - 300);
  expect(await middle('send')).toBeLessThan(640);
  await picture(page, 'mirrored-first');
  await ask(page, 'What is a lamp?');
  await page.getByTestId('settings-open').click();
  await expect(page.getByTestId('memory-need')).toBeVisible();
  expect(await middle('memory-need')).toBeLessThan(400);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(wide).toBeLessThanOrEqual(0);
  await picture(page, 'mirrored-settings');
});
