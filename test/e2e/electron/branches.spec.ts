/** Regenerate and edit make branches; nothing is overwritten. */
import { expect } from '@playwright/test';
import { test } from '../app';
import { answers, ask, begin, call, ended, greedy, questions, ready } from '../chat';

test('regenerate and edit keep the old branch', async ({ launch }) => {
  const { page } = await launch({ settings: { sampling: greedy } });
  await ready(page);
  await ask(page, 'What is a compiler?');

  await answers(page).last().hover();
  await begin(page, () => page.getByTestId('regenerate').click());
  await expect(page.getByRole('status', { name: 'Version 2 of 2' })).toBeVisible();
  await ended(page);
  await expect(answers(page)).toHaveCount(1);

  await questions(page).last().hover();
  await page.getByRole('button', { name: 'Edit and send again' }).click();
  await page.getByTestId('edit-field').fill('What is a linker?');
  await begin(page, () => page.getByTestId('edit-field').press('Enter'));
  await expect(questions(page)).toHaveText([/What is a linker\?/]);
  await ended(page);

  const [summary] = await call(page, 'chats.list', undefined);
  const { messages } = await call(page, 'chats.open', { chatId: summary?.id ?? '' });
  expect(messages.map(({ role }) => role).sort()).toEqual(['assistant', 'assistant', 'assistant', 'user', 'user']);
  expect(messages.filter(({ role, parentId }) => role === 'user' && parentId === null)).toHaveLength(2);

  await page
    .getByRole('button', { name: /previous (version|branch)/i })
    .first()
    .click();
  await expect(questions(page)).toHaveText([/What is a compiler\?/]);
});
