/** Ten questions in a row about a manual that is far longer than the context: earlier passages make room, and the window says so. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import type { Message } from '@/electron/contract/chats';
import type { OperationInput } from '@/electron/contract/contract';
import type { Attachment } from '@/electron/contract/lib/attachments';
import { manualFacts, manualPages, plantedManual } from '@/test/fixtures/documents/planted';
import { attachFile, test } from '../app';
import { answers, call, greedy, newestChat, questions, ready, send } from '../chat';
import { axe } from '../moments';

const readMs = 120_000;

/** The tokens of the next prompt, once they are those of what is written. */
async function counted(page: Page, question: string): Promise<number> {
  await page.getByTestId('composer').fill(question);
  const meter = page.getByTestId('draft-tokens');
  await expect(meter).not.toHaveAttribute('data-stale', 'true');
  return Number(await meter.getAttribute('data-tokens'));
}

/** Asks, and waits for the answer in the store: of a long chat only the rows near the end are in the page. */
async function answered(page: Page, question: string): Promise<Message[]> {
  await send(page, question);
  const asked = async () => (await newestChat(page)).messages.findLast(({ role }) => role === 'user')?.text;
  await expect.poll(asked).toBe(question);
  await expect
    .poll(async () => (await newestChat(page)).messages.at(-1)?.stopReason, { timeout: readMs })
    .not.toBeNull();
  const { messages } = await newestChat(page);
  await expect(answers(page).last()).toHaveAttribute('data-message-id', messages.at(-1)?.id ?? '');
  return messages;
}

/** Whose words alone leave room for a question, and for no passage beside it. */
function longChat(attachments: Attachment[]): OperationInput<'chats.import'>['chat'] {
  const text = 'The keeper wrote the hour down. '.repeat(870);
  return {
    ...{ id: 'long', title: 'A long story', createdAt: 1, updatedAt: 1, pinned: false, folder: null },
    ...{ systemPrompt: '', leafId: 'a' },
    messages: [
      { ...{ id: 'q', parentId: null, role: 'user', text, createdAt: 1 }, attachments },
      { id: 'a', parentId: 'q', role: 'assistant', text: 'So he did.', createdAt: 1, stopReason: 'end-of-turn' },
    ],
  };
}

test('ten questions about a manual in an 8K context', async ({ launch, dataDir }) => {
  test.setTimeout(600_000);
  const file = path.join(dataDir, 'manual.pdf');
  await writeFile(file, plantedManual());
  const { app, page } = await launch({
    settings: { theme: 'light', context: { nCtx: 8192 }, sampling: { ...greedy, maxTokens: 24 } },
  });
  await ready(page);
  await attachFile({ app, page }, file);
  await expect(page.getByTestId('card-part')).toHaveText(`whole, ${manualPages} pages`);
  await page.getByTestId('offer-passages').click();
  await expect(page.getByTestId('no-fit')).toBeHidden();

  const status = page.getByTestId('composer-status');
  const last = answers(page).last();
  let left = 0;
  for (const { question, place } of manualFacts) {
    const tokens = await counted(page, question);
    await expect(page.getByTestId('send')).toBeEnabled();
    const leaves = /the passages of .* will leave the prompt; the words stay\. About [\d,]+ tokens are read again/;
    const foretold = leaves.test((await status.textContent()) ?? '');
    const messages = await answered(page, question);
    await expect(page.getByTestId('error-banner')).toHaveCount(0);
    await expect(last).toHaveAttribute('data-state', /^(end-of-turn|max-tokens)$/);
    await expect(last.getByTestId('answer-stats')).toHaveAttribute('data-prompt-tokens', String(tokens));
    await expect(last.getByTestId('released')).toHaveCount(foretold ? 1 : 0);
    const part = messages.at(-2)?.attachments[0]?.part;
    expect(part?.kind === 'passages' && part.passages.map(({ label }) => label)).toContain(`Page ${place}`);
    // the built-in model is small: what was found stands below its answer
    await expect(last.getByTestId('found-passages')).toContainText(`Page ${place}`);
    const { released = 0, text } = messages.at(-1) ?? {};
    expect(text).not.toBe('');
    expect(released > left).toBe(foretold);
    left = released;
  }
  const given = (await newestChat(page)).messages.filter(({ role, text }) => role === 'assistant' && text !== '');
  console.log(
    `${given.length} of ${manualFacts.length} questions in a row were answered: ${manualPages} pages, 8,192 tokens of context; ` +
      `the passages of ${left} questions left the prompt on the way`,
  );
  expect((await axe(page)).violations).toEqual([]);
  expect(left).toBeGreaterThanOrEqual(6);
  expect((await newestChat(page)).messages).toHaveLength(2 * manualFacts.length);

  // the passages of the last question are held, those of the first are not, and can still be read
  await expect(questions(page).last().getByTestId('sent-document')).not.toHaveAttribute('data-released', 'true');
  await page.getByTestId('messages').evaluate((list) => list.scrollTo(0, 0));
  const first = questions(page).filter({ hasText: manualFacts[0]?.question ?? '?' });
  const chip = first.getByTestId('sent-document');
  await expect(chip).toHaveAttribute('data-released', 'true');
  await expect(chip).toContainText('no longer in the prompt');
  await chip.click();
  await expect(page.getByTestId('released-note')).toContainText('The model no longer sees these passages');
  await expect(page.getByTestId('used-parts')).toContainText(`Page ${manualFacts[0]?.place}`);
  await page
    .getByTestId('used-parts')
    .getByRole('button', { name: `Page ${manualFacts[0]?.place}` })
    .first()
    .click();
  await expect(page.getByTestId('document-mark').first()).toBeInViewport();
  await page.getByTestId('document-close').click();

  // beside so many words there is room for no passage: that is said before anything is sent, with what would help
  const { attachments = [] } = (await newestChat(page)).messages[0] ?? {};
  await call(page, 'chats.import', { chat: longChat(attachments) });
  await page.getByTestId('chat-item').filter({ hasText: 'A long story' }).getByRole('button').first().click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('A long story');
  await expect(page.getByTestId('document-card')).toHaveAttribute('data-part', 'passages');
  await counted(page, manualFacts[0]?.question ?? '?');
  const noFit = page.getByTestId('no-fit');
  await expect(noFit).toContainText('This chat is full: no room is left for passages of manual.pdf.');
  await expect(status).toHaveText('No room is left for passages of manual.pdf');
  await expect(page.getByTestId('send')).toBeDisabled();
  await expect(noFit.getByTestId('offer-let-go')).toBeVisible();
  await noFit.getByTestId('offer-new-chat').click();
  await expect(answers(page)).toHaveCount(0);
  await expect(page.getByTestId('document-card')).toHaveAttribute('data-part', 'passages');
  await expect(page.getByTestId('composer')).toHaveValue(/What did Ravi Dubois carry\?$/);
  await expect(page.getByTestId('send')).toBeEnabled();
  await expect(noFit).toBeHidden();
});
