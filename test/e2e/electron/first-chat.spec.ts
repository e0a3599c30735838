/** The first start, the first answer, the meter, other versions of an answer, and finding it all again after a restart. */
import { expect, type Page } from '@playwright/test';
import { type SharedApp, shareApp, test } from '../app';
import {
  answers,
  answerText,
  ask,
  begin,
  ended,
  endless,
  greedy,
  newestChat,
  questions,
  ready,
  send,
  streaming,
} from '../chat';

/** A window whose answer has come to a stand after some words. */
async function standing(shared: SharedApp): Promise<Page> {
  const { page } = await shared.window();
  const gates = shared.gates();
  gates.pieces.hold(30);
  await send(page, 'Tell me a story.');
  await gates.pieces.reached();
  await streaming(page);
  return page;
}

test('the first start is ready to chat with the embedded model', async ({ launch }) => {
  const { page } = await launch();
  const { model } = await ready(page);
  expect(model?.architecture).toBe('qwen3');
  await expect(page.getByTestId('composer')).toBeFocused();
  await expect(page.getByTestId('model-picker')).toContainText(model?.name ?? '');
  await expect(page.getByTestId('error-banner')).toBeHidden();

  const answer = await ask(page, 'Hello, who are you?');
  expect(answer.trim()).not.toBe('');
});

/** In the page: what moves there until somebody ends it. */
function endlessAnimations(): string[] {
  const endless = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime === Infinity);
  return endless.map(
    ({ effect }) => (effect instanceof KeyframeEffect && effect.target?.outerHTML.slice(0, 200)) || '',
  );
}

test.describe('an answer', () => {
  const shared = shareApp({ settings: { sampling: endless }, held: { endless: true } });

  test('streams, and the meter shows its figures', async () => {
    const page = await standing(shared);
    const gates = shared.gates();
    const early = (await answerText(page)).length;
    gates.pieces.open();
    await expect.poll(async () => (await answerText(page)).length).toBeGreaterThan(early);
    const positive = /^[1-9]\d*(\.\d+)?$|^0\.\d*[1-9]/;
    // of the last moments: none once it stands still
    await expect(page.getByTestId('meter-toks')).toHaveAttribute('data-toks', positive);
    gates.pieces.hold(30);
    await gates.pieces.reached();
    // a frame 60 times a second would cost the engine its processor for as long as an answer takes
    expect(await page.evaluate(endlessAnimations)).toEqual([]);

    await expect(page.getByTestId('meter-toks')).toHaveAttribute('data-toks-average', positive);
    await expect(page.getByTestId('meter-ttft')).toHaveAttribute('data-ttft', positive);
    await expect(page.getByTestId('meter-prompt')).toHaveAttribute('data-prompt-toks', positive);
    await expect(page.getByTestId('meter-context')).toHaveAttribute('data-used', positive);
    await expect(page.getByTestId('meter-context')).toHaveAttribute('data-size', '32768');
    for (const part of ['weights', 'compute', 'process', 'total']) {
      await expect(page.getByTestId('meter-memory')).toHaveAttribute(`data-${part}`, positive);
    }
    await expect(page.getByTestId('meter-types')).toContainText('turbo4');
    await expect(page.getByTestId('meter-backend')).toHaveAttribute('data-backend', 'CPU');
    await page.getByTestId('stop').click();
    await ended(page);
  });

  test('ends at once when it is stopped, and its text is kept', async () => {
    const page = await standing(shared);
    const shown = await answerText(page);
    await page.getByTestId('stop').click();
    // no other piece is let through: what ends the answer is the button
    await ended(page);
    await expect(answers(page).last()).toHaveAttribute('data-state', 'cancelled');
    const kept = await answerText(page);
    expect(kept.length).toBeGreaterThan(40);
    expect(kept.startsWith(shown)).toBe(true);
    await ready(page);
  });
});

test('regenerate and edit keep the old branch, and a restart finds the chat again', async ({ launch }) => {
  const first = await launch({ settings: { sampling: greedy } });
  const { page } = first;
  await ready(page);
  const answer = await ask(page, 'What is a compiler?');

  await answers(page).last().hover();
  await begin(page, () => page.getByTestId('regenerate').click());
  await expect(page.getByRole('status', { name: 'Version 2 of 2' })).toBeVisible();
  await ended(page);
  await expect(answers(page)).toHaveCount(1);
  // not always the words of the first: one token of the question is read again, by other kernels than the whole was
  const again = await answerText(page);

  await questions(page).last().hover();
  await page.getByRole('button', { name: 'Edit and send again' }).click();
  await page.getByTestId('edit-field').fill('What is a linker?');
  await begin(page, () => page.getByTestId('edit-field').press('Enter'));
  await expect(questions(page)).toHaveText([/What is a linker\?/]);
  await ended(page);

  const { messages } = await newestChat(page);
  expect(messages.map(({ role }) => role).sort()).toEqual(['assistant', 'assistant', 'assistant', 'user', 'user']);
  expect(messages.filter(({ role, parentId }) => role === 'user' && parentId === null)).toHaveLength(2);
  expect(messages.map(({ text }) => text.trim())).toEqual(expect.arrayContaining([answer.trim(), again.trim()]));

  await page
    .getByRole('button', { name: /previous (version|branch)/i })
    .first()
    .click();
  await expect(questions(page)).toHaveText([/What is a compiler\?/]);
  await first.app.close();

  const second = await launch();
  await second.page.getByTestId('chat-item').first().click();
  await expect(questions(second.page)).toHaveText([/What is a compiler\?/]);
  await expect(answers(second.page)).toHaveCount(1);
  expect(await answerText(second.page)).toBe(again);
  await ready(second.page);
  expect((await ask(second.page, 'And a linker?')).trim()).not.toBe('');
});
