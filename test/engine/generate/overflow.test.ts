/** What leaves the prompt in the real engine: the oldest turns under the policy `roll`, and passages of earlier questions. */
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Message } from '@/electron/contract/chats';
import type { Attachment } from '@/electron/contract/lib/attachments';
import type { SettingsPatch } from '@/electron/contract/settings';
import { attach, bundlesWithWorkers, setUpServices } from '../../fixtures/services';
import { engine, filler, heldOut, tinyModel } from '../support';

let bundles = '';
beforeAll(async () => {
  bundles = await bundlesWithWorkers();
});

async function start(nCtx: number, maxTokens: number, settings: SettingsPatch) {
  const app = await setUpServices({ engine: engine(), models: path.dirname(tinyModel), bundles, start: false });
  await app.call('settings.update', {
    context: { nCtx, threads: 1, typeK: 'f16', typeV: 'f16' },
    sampling: { temperature: 0, seed: 1, maxTokens },
    sessions: { enabled: false },
    ...settings,
  });
  app.services.engine.start();
  await app.state('ready');
  const { id: chatId } = await app.call('chats.create', {});
  const ask = async (parentId: string | null, text: string, attachments: Attachment[] = []): Promise<Message> =>
    app.final(await app.call('turns.send', { chatId, parentId, text, attachments }));
  return { ...app, chatId, ask };
}

/** So hot that no end of the turn is likely: the length ends it, or the context. */
const hot = { temperature: 5, topK: 0, topP: 1, minP: 0 };

describe('the oldest turns', () => {
  it('leaves out the oldest turns once, and keeps the beginning in the cache', async () => {
    const system = filler(12);
    const { services, call, final, ask, chatId } = await start(1024, 24, {
      systemPrompt: system,
      documents: { reserve: 64 },
    });
    const question = (n: number) => `Question ${n}: ${filler(10)}What did the old clock do?`;
    let last = await ask(null, question(0));
    const pinned = (await services.engine.countTokens([{ role: 'system', content: system }], { now: 0 })).tokens;
    expect(pinned).toBeGreaterThan(120);
    expect(last.leftOut).toBeUndefined();

    const answers: Message[] = [];
    // the policy `stop` refuses what does not fit, and cuts nothing
    for (let n = 1; last.stopReason !== 'context-full'; n++) {
      last = await ask(last.id, question(n));
      answers.push(last);
    }
    expect(last).toMatchObject({ text: '', error: { code: 'context-full' } });
    expect(last.leftOut).toBeUndefined();
    expect(answers.length).toBeGreaterThan(2);

    await call('settings.update', { overflow: 'roll' });
    const rolled = await final(await call('turns.regenerate', { chatId, messageId: last.id }));
    expect(rolled).toMatchObject({ stopReason: expect.stringMatching(/end-of-turn|max-tokens/), error: null });
    expect(rolled.leftOut).toBeGreaterThanOrEqual(2);
    expect((rolled.leftOut ?? 0) % 2).toBe(0);
    const stats = rolled.stats;
    // all of the system prompt but what the template puts behind it
    expect(stats?.cachedTokens).toBeGreaterThanOrEqual(pinned - 8);
    expect(stats?.cachedTokens).toBeLessThan(pinned + 20);
    expect(stats?.promptTokens).toBeLessThanOrEqual(1024 - 64);

    // the next turn leaves out the same ones, so that its prompt goes on behind this one
    const next = await ask(rolled.id, 'And then?');
    expect(next.leftOut).toBe(rolled.leftOut);
    expect(next.stats?.cachedTokens).toBeGreaterThan((rolled.stats?.promptTokens ?? 0) - 2);
  });

  it('goes on when the context fills in the middle of an answer, without the oldest turns', async () => {
    const { call, ask } = await start(1024, 24, { documents: { reserve: 16 } });
    await call('settings.update', { overflow: 'roll', sampling: { maxTokens: 8 } });
    let last = await ask(null, `${filler(20)}What did the old clock do?`);
    last = await ask(last.id, `${filler(20)}And the rain?`);
    last = await ask(last.id, `${filler(20)}Repeat the text.`);
    expect(last.leftOut).toBeUndefined();
    const used = last.stats?.contextUsed ?? 0;
    expect(used).toBeGreaterThan(700);
    await call('settings.update', { sampling: { ...hot, maxTokens: 1100 - used } });
    const long = await ask(last.id, 'Write on.');
    expect(long.leftOut).toBeGreaterThanOrEqual(2);
    expect(long.stats?.parts).toBeGreaterThan(1);
    expect(long.stats?.answerTokens).toBeGreaterThan(1024 - used - 20);
  });

  it('refuses what does not fit even without every older turn, and says so', async () => {
    const { call, ask } = await start(1024, 24, { documents: { reserve: 64 } });
    await call('settings.update', { overflow: 'roll' });
    const first = await ask(null, 'Hello');
    const refused = await ask(first.id, filler(90));
    expect(refused).toMatchObject({
      text: '',
      stopReason: 'context-full',
      error: { code: 'context-full', message: expect.stringContaining('Even without the older messages') },
    });
  });
});

async function startWithBook() {
  const app = await start(2048, 8, { documents: { reserve: 128, retrievalTokens: 500 } });
  const whole = await attach(app.call, 'book.txt', heldOut().slice(0, 40_000));
  const book: Attachment = { ...whole, part: { kind: 'passages', passages: [] } };

  /** With what the budget said of it before. */
  async function ask(parentId: string | null, draft: string, attachments: Attachment[]) {
    const budget = await app.call('turns.budget', { chatId: app.chatId, leafId: parentId, draft, attachments });
    const answer = await app.ask(parentId, draft, attachments);
    expect(answer).toMatchObject({ error: null, stats: { promptTokens: budget.total } });
    const { promptTokens = 0, cachedTokens = 0 } = answer.stats ?? {};
    return { budget, answer, read: promptTokens - cachedTokens };
  }
  return { ...app, book, ask };
}

describe('passages of earlier questions', () => {
  const questions = ['stone', 'water', 'house', 'king', 'hand', 'night', 'door', 'road', 'light', 'voice'];

  it('ten questions in a row: each prompt is what the budget said, and so is what is read again', async () => {
    const { ask, book } = await startWithBook();
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
    const { ask, book, call, events, final, chatId } = await startWithBook();
    let last: string | null = null;
    for (const word of questions.slice(0, 3))
      last = (await ask(last, `What is said of the ${word}?`, [book])).answer.id;
    await call('settings.update', { sampling: { ...hot, maxTokens: 0 } });
    const { answer } = await ask(last, 'Write on.', []);
    expect(answer).toMatchObject({ stopReason: 'context-full' });
    expect(answer.released).toBeUndefined();

    await call('settings.update', { sampling: { maxTokens: 16 } });
    // its first end was reported already
    events.length = 0;
    const longer = await final(await call('turns.continue', { chatId, messageId: answer.id }));
    expect(longer).toMatchObject({ id: answer.id, stopReason: 'max-tokens', error: null });
    expect(longer.released).toBeGreaterThan(0);
    expect(longer.text.startsWith(answer.text)).toBe(true);
    expect(longer.stats?.answerTokens).toBe((answer.stats?.answerTokens ?? 0) + 16);
  });
});
