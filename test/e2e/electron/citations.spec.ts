/** What an answer cites, in the real window: what leads to its place, and what no document has. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import { makePdf } from '@/test/fixtures/documents/pdf';
import { chooseFiles, test } from '../app';
import { call } from '../chat';
import { axe } from '../moments';

const question = 'Why is it said that “nobody ever rows to the far lighthouse”?';
const answer = [
  'The keeper writes: “The lamp was lit at\nnine in the evening” [Page 2], and **"the lamp was never lit on a Sunday at all"** on page 300.',
  'The manual says:\n\n> The boat was painted green by hand. (page 3)\n\nand\n\n> The boat was sold to a king. (page 3)',
  'That “nobody ever rows to the far lighthouse” is your word, “far lamp” is a term, “The Keeper of the Lamp” a book.',
  '```\nprint("no line of the document is like this")\n```',
].join('\n\n');

async function openAnswer(page: Page, documentId: string): Promise<void> {
  const base = { createdAt: 1 };
  const attachments = [{ documentId, name: 'lamps.pdf', part: { kind: 'whole' as const } }];
  await call(page, 'chats.import', {
    chat: {
      ...{ id: 'citing', title: 'The lamp', createdAt: 1, updatedAt: 1, pinned: false, folder: null },
      ...{ systemPrompt: '', leafId: 'a' },
      messages: [
        { ...base, id: 'q', parentId: null, role: 'user', text: question, attachments },
        { ...base, id: 'a', parentId: 'q', role: 'assistant', text: answer, stopReason: 'end-of-turn' },
      ],
    },
  });
  await page.getByTestId('chat-item').filter({ hasText: 'The lamp' }).getByRole('button').first().click();
}

test('what an answer cites leads to its place, and what no document has is marked', async ({ launch, dataDir }) => {
  const pdf = path.join(dataDir, 'lamps.pdf');
  const lines = ['The lamp was lit at', 'nine in the evening.', '', 'The boat was painted', 'green by hand.'];
  await writeFile(pdf, makePdf([{ lines: ['Lamps'] }, { lines: lines.slice(0, 2) }, { lines: lines.slice(3) }]));
  const { app, page } = await launch();
  await page.waitForFunction(() => 'concertina' in window);
  await chooseFiles(app, pdf);
  const [jobId] = await call(page, 'documents.attachFromDialog', undefined);
  const job = async () => (await call(page, 'documents.jobs', undefined)).find(({ id }) => id === jobId);
  await expect.poll(async () => (await job())?.state).toBe('done');
  await openAnswer(page, (await job())?.document?.id ?? '');

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
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect((await axe(page)).violations).toEqual([]);
  }

  await doubts.nth(1).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog')).toContainText('lamps.pdf has no page 300');
  expect((await axe(page)).violations).toEqual([]);
  await page.keyboard.press('Escape');
  await expect(doubts.nth(1)).toBeFocused();
});
