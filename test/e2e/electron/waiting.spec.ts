/** Messages that are written while an answer is: they wait for its end, and nothing of them is lost. */
import { writeFile } from 'node:fs/promises';
import { expect, type Page } from '@playwright/test';
import { attachFile, killEngine, shareApp, test } from '../app';
import { answers, begin, ended, endless, greedy, questions, ready, send } from '../chat';
import { axe } from '../moments';

const field = (page: Page) => page.getByTestId('composer');
const waiting = (page: Page) => page.getByTestId('waiting-message');

const arabic = 'المفتاح الأزرق في الخزانة الكبيرة.';

async function wait(page: Page, text: string): Promise<void> {
  const before = await waiting(page).count();
  await field(page).fill(text);
  await field(page).press('Enter');
  await expect(waiting(page)).toHaveCount(before + 1);
  await expect(field(page)).toHaveValue('');
}

test.describe('while an answer is written', () => {
  const shared = shareApp({ settings: { sampling: { ...greedy, maxTokens: 20 } }, held: {} });

  test('messages wait for the end of an answer, by the keyboard alone', async () => {
    const { page } = await shared.window();
    const gates = shared.gates();
    gates.pieces.hold(3);
    await send(page, 'What is a compiler?');
    await gates.pieces.reached();
    await expect(page.getByTestId('composer-status')).toHaveText('Writing the answer. Esc stops.');
    await wait(page, 'And an interpreter?');
    await wait(page, arabic);
    await wait(page, 'And a linker?');
    await expect(waiting(page).first()).toContainText('Waits for the end of the answer');
    // it begins at the right
    const rest = await waiting(page)
      .nth(1)
      .locator('p[dir]')
      .evaluate((block) => {
        const range = document.createRange();
        range.selectNodeContents(block);
        return block.getBoundingClientRect().right - Math.max(...[...range.getClientRects()].map(({ right }) => right));
      });
    // the padding before the buttons
    expect(rest).toBeLessThan(10);
    const { violations } = await axe(page);
    expect(violations.map(({ id, nodes }) => ({ id, html: nodes[0]?.html }))).toEqual([]);

    await test.step('one is removed with Escape, and one goes back into the field', async () => {
      await field(page).press('Shift+Tab');
      await expect(page.getByTestId('tools')).toBeFocused();
      await page.keyboard.press('Shift+Tab');
      await expect(page.getByTestId('attach-from-shelf')).toBeFocused();
      await page.keyboard.press('Shift+Tab');
      await expect(page.getByTestId('attach')).toBeFocused();
      await page.keyboard.press('Shift+Tab');
      await expect(
        waiting(page)
          .last()
          .getByRole('button', { name: /^Remove/ }),
      ).toBeFocused();
      await waiting(page)
        .nth(1)
        .getByRole('button', { name: /^Remove/ })
        .focus();
      await page.keyboard.press('Escape');
      await expect(waiting(page)).toHaveCount(2);
      await expect(field(page)).toBeFocused();
      await expect(answers(page).last()).toHaveAttribute('data-state', 'writing');
      await waiting(page).last().getByRole('button', { name: /^Edit/ }).focus();
      await page.keyboard.press('Enter');
      await expect(field(page)).toHaveValue('And a linker?');
      await expect(field(page)).toBeFocused();
      await wait(page, 'And a linker, in short?');
    });

    await test.step('the rest is sent one after the other', async () => {
      gates.pieces.open();
      await expect(questions(page)).toHaveText([/compiler/, /interpreter/, /linker, in short/]);
      await expect(answers(page)).toHaveCount(3);
      await ended(page);
      await expect(waiting(page)).toHaveCount(0);
    });
  });

  test('a message waits while a document is read; the answer to it is stopped before its first word', async () => {
    const { app, page } = await shared.window();
    const gates = shared.gates();
    const file = `${shared.dataDir()}/keys.txt`;
    await writeFile(file, 'The blue key is in the large cupboard.\n');
    await attachFile({ app, page }, file);
    gates.pieces.hold(2);
    await send(page, 'Where is the key?');
    await gates.pieces.reached();
    await wait(page, 'Which key?');
    gates.answers.hold();
    await begin(page, async () => gates.pieces.open());
    await gates.answers.reached();
    await expect(questions(page)).toHaveCount(2);
    await page.keyboard.press('Escape');
    await ended(page);
    await expect(answers(page).last().getByTestId('stop-reason')).toHaveAttribute('data-reason', 'cancelled');
  });
});

test('nothing is lost when the engine dies or the app is closed', async ({ launch, gates }) => {
  const { app, page } = await launch({ settings: { sampling: endless }, held: { gates, endless: true } });
  await ready(page);
  gates.pieces.hold(30);
  await send(page, 'Tell me a story.');
  await gates.pieces.reached();
  await wait(page, 'And another one?');
  await killEngine(app);
  await ended(page);
  await expect(waiting(page)).toContainText('Not sent. The engine stopped during the answer before it.');
  await ready(page);
  gates.pieces.open();
  gates.pieces.hold(3);
  await begin(page, () => waiting(page).getByTestId('waiting-send').click());
  await gates.pieces.reached();
  await expect(questions(page).last()).toContainText('And another one?');
  await wait(page, 'And a third one?');
  await app.close();

  const again = await launch({ settings: { sampling: greedy } });
  await ready(again.page);
  await again.page.getByTestId('chat-item').getByRole('button').first().click();
  await expect(waiting(again.page)).toContainText('And a third one?');
  await expect(waiting(again.page)).toContainText('Concertina was closed before it was sent.');
  await expect(questions(again.page)).toHaveCount(2);
});
