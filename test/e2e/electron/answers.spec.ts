/** Answers of a written chat: a long one is a virtual list; formulas, tables, figures and other versions of an answer. */
import { expect, type Page } from '@playwright/test';
import { test } from '../app';
import { answers, questions, ready } from '../chat';
import { writeChat, writeLongChat } from '../chatFiles';
import { axe } from '../moments';

const formulas = [
  'The area is $A = \\pi r^2$, so a circle of \\(r = 2\\) has $4\\pi$. It costs $5 or $10.',
  '\\[\n\\int_0^\\infty e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2}\n\\]',
  `| a | b | c |\n| --- | --- | --- |\n| ${'wide'.repeat(30)} | ${'wider'.repeat(30)} | $x^2$ |`,
  '```python\nprice = "$5 and $10"  # no formula\n```',
].join('\n\n');

const open = (page: Page, title: string) =>
  page.getByTestId('chat-item').filter({ hasText: title }).getByRole('button').first().click();

const rows = (page: Page) => page.locator('[data-index]');

test('a long chat and what is in an answer', async ({ launch, dataDir }) => {
  const long = await writeLongChat(dataDir, 300);
  await writeChat(dataDir, 'Formulas', [
    { id: 'q1', parentId: null, text: 'How large is a circle?' },
    { id: 'a1', parentId: 'q1', text: 'The area grows with the radius, slowly.' },
    { id: 'a2', parentId: 'q1', text: 'The area grows with the square of the radius.', thinking: 'A circle. Pi.' },
    { id: 'q2', parentId: 'a2', text: 'In signs?' },
    { id: 'a3', parentId: 'q2', text: formulas },
  ]);
  const { page } = await launch();
  await ready(page);

  await test.step('opens at its end, with few rows in the page', async () => {
    await open(page, long.title);
    await expect(answers(page).last()).toContainText('Station 299');
    await expect(answers(page).last()).toBeInViewport();
    expect(await rows(page).count()).toBeLessThan(40);
    await expect(rows(page).last()).toHaveAttribute('aria-posinset', '600');
    await expect(page.getByRole('button', { name: 'To the end' })).toBeHidden();
  });

  await test.step('keeps its place, its focus and what is being edited while it scrolls', async () => {
    await questions(page).last().hover();
    await questions(page).last().getByRole('button', { name: 'Edit and send again' }).click();
    await page.getByTestId('edit-field').fill('half a thou');
    await page.getByTestId('messages').evaluate((list) => list.scrollTo({ top: 0 }));
    await expect(questions(page).first()).toContainText('Question 0:');
    await expect(page.getByTestId('edit-field')).toBeFocused();
    await page.getByTestId('edit-field').blur();
    await page.getByTestId('messages').evaluate((list) => list.scrollTo({ top: 3000 }));
    await expect(page.getByTestId('edit-field')).toHaveCount(0);
    await page.getByRole('button', { name: 'To the end' }).click();
    await expect(page.getByTestId('edit-field')).toHaveValue('half a thou');
    await page.getByTestId('edit-field').press('Escape');
    await expect(answers(page).last()).toBeInViewport();
  });

  await test.step('finds words in the chat and marks them', async () => {
    await page.keyboard.press('Control+f');
    await page.getByTestId('find-field').fill('station **17** is');
    await expect(page.getByTestId('find-count')).toHaveText('1 message');
    await page.keyboard.press('Enter');
    await expect(page.locator('[data-message-id="a17"]')).toBeInViewport();
    await page.getByTestId('find-field').fill('17th station');
    await page.keyboard.press('Enter');
    await expect(page.getByTestId('find-count')).toContainText('1 of');
    await expect(page.locator('[data-message-id="q17"]')).toBeInViewport();
    await expect.poll(() => page.evaluate(() => CSS.highlights.get('found')?.size ?? 0)).toBe(1);
    await page.keyboard.press('Escape');
    await expect(page.getByTestId('find-field')).toBeHidden();
    expect(await page.evaluate(() => CSS.highlights.has('found'))).toBe(false);
  });

  await test.step('draws formulas and leaves prices alone', async () => {
    await open(page, 'Formulas');
    const last = answers(page).last();
    await expect(last.locator('.katex')).toHaveCount(5);
    await expect(last.locator('.katex-display')).toHaveCount(1);
    await expect(last).toContainText('It costs $5 or $10.');
    await expect(last.getByTestId('code-block')).toContainText('"$5 and $10"');
    const ofFormulas = () =>
      page.evaluate(() =>
        [...document.fonts].some(({ family, status }) => family.includes('KaTeX') && status === 'loaded'),
      );
    await expect.poll(ofFormulas).toBe(true);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  });

  await test.step('shows all figures of an answer', async () => {
    await answers(page).last().getByTestId('answer-stats').click();
    await expect(page.getByTestId('answer-figures')).toContainText('K turbo4, V turbo4');
    await expect(page.getByTestId('answer-figures')).toContainText('by itself');
    await page.keyboard.press('Escape');
    await expect(page.getByTestId('answer-figures')).toBeHidden();
  });

  await test.step('compares two answers and shows the other one', async () => {
    await page.getByTestId('compare-open').click();
    const dialog = page.getByTestId('compare');
    await expect(dialog.locator('mark')).not.toHaveCount(0);
    await expect(dialog.getByRole('article', { name: 'Version 1' }).locator('mark').last()).toContainText('slowly');
    const { violations } = await axe(page);
    expect(violations.map(({ id, nodes }) => ({ id, html: nodes[0]?.html }))).toEqual([]);
    await page.keyboard.press('Escape');
    await expect(dialog).toBeHidden();
    await page.getByTestId('compare-open').click();
    await page.getByRole('button', { name: 'Show in the chat' }).click();
    await expect(answers(page).last()).toContainText('slowly');
    await expect(answers(page)).toHaveCount(1);
  });
});
