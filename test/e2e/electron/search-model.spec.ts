/** An embedding model of the person's as the second ranker of passages, chosen in the real window; a synthetic one stands for it. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import { writeEmbeddingModel } from '@/test/engine/embeddingModel';
import { makePdf } from '@/test/fixtures/documents/pdf';
import { attachFile, test } from '../app';
import { answers, call, greedy, ready, send } from '../chat';
import { openHere } from '../importSteps';
import { axe } from '../moments';

const subjects = 'boat lamp accumulator wall sail oar net rope oil nail gull tide storm pier crane'.split(' ');
const pages = subjects.map((subject) => ({
  lines: Array.from(
    { length: 30 },
    (_, line) => `The ${subject} of the harbor is looked after in the morning, line ${line}.`,
  ),
}));

/** In both themes, once their colors are there. */
async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await expect(page.locator('html.dark')).toHaveCount(colorScheme === 'dark' ? 1 : 0);
    await expect(async () => expect((await axe(page)).violations).toEqual([])).toPass();
  }
}

test('is offered for searching and not for chats, and says why a passage was found', async ({ launch, dataDir }) => {
  test.setTimeout(300_000);
  const model = path.join(dataDir, 'embeddings.gguf');
  writeEmbeddingModel(model, [
    ['battery', 'accumulator'],
    ['ship', 'boat'],
  ]);
  await writeFile(path.join(dataDir, 'models.json'), JSON.stringify({ version: 1, files: [model] }));
  const pdf = path.join(dataDir, 'harbor.pdf');
  await writeFile(pdf, makePdf(pages));
  const { app, page } = await launch({ settings: { context: { nCtx: 2048 }, sampling: { ...greedy, maxTokens: 8 } } });
  await ready(page);

  await page.getByTestId('model-picker').click();
  await expect(page.getByTestId('model-item')).toHaveCount(1);
  await page.keyboard.press('Escape');
  await openHere(page);
  const row = page.getByTestId('models-here').getByTestId('model-item').filter({ hasText: 'Synthetic embeddings' });
  await expect(row).toContainText('embedding model');
  await expect(row.getByRole('button').first()).toBeDisabled();
  await row.getByTestId('use-for-search').click();
  await expect(row).toContainText('Used for searching documents.');
  await expectAccessible(page);
  await page.keyboard.press('Escape');

  await page.getByTestId('settings-open').click();
  await page.getByTestId('settings-tab-memory').click();
  await expect(page.getByTestId('settings-search-model').locator('option:checked')).toContainText(
    'Synthetic embeddings',
  );
  await expect(page.getByTestId('search-model-status')).toContainText(/^Takes .* Not in memory now/);
  await expectAccessible(page);
  await page.getByLabel('Close the settings').click();

  await attachFile({ app, page }, pdf);
  await page.getByTestId('offer-passages').click();
  await page.getByTestId('composer').fill('What about the battery?');
  const documentId = (await call(page, 'documents.jobs', undefined))[0]?.document?.id ?? '';
  // counting what the question would take has the document read
  const search = (query: string) => call(page, 'documents.search', { documentId, query, limit: 3 });
  await expect.poll(async () => 'wordsAlone' in (await search('battery'))).toBe(false);
  expect((await search('battery')).passages[0]).toMatchObject({ label: 'Page 3', words: [], meaning: 1 });
  await send(page, 'What about the battery?');
  await expect(answers(page).last()).toHaveAttribute('data-state', /^(end-of-turn|max-tokens)$/);
  await page.getByTestId('sent-document').click();
  await expect(page.getByTestId('words-alone')).toHaveCount(0);
  const used = page.getByTestId('used-parts');
  await expect(used).toContainText('Page 3');
  await expect(used.getByTestId('used-reason').filter({ hasText: 'By meaning (nearest)' })).toHaveCount(1);
  await expectAccessible(page);

  await used.getByRole('button').first().click();
  await page.getByTestId('document-search').fill('battery, ship and gull');
  const reasons = page.getByTestId('hit-reason');
  await expect(reasons.filter({ hasText: /^By words: gull, and by meaning/ })).not.toHaveCount(0);
  await expect(reasons.filter({ hasText: /^By meaning \(nearest\)$/ })).toHaveCount(1);
  await expectAccessible(page);

  await page.getByTestId('meter-memory').click();
  await expect(page.getByTestId('meter-search-model')).toHaveAttribute('data-bytes', /^[1-9]\d+$/);
  const { text } = await call(page, 'app.diagnostics', undefined);
  expect(text).toMatch(/^Search model: needs [\d.]+ MB; running/m);
  await page.keyboard.press('Escape');

  // turned off, words alone rank, and nothing is left in memory
  await call(page, 'settings.update', { documents: { searchModel: null } });
  await expect.poll(async () => (await call(page, 'documents.searchModel', undefined)).running).toBe(false);
  expect(await search('battery')).toEqual({ passages: [], all: 0 });
});
