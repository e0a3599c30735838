/** What an answer cites, in the real window: what leads to its place, and what no document has. */
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import { makePdf } from '@/test/fixtures/documents/pdf';
import { attachFile, chooseFiles, shareApp, test } from '../app';
import { call } from '../chat';
import { axe, axeInBoth } from '../moments';

const question = 'Why is it said that “nobody ever rows to the far lighthouse”?';
const answer = [
  'The keeper writes: “The lamp was lit at\nnine in the evening” [Page 2], and **"the lamp was never lit on a Sunday at all"** on page 300.',
  'The manual says:\n\n> The boat was painted green by hand. (page 3)\n\nand\n\n> The boat was sold to a king. (page 3)',
  'That “nobody ever rows to the far lighthouse” is your word, “far lamp” is a term, “The Keeper of the Lamp” a book.',
  '```\nprint("no line of the document is like this")\n```',
].join('\n\n');

async function openAnswer(page: Page, documentId: string, title: string): Promise<void> {
  const base = { createdAt: 1 };
  const attachments = [{ documentId, name: 'lamps.pdf', part: { kind: 'whole' as const } }];
  await call(page, 'chats.import', {
    chat: {
      ...{ id: title, title, createdAt: 1, updatedAt: 1, pinned: false, folder: null },
      ...{ systemPrompt: '', leafId: `a-${title}` },
      messages: [
        { ...base, id: `q-${title}`, parentId: null, role: 'user', text: question, attachments },
        {
          ...{ ...base, id: `a-${title}`, parentId: `q-${title}`, role: 'assistant', text: answer },
          stopReason: 'end-of-turn',
        },
      ],
    },
  });
  await page.getByTestId('chat-item').filter({ hasText: title }).getByRole('button').first().click();
}

/** In both themes, once their colors are there. */
async function expectAccessible(page: Page): Promise<void> {
  // what inherits a color changes behind its parent
  await expect(async () => expect(await axeInBoth(page)).toEqual([])).toPass();
}

const shared = shareApp();

test('what an answer cites leads to its place, and what no document has is marked', async () => {
  const { app, page } = await shared.window();
  const dataDir = shared.dataDir();
  const pdf = path.join(dataDir, 'lamps.pdf');
  const lines = ['The lamp was lit at', 'nine in the evening.', '', 'The boat was painted', 'green by hand.'];
  await writeFile(pdf, makePdf([{ lines: ['Lamps'] }, { lines: lines.slice(0, 2) }, { lines: lines.slice(3) }]));
  await chooseFiles(app, pdf);
  const [jobId] = await call(page, 'documents.attachFromDialog', undefined);
  const job = async () => (await call(page, 'documents.jobs', undefined)).find(({ id }) => id === jobId);
  await expect.poll(async () => (await job())?.state).toBe('done');
  await openAnswer(page, (await job())?.document?.id ?? '', 'cited-words');

  const doubts = page.getByTestId('doubt');
  const invented = ['"the lamp was never lit on a Sunday at all"', 'page 300', 'The boat was sold to a king.'];
  await expect(doubts).toHaveText(invented);
  await expect(page.getByTestId('citation')).toHaveText([
    /^“The lamp was lit/,
    ...['[Page 2]', 'The boat was painted green by hand.', 'page 3', 'page 3'],
  ]);
  for (const [index, words] of ['Not in lamps.pdf', 'lamps.pdf has no page 300', 'Not in lamps.pdf'].entries()) {
    await expect(doubts.nth(index)).toHaveAccessibleDescription(words);
  }
  await expectAccessible(page);

  await doubts.nth(1).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog')).toContainText('lamps.pdf has no page 300');
  expect((await axe(page)).violations).toEqual([]);
  await page.keyboard.press('Escape');
  await expect(doubts.nth(1)).toBeFocused();
});

/** Where the marks lie on the picture, and whether ink is under each: the picture is drawn on a canvas and looked at. */
async function inkUnderMarks(page: Page): Promise<number[]> {
  return page.getByTestId('page-picture').evaluate((image: HTMLImageElement) => {
    const canvas = document.createElement('canvas');
    canvas.width = image.naturalWidth;
    canvas.height = image.naturalHeight;
    const context = canvas.getContext('2d');
    context?.drawImage(image, 0, 0);
    const sheet = image.getBoundingClientRect();
    const scale = image.naturalWidth / sheet.width;
    return [...document.querySelectorAll('[data-testid="page-mark"]')].map((mark) => {
      const { left, top, width, height } = mark.getBoundingClientRect();
      const box = [(left - sheet.left) * scale, (top - sheet.top) * scale, width * scale, height * scale] as const;
      const data = context?.getImageData(...box).data ?? new Uint8ClampedArray();
      return data.filter((value, index) => index % 4 === 0 && value < 128).length;
    });
  });
}

test('a citation leads to the picture of its page, with its words marked', async () => {
  const { app, page } = await shared.window();
  const dataDir = shared.dataDir();
  const pdf = path.join(dataDir, 'lamps.pdf');
  const lines = ['The lamp was lit at', 'nine in the evening.'];
  await writeFile(pdf, makePdf([{ lines: ['Lamps'] }, { lines: ['', '', ...lines] }, { lines: ['The boat'] }]));
  await chooseFiles(app, pdf);
  const [jobId] = await call(page, 'documents.attachFromDialog', undefined);
  const job = async () => (await call(page, 'documents.jobs', undefined)).find(({ id }) => id === jobId);
  await expect.poll(async () => (await job())?.state).toBe('done');
  const documentId = (await job())?.document?.id ?? '';
  // the copy is what is shown: the file itself may be gone by then
  await rm(pdf);
  await openAnswer(page, documentId, 'cited-page');

  const quotation = page.getByTestId('citation').filter({ hasText: 'The lamp was lit' });
  const view = (name: string) => page.getByRole('group', { name: 'View' }).getByText(name, { exact: true });
  await quotation.click();
  await expect(page.getByTestId('document-mark')).toBeInViewport();
  await view('Page').click();
  await expect(page.getByTestId('page-label')).toHaveText('Page 2 of 3');
  await expect(page.getByTestId('page-mark')).toHaveCount(2);
  expect(Math.min(...(await inkUnderMarks(page)))).toBeGreaterThan(20);
  await expect(page.getByRole('img', { name: 'Page 2 of lamps.pdf' })).toBeInViewport();
  await expectAccessible(page);

  // by keyboard: larger, the next page, and back to the width of the panel
  const area = page.getByTestId('document-page');
  const picture = page.getByTestId('page-picture');
  const width = () => picture.evaluate((image) => image.getBoundingClientRect().width);
  const fitted = await width();
  await area.focus();
  await page.keyboard.press('+');
  await expect.poll(width).toBeCloseTo(fitted * 1.25, 0);
  await expect(page.getByTestId('page-zoom')).toHaveText('125%');
  await page.keyboard.press('0');
  await expect(page.getByTestId('page-zoom')).toHaveText('Fit');
  await area.evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await page.keyboard.press('PageDown');
  await expect(page.getByTestId('page-label')).toHaveText('Page 3 of 3');
  await expect(page.getByRole('img', { name: 'Page 3 of lamps.pdf' })).toBeVisible();
  await expect(page.getByTestId('page-mark')).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Next page' })).toBeDisabled();
  await view('Text').click();
  await expect(page.getByTestId('document-text').getByText('The boat')).toBeInViewport();
  await expect(page.getByTestId('document-mark')).toHaveCount(0);
  await view('Page').click();
  await expect(page.getByTestId('page-label')).toHaveText('Page 3 of 3');

  // the next citation opens as the person reads now, and another one in the text after it was chosen again
  await quotation.click();
  await expect(page.getByTestId('page-mark')).toHaveCount(2);
  await view('Text').click();
  await expect(page.getByTestId('document-mark')).toBeInViewport();

  // a text has no pages to show
  const notes = path.join(dataDir, 'notes.md');
  await writeFile(notes, '# Lamps\n\nThe lamp.\n\n# Boats\n\nThe boat.');
  await page.getByTestId('document-close').click();
  await page.getByTestId('new-chat').click();
  await attachFile({ app, page }, notes);
  await page.getByTestId('document-card').getByRole('button', { name: 'notes.md' }).first().click();
  await expect(view('Text')).toBeVisible();
  await expect(view('Page')).toHaveCount(0);
});
