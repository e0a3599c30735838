/** Text that is written from right to left, wherever the window shows words of a person, a model or a document. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Locator } from '@playwright/test';
import { attachFile, test } from '../app';
import { answers, questions, ready } from '../chat';
import { writeChat, writeChats } from '../chatFiles';

const arabic = 'المفتاح الأزرق في الخزانة الكبيرة.';
const english = 'The blue key is in the large cupboard.';
const code = 'const key = "المفتاح";';
const title = 'أين المفتاح الأزرق؟';
const answer = [
  `### ${arabic}`,
  `${arabic} اكتب \`print("key")\` ثم انتظر، والمساحة $x^2$.`,
  english,
  `1. ${arabic}\n2. ${english}\n   - ${arabic}`,
  `- ${arabic}\n\n- ${english}`,
  `> ${arabic}`,
  `| الاسم | Name |\n| --- | --- |\n| ${arabic} | ${english} |`,
  `\`\`\`js\n${code}\n\`\`\``,
].join('\n\n');

/** How the browser writes each, after all attributes and style sheets. */
const directions = (blocks: Locator): Promise<string[]> =>
  blocks.evaluateAll((all) => all.map((block) => getComputedStyle(block).direction));

test('each block by its own letters, code from left to right', async ({ launch, dataDir }) => {
  await writeChat(dataDir, title, [
    { id: 'q1', parentId: null, text: `${title}\n${english}` },
    { id: 'a1', parentId: 'q1', text: answer, thinking: arabic },
    { id: 'q2', parentId: 'a1', text: english },
    { id: 'a2', parentId: 'q2', text: english },
  ]);
  const folder = 'مفاتيح (1)';
  await writeChats(dataDir, [{ id: 'in-folder', title: english, folder, texts: [english] }]);
  const file = path.join(dataDir, 'keys.txt');
  await writeFile(file, `${arabic}\n${english}\n`);
  const { app, page } = await launch({ settings: { theme: 'light' } });
  await ready(page);
  await expect(page.getByTestId('folder').getByText(folder)).toHaveCSS('direction', 'rtl');
  const item = page.getByTestId('chat-item').filter({ hasText: title }).getByRole('button').first();
  await expect(item).toHaveCSS('direction', 'rtl');
  await item.click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveCSS('direction', 'rtl');
  await expect(questions(page).first().getByText(title)).toHaveCSS('direction', 'rtl');
  await expect(questions(page).last().getByText(english)).toHaveCSS('direction', 'ltr');

  const shown = answers(page).first();
  await expect(shown.getByTestId('code-block')).toBeVisible();
  // code and formulas are drawn a little later than the rest
  const expectAll = (selector: string, wanted: string[]) =>
    expect.poll(() => directions(shown.locator(`.prose-c ${selector}`)), selector).toEqual(wanted);
  await expectAll('[data-level]', ['rtl']);
  await expectAll('> p', ['rtl', 'ltr']);
  await expectAll('ol > li', ['rtl', 'ltr']);
  await expectAll('> ul > li', ['rtl', 'ltr']);
  await expectAll('> ul > li > p', ['rtl', 'ltr']);
  await expectAll('li ul > li', ['rtl']);
  await expectAll('blockquote', ['rtl']);
  await expectAll('th', ['rtl', 'ltr']);
  await expectAll('td', ['rtl', 'ltr']);
  await expectAll('code', ['ltr', 'ltr']);
  await expectAll('pre', ['ltr']);
  await expectAll('.formula', ['ltr']);
  // the full stop, the last letter, is at the left end, and the text begins at the right
  const sides = await shown.locator('.prose-c > p').evaluateAll((all) =>
    all.map((block) => {
      const range = document.createRange();
      range.selectNodeContents(block);
      const lines = [...range.getClientRects()].filter(({ width }) => width > 0);
      const { left, right } = block.getBoundingClientRect();
      return {
        left: Math.min(...lines.map((line) => line.left)) - left,
        right: right - Math.max(...lines.map((line) => line.right)),
      };
    }),
  );
  expect(sides[0]?.right).toBeLessThan(2);
  expect(sides[1]?.left).toBeLessThan(2);
  // the number of an item stands on the side where it begins, inside the answer
  const marks = await shown.locator('.prose-c ol > li').evaluateAll((all) =>
    all.map((li) => {
      const list = li.parentElement?.getBoundingClientRect();
      const { left, right } = li.getBoundingClientRect();
      return { left: left - (list?.left ?? 0), right: (list?.right ?? 0) - right };
    }),
  );
  expect(marks[0]?.right).toBeGreaterThan(15);
  expect(marks[0]?.left).toBe(0);
  expect(marks[1]?.left).toBeGreaterThan(15);
  expect(marks[1]?.right).toBe(0);

  await shown.getByRole('button', { name: /^Thought/ }).click();
  await expect(shown.getByTestId('thinking').getByText(arabic)).toHaveCSS('direction', 'rtl');
  await page.getByTestId('composer').fill(arabic);
  await expect(page.getByTestId('composer')).toHaveCSS('direction', 'rtl');
  await page.getByTestId('composer').fill(english);
  await expect(page.getByTestId('composer')).toHaveCSS('direction', 'ltr');

  await attachFile({ app, page }, file);
  await page.getByTestId('document-card').getByRole('button', { name: 'keys.txt', exact: true }).click();
  const text = page.getByTestId('document-text').getByText(arabic);
  await expect(text).toHaveCSS('direction', 'rtl');
  // of the lines of one text each is by its own
  await expect(text).toHaveCSS('unicode-bidi', 'plaintext');
  await page.getByTestId('document-close').click();
  await page.getByTestId('chat-search').fill('المفتاح');
  const hit = page.getByTestId('search-hit');
  await expect(hit.getByRole('button').first()).toHaveCSS('direction', 'rtl');
  await expect(hit.getByTestId('search-snippet').first().locator('bdi')).toHaveCSS('direction', 'rtl');
});
