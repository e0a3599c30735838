/** The app as it comes, and its built-in model: the first screen and its examples, and the data of a version that had another one. */
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { expect } from '@playwright/test';
import { resizeWindow, root, shareApp, test } from '../app';
import { answers, answerText, ask, begin, ended, ready } from '../chat';

test.describe('the first screen', () => {
  // greedy, and else as the app comes
  const shared = shareApp({ settings: { sampling: { temperature: 0, seed: 1 } } });

  test('all of it fits a small window', async () => {
    const { app, page } = await shared.window();
    await resizeWindow({ app, page }, 900, 600);
    // the way to a larger model and the examples are in sight, and there is nothing to scroll to
    await expect(page.getByTestId('first-model-get')).toBeInViewport({ ratio: 1 });
    await expect(page.getByTestId('example').last()).toBeInViewport({ ratio: 1 });
    const below = () =>
      page.getByRole('region', { name: 'New chat' }).evaluate((one) => one.scrollHeight - one.clientHeight);
    await expect.poll(below).toBe(0);
  });

  test('a build without a server for updates says so', async () => {
    const { page } = await shared.window();
    await page.keyboard.press('Control+,');
    await page.getByTestId('settings-tab-advanced').click();
    await expect(page.getByTestId('updates-none')).toBeVisible();
    await expect(page.getByTestId('settings-updates')).toHaveCount(0);
    await page.getByTestId('settings-close').click();
  });

  test('every example is answered right', async () => {
    const { page } = await shared.window();
    const right = {
      'A letter': 'the bridge was closed after the storm',
      'Minutes of a meeting': 'December 1',
      'An invoice': '739.69',
      'Five pages': '7263514',
    };
    const cards = page.getByTestId('example');
    await expect(cards).toHaveCount(Object.keys(right).length);
    for (const [title, answer] of Object.entries(right)) {
      await cards.filter({ hasText: title }).click();
      await expect(page.getByTestId('document-card')).toHaveAttribute('data-state', 'ready');
      await expect(page.getByTestId('first-actions')).toBeHidden();
      // they would be cut by the composer, which has the document now
      await expect(cards).toHaveCount(0);
      await begin(page, () => page.getByTestId('send').click());
      await expect(answers(page)).toHaveCount(1);
      await ended(page);
      expect(await answerText(page), title).toContain(answer);
      await expect(page.getByTestId('found-nothing')).toHaveCount(0);
      await page.getByTestId('new-chat').click();
      await expect(answers(page)).toHaveCount(0);
    }

    // what it does not find may be there all the same: it is no judge of that
    await cards.filter({ hasText: 'A letter' }).click();
    await expect(page.getByTestId('document-card')).toHaveAttribute('data-state', 'ready');
    expect(await ask(page, 'What is the cat called?')).toContain('The text does not say.');
    await expect(answers(page).getByTestId('found-nothing')).toContainText('may say it all the same');
  });
});

test('what named the model before it opens with it, and says so', async ({ launch, dataDir }) => {
  await cp(path.join(root, 'test', 'fixtures', 'data-concertina-tiny'), dataDir, { recursive: true });
  const { page } = await launch();
  await ready(page);
  await expect(page.getByTestId('notice').filter({ hasText: 'concertina-tiny is no longer built in' })).toBeVisible();
  await expect(page.getByTestId('model-picker')).toContainText('concertina-small');
  await page.getByTestId('chat-item').first().getByRole('button').first().click();
  await expect(answers(page)).toHaveCount(1);
  const line = page.getByTestId('former-model');
  await expect(line).toHaveText('concertina-tiny is no longer built in. The new built-in model answers from here on.');
  await ask(page, 'Where are the oars?');
  await expect(line).toBeHidden();
  await expect(page.getByTestId('error-banner')).toBeHidden();
});
