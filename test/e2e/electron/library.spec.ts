/** The library of chats: search of their texts, folders, pins, trash. All by keyboard where a person would. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect } from '@playwright/test';
import { test } from '../app';
import { answers, questions } from '../chat';
import { writeChats } from '../chatFiles';
import { keepToasts } from '../moments';

test('chats are found by their texts, put in order, thrown away and brought back', async ({ launch, dataDir }) => {
  await writeChats(dataDir, [
    { id: 'lease', title: 'The lease', age: 3, texts: ['When is the déposit due?', 'The deposit is due on 3 May.'] },
    { id: 'soup', title: 'Soup', age: 2, texts: ['How long?', 'Twenty minutes.', 'With salt?', 'A deposit of salt.'] },
    { id: 'rent', title: 'Rent', age: 1, texts: ['How much?', 'Nine hundred.'] },
  ]);
  const { page } = await launch();
  const item = (id: string) => page.locator(`[data-testid="chat-item"][data-chat-id="${id}"]`);
  const menu = async (id: string, name: string) => {
    await item(id).hover();
    await item(id)
      .getByRole('button', { name: /^Actions/ })
      .click();
    await page.getByRole('menuitem', { name }).click();
  };
  await expect(page.getByTestId('chat-item')).toHaveCount(3);

  await test.step('search', async () => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type('DEPOSIT due');
    await expect(page.getByTestId('search-hit')).toHaveCount(1);
    await expect(page.getByTestId('search-snippet')).toHaveText([
      'Answer: The deposit is due on 3 May.',
      /^You: When is/,
    ]);
    await expect(page.getByTestId('search-snippet').last().locator('mark')).toHaveText(['déposit', 'due']);
    await page.getByTestId('chat-search').fill('deposit');
    await expect(page.getByTestId('search-hit')).toHaveCount(2);
    await page.getByTestId('search-snippet').first().click();
    await expect(answers(page).last()).toContainText('A deposit of salt.');
    await page.getByTestId('chat-search').fill('lease');
    await page.getByTestId('chat-search').press('Enter');
    await expect(questions(page)).toHaveText([/déposit/]);
    await page.getByTestId('chat-search').press('Escape');
  });

  await test.step('folder and pin', async () => {
    await menu('lease', 'Move to a folder');
    await page.getByTestId('new-folder-name').fill('House');
    await page.keyboard.press('Enter');
    const folder = page.getByTestId('folder');
    await expect(folder.getByTestId('chat-item')).toHaveAttribute('data-chat-id', 'lease');
    await item('rent').dragTo(folder);
    await expect(folder.getByTestId('chat-item')).toHaveCount(2);
    await menu('rent', 'Pin');
    await expect(page.getByRole('region', { name: 'Pinned' }).getByTestId('chat-item')).toHaveCount(1);
    await folder.getByRole('button', { name: /House/ }).first().focus();
    await page.keyboard.press('F2');
    await page.getByTestId('folder-name-field').fill('Home');
    await page.keyboard.press('Enter');
    const name = folder.getByRole('button', { name: /^Home/ });
    await expect(name).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(name).toHaveAttribute('aria-expanded', 'false');
    await expect(item('lease')).toBeHidden();
  });

  await test.step('trash', async () => {
    await keepToasts(page);
    await item('soup').getByRole('button').first().press('Delete');
    await page.getByRole('button', { name: 'Undo' }).click();
    await keepToasts(page, false);
    await expect(item('soup')).toBeVisible();
    for (const id of ['soup', 'rent']) {
      await item(id).getByRole('button').first().press('Delete');
      await expect(item(id)).toBeHidden();
    }
    await page.getByTestId('trash-open').click();
    await expect(page.getByTestId('trash-item')).toHaveCount(2);
    await page.getByRole('button', { name: 'Restore Rent' }).click();
    await expect(page.getByTestId('trash-item')).toHaveCount(1);
    await page.getByTestId('trash-empty').click();
    await page.getByTestId('confirm-action').click();
    await expect(page.getByTestId('trash-item')).toHaveCount(0);
    await page.getByRole('button', { name: 'Back to the chats' }).click();
    await expect(page.getByTestId('chat-item')).toHaveCount(1);
    await expect.poll(() => readdir(path.join(dataDir, 'trash'))).toEqual([]);
  });
});
