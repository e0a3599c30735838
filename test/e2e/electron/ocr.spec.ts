/** Scanned pages beside a question, in the real window: what is told while OCR reads, the way out, and what is marked. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from '@playwright/test';
import { makePdf } from '@/test/fixtures/documents/pdf';
import { pageWith, scanned } from '@/test/fixtures/documents/scans';
import { attachFile, chooseFiles, test } from '../app';
import { call } from '../chat';
import { axe } from '../moments';

const line = 'The keeper walked to the tower, lit the lamp, and wrote the hour down in his book.';

test('a scanned document shows its progress, can be canceled, and says what came by OCR', async ({
  launch,
  dataDir,
}) => {
  test.setTimeout(180_000);
  const [long, short] = await scanned([{ lines: Array.from({ length: 48 }, () => line) }, { lines: [line] }], 1);
  if (!long || !short) throw new Error('no pages');
  const book = path.join(dataDir, 'book.pdf');
  // minutes of work: it is still being read whenever the test looks
  const dense = pageWith(long);
  await writeFile(book, makePdf(Array.from({ length: 90 }, () => dense)));
  const letter = path.join(dataDir, 'letter.pdf');
  await writeFile(letter, makePdf([pageWith(short), { lines: ['A page with text.'] }]));
  const { app, page } = await launch();
  const card = page.getByTestId('document-card');

  await chooseFiles(app, book);
  await page.getByTestId('attach').click();
  await expect(card).toContainText(/Reading page \d+ of 90 by OCR/, { timeout: 60_000 });
  expect((await axe(page)).violations).toEqual([]);
  await page.getByRole('button', { name: 'Cancel reading book.pdf' }).click();
  await expect(card).toHaveCount(0);
  await expect
    .poll(async () => (await call(page, 'documents.jobs', undefined)).map(({ state }) => state))
    .toEqual(['cancelled']);

  await attachFile({ app, page }, letter);
  await expect(card.getByTestId('card-notice')).toContainText('Text of 1 of 2 pages read by OCR; it can hold errors.');
  await card.getByRole('button', { name: 'letter.pdf', exact: true }).click();
  const text = page.getByTestId('document-text');
  await expect(text).toContainText('wrote the hour down in his book.');
  await expect(text.getByRole('heading', { name: 'Page 1' })).toContainText('OCR');
  await expect(text.getByRole('heading', { name: 'Page 2' })).not.toContainText('OCR');
  expect((await axe(page)).violations).toEqual([]);
});
