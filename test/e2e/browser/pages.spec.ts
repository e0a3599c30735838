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
