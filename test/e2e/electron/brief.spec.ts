/** A brief in place of the oldest messages: offered, canceled, made, read, edited, its messages shown, and undone. */
import { expect } from '@playwright/test';
import { test, tinyModel } from '../app';
import { ask, call, endless, newestChat, questions, ready } from '../chat';
import { axe } from '../moments';

test('the oldest messages become a brief that a person sees, changes and undoes', async ({ launch, gates }) => {
  test.setTimeout(300_000);
  const sampling = { ...endless, maxTokens: 60 };
  const { page } = await launch({
    model: tinyModel,
    settings: { sampling, context: { nCtx: 1024 }, documents: { reserve: 256 } },
    held: { gates, endless: true },
  });
  await ready(page);
  for (const what of ['lamp', 'boat', 'wall', 'bell', 'gate']) {
    await ask(page, `What does the keeper write of the ${what}? ${`He saw the ${what} by the harbor. `.repeat(6)}`);
  }
  await page
    .getByTestId('composer')
    .fill(`And the tower? ${'He went up the stairs of the tower at night. '.repeat(18)}`);
  const offer = page.getByTestId('offer-brief');
  await expect(offer).toContainText(/Shorten the 6 oldest messages to a brief, about/);
  await expect(offer).toHaveAttribute('title', /tokens to read and at most [\d,]+ to write/);

  gates.answers.hold();
  await offer.click();
  const making = page.getByTestId('brief-making');
  await gates.answers.reached();
  await expect(making).toContainText('Shortening the first 6 messages to a brief');
  expect((await axe(page)).violations).toEqual([]);
  await page.getByTestId('brief-cancel').click();
  await expect(making).toBeHidden();
  await expect(page.getByTestId('brief')).toBeHidden();

  gates.answers.open();
  await offer.click();
  const brief = page.getByTestId('brief');
  await expect(brief).toContainText('Brief of the first 6 messages');
  await expect(questions(page)).toHaveCount(2);
  await expect(page.getByTestId('no-fit')).toBeHidden();
  await expect(page.getByTestId('draft-tokens')).toContainText('with a brief');
  expect((await axe(page)).violations).toEqual([]);

  await page.getByTestId('brief-edit').click();
  await expect(page.getByTestId('brief-price')).toContainText(/After a change about [\d,]+ tokens are read again/);
  await page.getByTestId('brief-field').fill('The keeper writes of the lamp, the boat and the wall.');
  await page.getByTestId('brief-save').click();
  await expect(page.getByTestId('brief-text')).toHaveText('The keeper writes of the lamp, the boat and the wall.');
  await expect(brief).toContainText('changed by you');
  const chat = await newestChat(page);
  expect(chat.messages).toHaveLength(10);
  expect(chat.briefs).toMatchObject([{ messages: 6, edited: true }]);

  await page.getByTestId('brief-unfold').click();
  await expect(page.getByTestId('brief-unfold')).toHaveText('Hide the messages');
  await page.getByTestId('messages').evaluate((list) => list.scrollTo(0, 0));
  await expect(questions(page).first()).toContainText('What does the keeper write of the lamp?');
  await brief.scrollIntoViewIfNeeded();
  await page.getByTestId('brief-unfold').click();
  await expect(questions(page)).toHaveCount(2);

  // what a question asks of the folded messages comes back before it, and leads to them; the focus that returns as the list
  // of passages goes, in a timer, does not lead away again
  await ask(page, 'What of the wall?');
  const recalled = page.getByTestId('recalled');
  await expect(recalled).toContainText(/From earlier in this chat\s*\d passage/);
  await recalled.click();
  const part = page.getByTestId('recalled-part').filter({ hasText: 'He saw the wall by the harbor.' });
  await expect(part).toBeVisible();
  expect((await axe(page)).violations).toEqual([]);
  await part.click();
  await expect(recalled).toBeFocused();
  const wall = questions(page).filter({ hasText: 'What does the keeper write of the wall?' });
  await expect(wall).toBeInViewport();
  await expect(recalled).not.toBeInViewport();

  await brief.scrollIntoViewIfNeeded();
  await page.getByTestId('brief-undo').click();
  await expect(brief).toBeHidden();
  await expect(page.getByTestId('draft-tokens')).not.toContainText('with a brief');
  expect((await call(page, 'chats.open', { chatId: chat.id })).briefs).toEqual([]);
});
