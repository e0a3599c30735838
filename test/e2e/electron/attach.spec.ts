/** Documents beside a question, in the real window: cards, pages, the budget of the context, and what does not fit. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type ElectronApplication, expect, type Page } from '@playwright/test';
import type { PromptBudget } from '@/electron/contract/chats';
import type { OperationInput } from '@/electron/contract/contract';
import type { Attachment } from '@/electron/contract/lib/attachments';
import { makePdf } from '@/test/fixtures/documents/pdf';
import { attachFile, resizeWindow, test, tinyModel } from '../app';
import { begin, call, ended, greedy, newestChat, ready } from '../chat';
import { axe } from '../moments';

const card = (page: Page, name: string) => page.getByTestId('document-card').filter({ hasText: name });
const filler = 'The keeper walked to the tower, lit the lamp, and wrote the hour down in his book.';

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

/** A chat whose answer names a page that is there, one that is not, and a sentence of another page. */
function citing(attachment: Attachment): OperationInput<'chats.import'>['chat'] {
  const base = { createdAt: 1 };
  const text = 'Nobody on [Page 7] or [Page 700]: “lit the *lamp*, and wrote\nthe hour down in his book.”';
  return {
    ...{ id: 'citing', title: 'Who has an address?', createdAt: 1, updatedAt: 1, pinned: false, folder: null },
    ...{ systemPrompt: '', leafId: 'a' },
    messages: [
      { ...base, id: 'q', parentId: null, role: 'user', text: 'Who?', attachments: [attachment] },
      { ...base, id: 'a', parentId: 'q', role: 'assistant', text, stopReason: 'end-of-turn' },
    ],
  };
}

test('a document that does not fit, its pages, a longer context, and the answer', async ({ launch, dataDir }) => {
  test.setTimeout(180_000);
  const pages = Array.from({ length: 60 }, (_, index) => ({
    lines: [`Chapter ${index + 1}`, '', filler, filler],
  }));
  pages[41]?.lines.push('The email address of Walter Smith is walter.smith@harbour.net.');
  const pdf = path.join(dataDir, 'lamps.pdf');
  await writeFile(pdf, makePdf(pages));
  const { app, page } = await launch({
    model: tinyModel,
    settings: {
      sampling: { ...greedy, maxTokens: 40 },
      context: { nCtx: 2048, threads: 1 },
      sessions: { minTokens: 1024 },
    },
  });
  await ready(page);

  await attachFile({ app, page }, pdf);
  const lamps = card(page, 'lamps.pdf');
  await expect(lamps.getByTestId('card-part')).toHaveText('whole, 60 pages');
  const noFit = page.getByTestId('no-fit');
  await expect(noFit).toContainText('Nothing is cut');
  await page.getByTestId('composer').fill('What is the email address of Walter Smith?');
  await expect(page.getByTestId('send')).toBeDisabled();

  // at twice the size too the field is in view, however much stands above it
  const zoom = (factor: number) =>
    app.evaluate(
      ({ BrowserWindow }, size) => BrowserWindow.getAllWindows()[0]?.webContents.setZoomFactor(size),
      factor,
    );
  await resizeWindow({ app, page }, 1280, 800);
  await zoom(2);
  await expect.poll(() => page.evaluate(() => innerHeight)).toBe(400);
  await expect(page.getByTestId('composer')).toBeInViewport({ ratio: 1 });
  await expect(page.getByTestId('status-strip')).toBeInViewport({ ratio: 1 });
  await zoom(1);

  await noFit.getByTestId('offer-parts').click();
  await expect(page.getByTestId('part-tokens').first()).toHaveText(/^\d+$/);
  await page.getByTestId('document-range').fill('40-44');
  await expect(page.getByTestId('document-running')).toContainText('5 of 60 pages');
  await expect(noFit).toBeHidden();
  await expect(lamps.getByTestId('card-part')).toHaveText('pages 40-44');
  const part = await budgetShown(page);
  expect(sum(part)).toBe(2048);
  expect(part.documents).toBeGreaterThan(100);
  expect((await axe(page)).violations).toEqual([]);

  await page.getByRole('button', { name: 'All', exact: true }).click();
  await expect(noFit).toBeVisible();
  const offer = noFit.getByTestId('room-offer').first();
  await expect(offer).toHaveText(/^Grow the context to [\d,]+: [\d.]+ [MG]iB more$/);
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

  await begin(page, () => page.getByTestId('send').click());
  await expect(page.getByTestId('sent-document')).toContainText('lamps.pdfwhole, 60 pages');
  await expect(page.getByTestId('document-card')).toHaveCount(0);
  await ended(page, 90_000);
  await expect(page.getByTestId('message-assistant')).toContainText('walter.smith@harbour.net');
  const { messages } = await newestChat(page);
  expect(messages[1]?.stats?.promptTokens).toBe(asked.total);

  await page.getByTestId('sent-document').click();
  await expect(page.getByTestId('document-text').getByText('Chapter 1', { exact: false }).first()).toBeVisible();
  await expect(page.getByTestId('context-mark').first()).toHaveAttribute('data-state', 'sent');
  await page.getByTestId('document-search').fill('address of walter');
  await expect(page.getByTestId('document-hit').first()).toContainText('Page 42');
  await page.getByTestId('document-hit').first().click();
  await expect(page.getByTestId('document-mark')).toContainText('walter.smith@harbour.net');

  // in a chat of its own, with passages that are looked up: they are listed with the question, and the next one asks again
  await page.getByTestId('new-chat').click();
  await page.getByTestId('document-attach').click();
  await page.keyboard.press('Escape');
  await expect(page.getByTestId('document-panel')).toBeHidden();
  await lamps.getByTestId('card-menu').click();
  await page.getByRole('menuitem', { name: 'Search it for each question' }).click();
  await expect(lamps.getByTestId('card-part')).toHaveText('searched for each question');
  await page.getByTestId('composer').fill('What is the email address of Walter Smith?');
  const looked = await budgetShown(page);
  expect(looked.documents).toBeGreaterThan(50);
  expect(looked.documents).toBeLessThan(whole.documents ?? 0);
  const words = 'email, address, Walter, Smith';
  await expect(lamps.getByTestId('card-words')).toHaveText(`Searches for: ${words}`);
  await begin(page, () => page.getByTestId('send').click());
  await expect(page.getByTestId('sent-document')).toContainText(/lamps\.pdf\d+ passages/);
  await ended(page, 90_000);
  await expect(page.getByTestId('message-assistant')).toContainText('walter.smith@harbour.net');
  await expect(lamps).toHaveAttribute('data-part', 'passages');
  await page.getByTestId('sent-document').click();
  await expect(page.getByTestId('searched-for')).toHaveText(`Searched for: ${words}`);
  const passage = page.getByTestId('used-parts').getByRole('button').first();
  await expect(passage).toContainText(/Page \d+( to Page \d+)?.*Chapter|keeper/);
  await passage.click();
  // it goes on over several pages
  await expect(page.getByTestId('document-mark').first()).toBeInViewport();
  await expect(page.getByTestId('document-mark').nth(1)).toContainText('keeper');
  await page.keyboard.press('Escape');
  await expect(page.getByTestId('document-panel')).toBeHidden();

  // the cache of the document was saved when this chat took the context; the settings list it, and remove it
  await page.getByTestId('settings-open').click();
  await expect(page.getByTestId('kept-item')).toHaveCount(1);
  await expect(page.getByTestId('kept-item')).toContainText(
    /lamps\.pdf.*iB · [\d,]+ tokens · turbo4Document of 1 chat/,
  );
  await expect(page.getByTestId('kept-total')).toHaveText(/^1 cache: [\d.]+ [KM]iB of 8\.00 GiB\.$/);
  await expect(page.getByTestId('kept-documents')).toHaveText(/^1 document is kept: [\d.]+ KiB\.\s*$/);
  await page.getByRole('button', { name: /^Remove the cache of lamps\.pdf/ }).click();
  await expect(page.getByTestId('kept-total')).toHaveText('No caches are kept: 0 B of 8.00 GiB.');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Remove lamps.pdf' }).click();

  // what an answer cites leads to its place
  await call(page, 'chats.import', { chat: citing({ documentId, name: 'lamps.pdf', part: { kind: 'whole' } }) });
  await page.getByTestId('chat-item').filter({ hasText: 'Who has an address?' }).getByRole('button').first().click();
  await expect(page.getByTestId('citation')).toHaveText(['[Page 7]', /^“lit the lamp/]);
  await page.getByTestId('citation').first().click();
  await expect(page.getByTestId('document-text').getByText('Chapter 7', { exact: false })).toBeInViewport();
  await page.getByTestId('citation').last().click();
  await expect(page.getByTestId('document-mark')).toHaveText('lit the lamp, and wrote the hour down in his book');
  await expect(page.getByTestId('document-mark')).toBeInViewport();
  await page.keyboard.press('Escape');
  await expect(page.getByTestId('document-panel')).toBeHidden();
  await page.getByTestId('new-chat').click();

  await paste(app, page, `${filler} `.repeat(30));
  const pasted = card(page, 'Pasted text');
  await expect(pasted).toHaveAttribute('data-state', 'ready');
  await pasted.getByTestId('card-menu').click();
  await page.getByRole('menuitem', { name: 'Paste as text' }).click();
  await expect(page.getByTestId('document-card')).toHaveCount(0);
  await expect(page.getByTestId('composer')).toHaveValue(`${filler} `.repeat(30));
  await page.getByTestId('composer').fill('');
});
