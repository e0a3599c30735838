/** Names of chats: by the model when nothing is asked, after whatever a person asks in the meantime; and the setting for it. */
import { expect } from '@playwright/test';
import { test } from '../app';
import { ask, greedy, newestChat, ready } from '../chat';
import { axe } from '../moments';

test('a chat gets its title when nothing else is asked, and a question goes before it', async ({ launch, gates }) => {
  gates.rest.hold();
  const { page } = await launch({
    settings: { sampling: greedy },
    held: { gates, title: 'The keeper of the lamp' },
  });
  await ready(page);
  const shown = page.getByTestId('chat-item').first();
  await ask(page, 'Who lit the lamp in the tower that stands above the harbor of the old town?');
  await gates.rest.reached();
  await expect(shown).toContainText('Who lit the lamp in the tower that');
  await expect(shown.getByRole('button').first()).toHaveAttribute(
    'title',
    /^Who lit the lamp in the tower that stands/,
  );

  // the request for a title stands still: the next question ends it and is answered
  gates.answers.hold();
  gates.rest.open();
  await gates.answers.reached();
  gates.rest.hold();
  gates.answers.hold(1);
  await ask(page, 'And who rowed the boat?');
  await gates.rest.reached();
  await expect(shown).toContainText('Who lit the lamp in the tower that');

  gates.answers.open();
  gates.rest.open();
  await expect(shown).toContainText('The keeper of the lamp');
  const { messages } = await newestChat(page);
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);

  await page.getByTestId('settings-open').click();
  await page.getByTestId('settings-tab-chat').click();
  const titles = page.getByTestId('settings-titles');
  await expect(titles).toContainText('Models with fewer than 250 million parameters');
  await titles.getByText('From the question').click();
  await expect(titles).toContainText('The first line of the first question');
  expect((await axe(page)).violations).toEqual([]);
});
