/** The policy `roll` in the real engine: what is left out, what stays in the cache, and an answer that outgrows its context. */
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Message } from '@/electron/contract/chats';
import { setUpServices } from '../../fixtures/services';
import { engine, filler, tinyModel } from '../support';

async function start(systemPrompt: string, reserve: number) {
  const app = await setUpServices({ engine: engine(), models: path.dirname(tinyModel), start: false });
  await app.call('settings.update', {
    context: { nCtx: 1024, threads: 1, typeK: 'f16', typeV: 'f16' },
    sampling: { temperature: 0, seed: 1, maxTokens: 24 },
    sessions: { enabled: false },
    documents: { reserve },
    systemPrompt,
  });
  app.services.engine.start();
  await app.state('ready');
  const { id: chatId } = await app.call('chats.create', {});
  const ask = async (parentId: string | null, text: string): Promise<Message> =>
    app.final(await app.call('turns.send', { chatId, parentId, text }));
  return { ...app, chatId, ask };
}

it('leaves out the oldest turns once, and keeps the beginning in the cache', async () => {
  const system = filler(12);
  const { services, call, final, ask, chatId } = await start(system, 64);
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
  const { call, ask } = await start('', 16);
  await call('settings.update', { overflow: 'roll', sampling: { maxTokens: 8 } });
  let last = await ask(null, `${filler(20)}What did the old clock do?`);
  last = await ask(last.id, `${filler(20)}And the rain?`);
  last = await ask(last.id, `${filler(20)}Repeat the text.`);
  expect(last.leftOut).toBeUndefined();
  const used = last.stats?.contextUsed ?? 0;
  expect(used).toBeGreaterThan(700);
  // so hot that no end of the turn is likely: the length ends it
  await call('settings.update', { sampling: { maxTokens: 1100 - used, temperature: 5, topK: 0, topP: 1, minP: 0 } });
  const long = await ask(last.id, 'Write on.');
  expect(long.leftOut).toBeGreaterThanOrEqual(2);
  expect(long.stats?.parts).toBeGreaterThan(1);
  expect(long.stats?.answerTokens).toBeGreaterThan(1024 - used - 20);
});

it('refuses what does not fit even without every older turn, and says so', async () => {
  const { call, ask } = await start('', 64);
  await call('settings.update', { overflow: 'roll' });
  const first = await ask(null, 'Hello');
  const refused = await ask(first.id, filler(90));
  expect(refused).toMatchObject({
    text: '',
    stopReason: 'context-full',
    error: { code: 'context-full', message: expect.stringContaining('Even without the older messages') },
  });
});
