/** Chats of other apps: chosen as files, shown with their branches, and never there twice. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from '@playwright/test';
import { foreignFiles } from '@/test/fixtures/foreignChats/files';
import { japanese } from '@/test/fixtures/foreignChats/words';
import { test } from '../app';
import { answers } from '../chat';
import { keepToasts } from '../moments';

test('chats of two other apps come over once, with a report of what did not', async ({ launch, dataDir }) => {
  const { page } = await launch();
  await keepToasts(page);
  const chosen = [foreignFiles.chatgpt, foreignFiles.claude].flatMap(({ branches, files, scripts }) => [
    branches,
    files,
    scripts,
  ]);
  const paths = chosen.map(({ name }) => path.join(dataDir, name));
  for (const [i, { text }] of chosen.entries()) await writeFile(paths[i] ?? '', text);

  await page.getByTestId('import-file').setInputFiles(paths);
  await expect(page.getByText('6 chats were imported')).toBeVisible();
  const report = page.getByText(/messages from ChatGPT, Claude\./);
  await expect(report).toContainText(/Not brought over: .*picture/);
  await expect(page.getByTestId('chat-item')).toHaveCount(6);

  await page.getByTestId('chat-search').fill(japanese.slice(0, 5));
  await page.getByTestId('chat-search').press('Enter');
  await expect(answers(page).last()).toBeVisible();
  await page.getByTestId('chat-search').press('Escape');

  await page.getByTestId('import-file').setInputFiles(paths);
  await expect(page.getByText('6 chats were here already and were skipped.')).toBeVisible();
  await expect(page.getByTestId('chat-item')).toHaveCount(6);
});
