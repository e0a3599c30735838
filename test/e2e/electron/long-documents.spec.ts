/**
 * The first use of the app, from end to end: long documents with planted facts, found under turbo4 and under turbo3, asked
 * about again from the cache, and once more after a restart from the saved cache.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import type { Message } from '@/electron/contract/chats';
import {
  codeFact,
  type Fact,
  pdfFacts,
  pdfPages,
  plantedCode,
  plantedDocx,
  plantedPdf,
  wordFact,
} from '@/test/fixtures/documents/planted';
import { type AppWindow, test } from '../app';
import { answerText, call, ended, greedy, ready, send } from '../chat';

const prefillMs = 180_000;

async function attach({ app, page }: AppWindow, file: string): Promise<void> {
  await app.evaluate(({ dialog }, filePath) => {
    dialog.showOpenDialog = async () => ({ canceled: false, filePaths: [filePath] });
  }, file);
  await page.getByTestId('attach').click();
  await expect(page.getByTestId('document-card')).toHaveAttribute('data-state', 'ready');
}

/** Asks in the open chat and returns the answer as it is stored. */
async function answered(page: Page, { question, answer }: Fact): Promise<Message> {
  await expect(page.getByTestId('draft-tokens')).not.toHaveAttribute('data-stale', 'true');
  await send(page, question);
  await ended(page, prefillMs);
  expect(await answerText(page)).toContain(answer);
  const chat = await newest(page);
  const last = chat.messages.find(({ id }) => id === chat.leafId);
  if (!last?.stats) throw new Error('The answer has no figures.');
  return last;
}

async function newest(page: Page) {
  const [summary] = await call(page, 'chats.list', undefined);
  return call(page, 'chats.open', { chatId: summary?.id ?? '' });
}

/** The part of the prompt that was not read again. */
const cachedShare = ({ stats }: Message) => (stats ? stats.cachedTokens / stats.promptTokens : 0);

async function useTypes(page: Page, type: 'turbo4' | 'turbo3'): Promise<void> {
  await call(page, 'settings.update', { context: { typeK: type, typeV: type }, apply: {} });
  const { context } = await ready(page);
  expect(context).toMatchObject({ typeK: { effective: type }, typeV: { effective: type } });
}

async function askEach(page: Page, type: string, facts: readonly Fact[]): Promise<void> {
  for (const [index, fact] of facts.entries()) {
    const answer = await answered(page, fact);
    expect(answer.stats).toMatchObject({ typeK: type, typeV: type });
    if (index > 0) expect(cachedShare(answer)).toBeGreaterThan(0.95);
  }
}

test('facts of a 60-page PDF, a Word file and a source file, and the cache after a restart', async ({
  launch,
  dataDir,
}) => {
  test.setTimeout(600_000);
  const files = { pdf: 'almanac.pdf', docx: 'chapters.docx', code: 'steps.py' };
  const at = (name: string) => path.join(dataDir, name);
  await writeFile(at(files.pdf), plantedPdf());
  await writeFile(at(files.docx), plantedDocx());
  await writeFile(at(files.code), plantedCode());
  const context = { nCtx: 8192, typeK: 'turbo4', typeV: 'turbo4' } as const;
  const first = await launch({ settings: { sampling: { ...greedy, repeatPenalty: 1, maxTokens: 32 }, context } });
  const { page } = first;
  await ready(page);

  await attach(first, at(files.pdf));
  await expect(page.getByTestId('card-part')).toHaveText(`whole, ${pdfPages} pages`);
  const documentId = (await call(page, 'documents.jobs', undefined))[0]?.document?.id ?? '';
  const attachments = [{ documentId, name: files.pdf, part: { kind: 'whole' as const } }];
  const [{ question } = { question: '' }] = pdfFacts;
  const budget = await call(page, 'turns.budget', { chatId: null, leafId: null, draft: question, attachments });
  expect(budget.fits).toBe(true);
  await askEach(page, 'turbo4', pdfFacts);
  const asked = await newest(page);
  expect(asked.messages[1]?.stats?.promptTokens).toBe(budget.total);

  for (const [file, fact] of [
    [files.docx, wordFact],
    [files.code, codeFact],
  ] as const) {
    await page.getByTestId('new-chat').click();
    await attach(first, at(file));
    await askEach(page, 'turbo4', [fact]);
  }

  await useTypes(page, 'turbo3');
  await page.getByTestId('new-chat').click();
  await attach(first, at(files.pdf));
  await askEach(page, 'turbo3', pdfFacts);
  const chatId = (await newest(page)).id;
  await first.app.close();

  const second = await launch();
  await ready(second.page);
  await second.page.locator(`[data-testid="chat-item"][data-chat-id="${chatId}"]`).click();
  await expect(second.page.getByTestId('message-assistant')).toHaveCount(pdfFacts.length);
  const [fact] = pdfFacts;
  if (!fact) throw new Error('No fact was planted.');
  const again = await answered(second.page, fact);
  expect((again.stats?.restoredTokens ?? 0) / (again.stats?.promptTokens ?? 1)).toBeGreaterThan(0.95);
  await second.app.close();

  // another chat about a document that was read before
  const third = await launch();
  await ready(third.page);
  await third.page.getByTestId('new-chat').click();
  await attach(third, at(files.pdf));
  const other = await answered(third.page, fact);
  expect((other.stats?.restoredTokens ?? 0) / (other.stats?.promptTokens ?? 1)).toBeGreaterThan(0.95);
  await third.page.getByTestId('settings-open').click();
  const kept = third.page.getByTestId('kept-item').filter({ hasText: files.pdf });
  await expect(kept.filter({ hasText: 'Document of 2 chats' })).toContainText(/tokens · turbo3/);
});
