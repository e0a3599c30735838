/** First questions about a document, and a summary of one that is longer than the context: by parts, stopped, and going on. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from '@playwright/test';
import { makePdf } from '@/test/fixtures/documents/pdf';
import { attachFile, test } from '../app';
import { answers, begin, call, ended, goOn, greedy, newestChat, ready } from '../chat';
import { axe } from '../moments';

const filler = 'The keeper walked to the tower, lit the lamp, and wrote the hour down in his book.';

function chapters(count: number): Buffer | Uint8Array {
  const pages = Array.from({ length: count }, (_, i) => ({ lines: [`Chapter ${i + 1}`, '', filler, filler, filler] }));
  return makePdf(pages);
}

test('first actions, a summary by parts, its stop, and its way on', async ({ launch, dataDir, gates }) => {
  test.setTimeout(180_000);
  const [short, long] = [path.join(dataDir, 'lamp.pdf'), path.join(dataDir, 'lamps.pdf')];
  await writeFile(short, chapters(3));
  await writeFile(long, chapters(45));
  const sampling = { ...greedy, maxTokens: 48 };
  const { app, page } = await launch({
    settings: { sampling, context: { nCtx: 1024 }, documents: { reserve: 128 } },
    held: { gates },
  });
  await ready(page);
  const attach = async (file: string) => {
    await attachFile({ app, page }, file);
    await expect(page.getByTestId('document-card')).toHaveAttribute('data-tokens', /\d+/);
  };

  await attach(short);
  const composer = page.getByTestId('composer');
  await expect(page.getByTestId('first-actions-note')).toContainText('too small to summarize well');
  await page.getByTestId('first-find').press('Enter');
  await expect(composer).toHaveValue('Find ');
  await expect(composer).toBeFocused();
  await expect(page.getByTestId('first-actions')).toBeHidden();
  await composer.fill('');
  await expect(page.getByTestId('first-summary')).toHaveText('Summarize');
  expect((await axe(page)).violations).toEqual([]);
  await begin(page, () => page.getByTestId('first-summary').press('Enter'));
  await expect(page.getByTestId('message-user')).toContainText('Summarize this document in a few paragraphs.');
  await ended(page);

  await page.getByTestId('new-chat').click();
  await attach(long);
  await expect(page.getByTestId('first-summary')).toHaveText('Summarize part by part');
  // the second part is not begun to be read
  gates.answers.hold(1);
  await begin(page, () => page.getByTestId('first-summary').click());
  await expect(page.getByTestId('message-user')).toContainText('Summarize lamps.pdf, part by part.');
  const live = page.getByTestId('summary-live');
  await gates.answers.reached();
  await expect(page.getByTestId('summary-progress')).toContainText(/Part 2 of \d: Pages \d+-\d+/);
  await expect(live).toHaveAttribute('data-done', '1');
  await page.getByTestId('stop').click();
  await ended(page);
  await expect(page.getByTestId('stop-reason')).toContainText('You stopped this answer.');
  await expect(page.getByTestId('summary-parts')).toContainText('1 of ');
  const first = await page.getByTestId('summary-part').first().locator('.prose-c').textContent();
  expect(first).not.toBe('');

  gates.answers.open();
  await goOn(page, 120_000);
  const chat = await newestChat(page);
  const [question, answer] = chat.messages;
  expect(question).toMatchObject({ summary: { kind: 'summary', parts: [] } });
  const parts = answer?.summary?.parts ?? [];
  expect(parts.length).toBeGreaterThanOrEqual(3);
  expect(parts.every(({ ms }) => ms !== null)).toBe(true);
  expect(answer?.text).not.toBe('');
  await expect(answers(page).last().locator('.prose-c').last()).toBeVisible();
  await expect(page.getByTestId('summary-parts')).toContainText(`Read in ${parts.length} parts`);

  // the next question reads the summary, and nothing of the document
  const budget = await call(page, 'turns.budget', {
    chatId: chat.id,
    leafId: answer?.id ?? null,
    draft: 'Who?',
    attachments: [],
  });
  expect(budget.documents).toBe(0);
  expect(budget.fits).toBe(true);
  expect((await axe(page)).violations).toEqual([]);
});
