/** Documents beside a question, in the real window: cards, pages, the budget of the context, and what does not fit. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import { type ElectronApplication, expect, type Page } from '@playwright/test';
import type { PromptBudget } from '../../../electron/shared/budget';
import { makePdf } from '../../fixtures/documents/pdf';
import { test } from '../app';
import { call, ended, greedy, ready } from '../chat';

const card = (page: Page, name: string) => page.getByTestId('document-card').filter({ hasText: name });
const filler = 'The keeper walked to the tower, lit the lamp, and wrote the hour down in his book.';

async function choose(app: ElectronApplication, page: Page, ...files: string[]): Promise<void> {
  await app.evaluate(({ dialog }, filePaths) => {
    dialog.showOpenDialog = async () => ({ canceled: false, filePaths });
  }, files);
  await page.getByTestId('attach').click();
}

async function paste(app: ElectronApplication, page: Page, text: string): Promise<void> {
  await app.evaluate(({ clipboard }, words) => clipboard.writeText(words), text);
  await page.getByTestId('composer').focus();
  await page.keyboard.press('Control+V');
}

/** The figures of the popover, once they belong to the present draft. */
async function budgetShown(page: Page): Promise<Record<string, number>> {
  await expect(page.getByTestId('draft-tokens')).not.toHaveAttribute('data-stale', 'true');
  await page.getByTestId('draft-tokens').click();
  const shown: Record<string, number> = {};
  for (const id of ['system', 'template', 'documents', 'history', 'message', 'reserve', 'free']) {
    shown[id] = Number(await page.getByTestId(`budget-${id}`).getAttribute('data-tokens'));
  }
  await page.keyboard.press('Escape');
  return shown;
}

function sum(shown: Record<string, number>): number {
  return Object.values(shown).reduce((all, one) => all + one, 0);
}

test('a document that does not fit, its pages, a longer context, and the answer', async ({ launch, dataDir }) => {
  test.setTimeout(180_000);
  const pages = Array.from({ length: 60 }, (_, index) => ({
    lines: [`Chapter ${index + 1}`, '', filler, filler],
  }));
  pages[41]?.lines.push('The email address of Walter Smith is walter.smith@harbour.net.');
  const pdf = path.join(dataDir, 'lamps.pdf');
  const long = path.join(dataDir, 'long.txt');
  await writeFile(pdf, makePdf(pages));
  await writeFile(long, `${filler}\n`.repeat(600_000));
  const { app, page } = await launch({
    settings: { sampling: { ...greedy, maxTokens: 40 }, context: { nCtx: 2048, threads: 1 } },
  });
  await ready(page);

  await choose(app, page, pdf);
  const lamps = card(page, 'lamps.pdf');
  await expect(lamps).toHaveAttribute('data-state', 'ready');
  await expect(lamps.getByTestId('card-part')).toHaveText('whole, 60 pages');
  const noFit = page.getByTestId('no-fit');
  await expect(noFit).toContainText('Nothing is cut');
  await page.getByTestId('composer').fill('What is the email address of Walter Smith?');
  await expect(page.getByTestId('send')).toBeDisabled();

  await noFit.getByTestId('offer-parts').click();
  await expect(page.getByTestId('part-tokens').first()).toHaveText(/^\d+$/);
  await page.getByTestId('document-range').fill('40-44');
  await expect(page.getByTestId('document-running')).toContainText('5 of 60 pages');
  await expect(noFit).toBeHidden();
  await expect(lamps.getByTestId('card-part')).toHaveText('pages 40-44');
  const part = await budgetShown(page);
  expect(sum(part)).toBe(2048);
  expect(part.documents).toBeGreaterThan(100);
  const axe = await new AxeBuilder({ page }).setLegacyMode(true).analyze();
  expect(axe.violations).toEqual([]);

  await page.getByRole('button', { name: 'All', exact: true }).click();
  await expect(noFit).toBeVisible();
  const offer = noFit.getByTestId('room-offer').first();
  await expect(offer).toContainText(/tokens, turbo4: fits, [\d.]+ [MG]iB/);
  const room = Number(await offer.getAttribute('data-tokens'));
  await offer.click();
  await expect.poll(async () => (await ready(page)).context?.nCtx, { timeout: 60_000 }).toBe(room);
  await expect(noFit).toBeHidden();
  const whole = await budgetShown(page);
  expect(sum(whole)).toBe(room);
  const documentId = (await call(page, 'documents.jobs', undefined))[0]?.document?.id ?? '';
  const asked: PromptBudget = await call(page, 'turns.budget', {
    ...{ chatId: null, leafId: null, draft: 'What is the email address of Walter Smith?' },
    attachments: [{ documentId, name: 'lamps.pdf', part: { kind: 'whole' } }],
  });
  expect(whole).toMatchObject({ documents: asked.documents, message: asked.message, reserve: asked.reserve });

  await page.getByTestId('send').click();
  await expect(page.getByTestId('sent-document')).toContainText('lamps.pdfwhole, 60 pages');
  await expect(page.getByTestId('document-card')).toHaveCount(0);
  await ended(page, 90_000);
  await expect(page.getByTestId('message-assistant')).toContainText('walter.smith@harbour.net');
  const [chat] = await call(page, 'chats.list', undefined);
  const { messages } = await call(page, 'chats.open', { chatId: chat?.id ?? '' });
  expect(messages[1]?.stats?.promptTokens).toBe(asked.total);

  await page.getByTestId('sent-document').click();
  await expect(page.getByTestId('document-text').getByText('Chapter 1', { exact: false }).first()).toBeVisible();
  await expect(page.getByTestId('context-mark').first()).toHaveAttribute('data-state', 'sent');
  await page.keyboard.press('Escape');
  await expect(page.getByTestId('document-panel')).toBeHidden();

  await paste(app, page, `${filler} `.repeat(30));
  const pasted = card(page, 'Pasted text');
  await expect(pasted).toHaveAttribute('data-state', 'ready');
  await pasted.getByTestId('card-menu').click();
  await page.getByRole('menuitem', { name: 'Paste as text' }).click();
  await expect(page.getByTestId('document-card')).toHaveCount(0);
  await expect(page.getByTestId('composer')).toHaveValue(`${filler} `.repeat(30));
  await page.getByTestId('composer').fill('');

  await choose(app, page, long);
  await expect(card(page, 'long.txt')).toBeVisible();
  await page.getByRole('button', { name: 'Cancel reading long.txt' }).click();
  await expect(page.getByTestId('document-card')).toHaveCount(0);
  await expect
    .poll(async () => (await call(page, 'documents.jobs', undefined)).find(({ name }) => name === 'long.txt')?.state)
    .toBe('cancelled');
});
