/** Passages of earlier questions leave the prompt, in the real engine: the budget to the token, and the price in tokens read. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { Attachment, Message } from '@/electron/contract/chats';
import { attach, bundlesWithWorkers, setUpServices } from '../../fixtures/services';
import { engine, root, tinyModel } from '../support';

let bundles = '';
beforeAll(async () => {
  bundles = await bundlesWithWorkers();
}, 60_000);

async function start(nCtx: number) {
  const app = await setUpServices({ engine: engine(), models: path.dirname(tinyModel), bundles, start: false });
  const { call, final } = app;
  await call('settings.update', {
    context: { nCtx, threads: 1, typeK: 'f16', typeV: 'f16' },
    sampling: { temperature: 0, seed: 1, maxTokens: 8 },
    sessions: { enabled: false },
    documents: { reserve: 128, retrievalTokens: 500 },
  });
  app.services.engine.start();
  await app.state('ready');
  const text = (await readFile(path.join(root, 'test', 'fixtures', 'heldout.txt'), 'utf8')).slice(0, 40_000);
  const whole = await attach(call, 'book.txt', text);
  const book: Attachment = { ...whole, part: { kind: 'passages', passages: [] } };
  const { id: chatId } = await call('chats.create', {});

  /** With what the budget said of it before. */
  async function ask(parentId: string | null, draft: string, attachments: Attachment[]) {
    const budget = await call('turns.budget', { chatId, leafId: parentId, draft, attachments });
    const answer: Message = await final(await call('turns.send', { chatId, parentId, text: draft, attachments }));
    expect(answer).toMatchObject({ error: null, stats: { promptTokens: budget.total } });
    const { promptTokens = 0, cachedTokens = 0 } = answer.stats ?? {};
    return { budget, answer, read: promptTokens - cachedTokens };
  }
  return { ...app, chatId, book, ask };
}

const questions = ['stone', 'water', 'house', 'king', 'hand', 'night', 'door', 'road', 'light', 'voice'];

it('ten questions in a row: each prompt is what the budget said, and so is what is read again', async () => {
  const { ask, book } = await start(2048);
  let last: string | null = null;
  let before = 0;
  const reads: string[] = [];
  for (const word of questions) {
    const { budget, answer, read } = await ask(last, `What is said of the ${word}?`, [book]);
    const { documents, message, byDocument, readAgain = 0, released = 0 } = budget;
    expect(budget.fits).toBe(true);
    expect(answer.released ?? 0).toBe(before + released);
    const own = message + (byDocument.at(-1)?.tokens ?? 0);
    expect(documents).toBeGreaterThan(0);
    // words of the template around the messages, and the end of the last answer, which was never evaluated
    const slack = 24;
    expect(read - own - readAgain).toBeGreaterThanOrEqual(-slack);
    expect(read - own - readAgain).toBeLessThanOrEqual(slack);
    before += released;
    reads.push(`${read}${released > 0 ? ` (${released} released)` : ''}`);
    last = answer.id;
  }
  console.log(`tokens read for each of ten questions: ${reads.join(', ')}`);
  expect(before).toBeGreaterThan(4);

  // nothing comes back: the next turn goes on behind this one
  const next = await ask(last, 'Sure?', []);
  expect(next.answer.released).toBe(before);
  expect(next.read).toBeLessThan(40);
});

it('an answer that filled the context goes on without them', async () => {
  const { ask, book, call, events, final, chatId } = await start(2048);
  let last: string | null = null;
  for (const word of questions.slice(0, 3)) last = (await ask(last, `What is said of the ${word}?`, [book])).answer.id;
  // so hot that no end of the turn is likely: the context ends it
  await call('settings.update', { sampling: { maxTokens: 0, temperature: 5, topK: 0, topP: 1, minP: 0 } });
  const { answer } = await ask(last, 'Write on.', []);
  expect(answer).toMatchObject({ stopReason: 'context-full' });
  expect(answer.released).toBeUndefined();

  await call('settings.update', { sampling: { maxTokens: 16 } });
  // the first end of it was told already
  events.length = 0;
  const longer = await final(await call('turns.continue', { chatId, messageId: answer.id }));
  expect(longer).toMatchObject({ id: answer.id, stopReason: 'max-tokens', error: null });
  expect(longer.released).toBeGreaterThan(0);
  expect(longer.text.startsWith(answer.text)).toBe(true);
  expect(longer.stats?.answerTokens).toBe((answer.stats?.answerTokens ?? 0) + 16);
});
