/** Pages of documents as pictures in headless mode: the file comes from the browser, and its picture from the server. */
import { writeFile } from 'node:fs/promises';
import { expect } from '@playwright/test';
import { makePdf } from '@/test/fixtures/documents/pdf';
import { axe } from '../moments';
import { ready, test } from '../serve';

test('a page of an uploaded PDF, its marks, and a window as narrow as at 200%', async ({ browserPage: page }, info) => {
  await ready(page);
  const file = info.outputPath('lamps.pdf');
  const lines = ['The keeper lit the lamp.', 'He wrote the hour down.'];
  await writeFile(file, makePdf([{ lines: ['The boat'] }, { lines }]));
  await page.getByTestId('attach-input').setInputFiles(file);
  await expect(page.getByTestId('document-card')).toHaveAttribute('data-state', 'ready');
  await page.getByTestId('document-card').getByRole('button', { name: 'lamps.pdf' }).first().click();
  await page.getByRole('group', { name: 'View' }).getByText('Page', { exact: true }).click();
  const picture = page.getByTestId('page-picture');
  await expect(page.getByTestId('page-label')).toHaveText('Page 1 of 2');
  await expect(picture).toHaveJSProperty('complete', true);
  expect(await picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(300);

  // what is found leads to its page, where the line is marked
  await page.getByTestId('document-search').fill('hour');
  await page.getByTestId('document-hit').click();
  await expect(page.getByTestId('page-label')).toHaveText('Page 2 of 2');
  await expect(page.getByTestId('page-mark')).toHaveCount(1);

  await page.setViewportSize({ width: 640, height: 400 });
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await expect(page.getByTestId('page-mark')).toBeInViewport();
  expect((await axe(page)).violations).toEqual([]);
});

test('text, page and search begin where the person was in the other', async ({ browserPage: page }, info) => {
  await ready(page);
  const file = info.outputPath('lamps.pdf');
  const lines = Array.from(
    { length: 40 },
    (_, line) => `Line ${line} of the keeper, who lit the lamp and wrote the hour down.`,
  );
  await writeFile(file, makePdf(Array.from({ length: 12 }, () => ({ lines }))));
  await page.getByTestId('attach-input').setInputFiles(file);
  await expect(page.getByTestId('document-card')).toHaveAttribute('data-state', 'ready');
  await page.getByTestId('document-card').getByRole('button', { name: 'lamps.pdf' }).first().click();
  const view = (name: string) => page.getByRole('group', { name: 'View' }).getByText(name, { exact: true });
  const text = page.getByTestId('document-text');
  const label = page.getByTestId('page-label');

  await text.focus();
  // a key that scrolls nothing here: the person has taken over from what was shown to them
  await page.keyboard.press('ArrowUp');
  // its pages are measured as they come into view, which makes it longer
  const last = text.locator('[data-index="11"]');
  await expect(async () => {
    await text.evaluate((area) => area.scrollTo(0, area.scrollHeight));
    await expect(last).toBeInViewport({ timeout: 500 });
  }).toPass();
  await view('Page').click();
  await expect(label).toHaveText(/^Page 1[12] of 12$/);
  await page.getByRole('button', { name: 'Previous page' }).click();
  await page.getByRole('button', { name: 'Previous page' }).click();
  const shown = (await label.textContent())?.replace(' of 12', '') ?? '';
  expect(shown).toMatch(/^Page (9|10)$/);
  await view('Text').click();
  await expect(text.getByRole('heading', { name: shown })).toBeInViewport();
  await page.getByTestId('document-search').fill('keeper');
  await expect(page.getByTestId('document-hit').first()).toBeVisible();
  await page.getByTestId('document-search').fill('');
  await expect(text.getByRole('heading', { name: shown })).toBeInViewport();
});
