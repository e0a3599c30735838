/** Documents that several chats use: kept once, begun with by any chat, and by every new chat of a folder. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import { makePdf } from '@/test/fixtures/documents/pdf';
import { type AppWindow, attachFile, chooseFiles, test, tinyModel } from '../app';
import { ask, call, greedy, newestChat, questions, ready } from '../chat';
import { axe, keepToasts } from '../moments';

const item = (page: Page, name: string) => page.getByTestId('shelf-item').filter({ hasText: name });
const cards = (page: Page) => page.getByTestId('document-card');

const harbor = 'The third lamp of the harbor burns blue from dusk to dawn, and its keeper sleeps at noon. ';

/** About 2,000 tokens of the tiny model: worth more than the words around it. */
async function manual(dataDir: string, name = 'manual.txt'): Promise<string> {
  const file = path.join(dataDir, name);
  await writeFile(file, Array.from({ length: 60 }, (_, n) => `${n + 1}. ${harbor}`).join(`\n${name}`));
  return file;
}

async function addToShelf({ app, page }: AppWindow, ...files: string[]): Promise<void> {
  await chooseFiles(app, ...files);
  await page.getByTestId('shelf-add').click();
  for (const file of files) await expect(item(page, path.basename(file))).toBeVisible();
}

/** Figures of the last answer of the chat that was changed last. */
async function stats(page: Page) {
  const { messages, leafId } = await newestChat(page);
  const found = messages.find(({ id }) => id === leafId)?.stats;
  if (!found) throw new Error('The answer has no figures.');
  return found;
}

async function violations(page: Page): Promise<string[]> {
  const { violations: list } = await axe(page);
  return list.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

test('a document is added once, two chats begin with it, and the second does not read it again', async ({
  launch,
  dataDir,
}) => {
  const window = await launch({ model: tinyModel, settings: { sampling: { ...greedy, maxTokens: 4 } } });
  const { page } = window;
  await ready(page);
  await page.getByTestId('shelf-open').click();
  await expect(page.getByTestId('shelf-empty')).toBeVisible();
  expect(await violations(page)).toEqual([]);
  await addToShelf(window, await manual(dataDir));
  const row = item(page, 'manual.txt');
  await expect(row.getByTestId('shelf-facts')).toContainText(/[\d,]+ tokens · Text · .* · added .* · in no chat yet/);
  const { documents } = await call(page, 'shelf.get', undefined);
  const { documentId = '' } = documents[0] ?? {};
  const { tokens } = await call(page, 'documents.countTokens', { documentId });

  await row.getByTestId('shelf-new-chat').click();
  await expect(page.getByTestId('shelf-view')).toBeHidden();
  await expect(page.getByTestId('composer')).toBeFocused();
  await expect(cards(page)).toHaveAttribute('data-state', 'ready');
  await ask(page, 'Which color has the lamp?');
  expect((await stats(page)).cachedTokens).toBeLessThan(tokens / 2);

  await page.getByTestId('shelf-open').click();
  await expect(row.getByTestId('shelf-facts')).toContainText('in 1 chat');
  await row.getByTestId('shelf-new-chat').click();
  // it begins when the shelf is gone
  await expect(page.getByTestId('composer')).toBeFocused();
  await expect(questions(page)).toHaveCount(0);
  await ask(page, 'Who sleeps at noon?');
  const second = await stats(page);
  expect(second.promptTokens).toBeGreaterThan(tokens);
  expect(second.cachedTokens).toBeGreaterThanOrEqual(tokens - 8);
  expect(await call(page, 'chats.list', undefined)).toHaveLength(2);

  // taken off the shelf while two chats have it
  await page.getByTestId('shelf-open').click();
  await expect(row.getByTestId('shelf-facts')).toContainText('in 2 chats');
  await row.getByTestId('shelf-menu').click();
  await page.getByRole('menuitem', { name: 'Remove from the shelf' }).click();
  await expect(page.getByTestId('shelf-removed')).toContainText('manual.txt is off the shelf. Chats');
  await page.getByTestId('shelf-undo').click();
  await expect(row).toBeVisible();
  await row.getByTestId('shelf-menu').click();
  await page.getByRole('menuitem', { name: 'Remove from the shelf' }).click();
  await page.keyboard.press('Escape');
  await call(page, 'documents.sweep', undefined);
  await ask(page, 'And the third lamp?');
  await page.getByTestId('sent-document').click();
  await expect(page.getByTestId('document-panel')).toContainText('burns blue');
});

test('kept from a question, named, found, chosen with others and attached again', async ({ launch, dataDir }) => {
  const window = await launch();
  const { page, app } = window;
  await keepToasts(page);
  const pdf = path.join(dataDir, 'a.pdf');
  await writeFile(pdf, makePdf([{ lines: ['First page.'] }, { lines: ['Second page.'] }]));
  await attachFile(window, pdf);
  await page.getByTestId('card-menu').click();
  await page.getByRole('menuitem', { name: 'Keep on the shelf' }).click();
  await expect(page.getByText('On the shelf')).toBeVisible();
  await page.getByTestId('card-menu').click();
  await expect(page.getByRole('menuitem', { name: 'Show the text' })).toBeVisible();
  await expect(page.getByRole('menuitem', { name: 'Keep on the shelf' })).toBeHidden();
  await page.keyboard.press('Escape');
  await cards(page).getByRole('button', { name: 'Remove a.pdf' }).click();

  await page.getByTestId('attach-from-shelf').click();
  await item(page, 'a.pdf').getByTestId('shelf-menu').click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await page.getByTestId('shelf-name').fill('Lease of 2026');
  await page.keyboard.press('Enter');
  await expect(item(page, 'Lease of 2026').getByTestId('shelf-facts')).toContainText('PDF · 2 pages');
  await addToShelf({ app, page, output: [] }, await manual(dataDir), await manual(dataDir, 'manual of the pier.txt'));
  await page.getByTestId('shelf-search').fill('PIER manual');
  await expect(page.getByTestId('shelf-item')).toHaveCount(1);
  await page.getByTestId('shelf-choose').check();
  await page.getByTestId('shelf-search').fill('');
  await item(page, 'Lease of 2026').getByTestId('shelf-choose').check();
  await expect(page.getByTestId('shelf-chosen')).toContainText('2 documents');
  expect(await violations(page)).toEqual([]);
  await page.getByTestId('shelf-chosen-attach').click();
  await expect(cards(page)).toHaveCount(2);
  await expect(cards(page).nth(1)).toContainText('Lease of 2026');
  await expect(page.getByTestId('composer')).toBeFocused();
});

test('each new chat in a folder begins with its documents, by the keyboard alone', async ({ launch, dataDir }) => {
  const window = await launch({ model: tinyModel, settings: { sampling: { ...greedy, maxTokens: 4 } } });
  const { page } = window;
  await ready(page);
  const file = await manual(dataDir);
  await chooseFiles(window.app, file);

  await page.keyboard.press('Control+Shift+P');
  await page.getByTestId('palette-field').fill('shelf');
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('shelf-search')).toBeFocused();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(item(page, 'manual.txt')).toBeVisible();
  // its check box
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await expect(page.getByTestId('shelf-chosen')).toBeVisible();
  const folderButton = page.getByTestId('shelf-chosen-folder');
  for (let tabs = 0; tabs < 8; tabs++) {
    if (await folderButton.evaluate((node) => node === document.activeElement)) break;
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('new-folder-name')).toBeFocused();
  await page.keyboard.type('Harbor');
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('folder-documents')).toBeVisible();
  await expect(page.getByTestId('folder-document')).toContainText('manual.txt');
  expect(await violations(page)).toEqual([]);
  const begin = page.getByTestId('folder-new-chat');
  for (let tabs = 0; tabs < 8; tabs++) {
    if (await begin.evaluate((node) => node === document.activeElement)) break;
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'New chat in Harbor' })).toBeVisible();
  await expect(cards(page)).toContainText('manual.txt');
  await expect(page.getByTestId('composer')).toBeFocused();
  await page.keyboard.type('Which color has the lamp?');
  await page.keyboard.press('Enter');
  await expect(questions(page)).toHaveCount(1);
  await expect(page.getByTestId('folder').getByTestId('chat-item')).toHaveCount(1);
  await expect(page.getByTestId('message-assistant').last()).not.toHaveAttribute('data-state', 'writing');

  await page.getByTestId('folder').getByRole('button', { name: 'Actions for the folder Harbor' }).click();
  await page.getByRole('menuitem', { name: 'New chat in this folder' }).click();
  await ask(page, 'Who sleeps at noon?');
  const { tokens } = await call(page, 'documents.countTokens', {
    documentId: (await call(page, 'shelf.get', undefined)).documents[0]?.documentId ?? '',
  });
  expect((await stats(page)).cachedTokens).toBeGreaterThanOrEqual(tokens - 8);
  expect((await call(page, 'chats.list', undefined)).map(({ folder }) => folder)).toEqual(['Harbor', 'Harbor']);
  expect(JSON.parse(await readFile(path.join(dataDir, 'shelf.json'), 'utf8'))).toMatchObject({
    version: 1,
    folders: [{ name: 'Harbor', documents: [{ part: 'whole' }] }],
  });
});

test('a document is read before anybody asks about it, and need not be read after a restart', async ({
  launch,
  dataDir,
}) => {
  const first = await launch({
    settings: { sampling: { ...greedy, maxTokens: 4 }, sessions: { minTokens: 512 }, context: { nCtx: 8192 } },
  });
  const { page } = first;
  await ready(page);
  await page.getByTestId('shelf-open').click();
  await addToShelf(first, await manual(dataDir));
  const row = (of: Page) => item(of, 'manual.txt');
  await row(page).getByTestId('shelf-menu').click();
  await page.getByRole('menuitem', { name: 'Read now, before a question' }).click();
  await expect(row(page).getByTestId('shelf-kept')).toHaveText('Read: answers about it begin at once', {
    timeout: 120_000,
  });
  expect(await violations(page)).toEqual([]);
  const { documents } = await call(page, 'shelf.get', undefined);
  const { documentId = '' } = documents[0] ?? {};
  const { tokens } = await call(page, 'documents.countTokens', { documentId });
  await first.app.close();

  const second = await launch();
  await ready(second.page);
  await second.page.getByTestId('shelf-open').click();
  await expect(row(second.page).getByTestId('shelf-kept')).toBeVisible();
  await row(second.page).getByTestId('shelf-new-chat').click();
  await expect(second.page.getByTestId('composer')).toBeFocused();
  await ask(second.page, 'Who sleeps at noon?');
  expect((await stats(second.page)).restoredTokens).toBeGreaterThanOrEqual(tokens - 8);
  expect(await call(second.page, 'chats.list', undefined)).toHaveLength(1);
  await second.page.getByTestId('settings-open').click();
  const kept = second.page.getByTestId('kept-item').filter({ hasText: 'manual.txt' });
  await expect(kept).toContainText('Document of 1 chat.');
});
