/** The budget of a message against what the engine then counts, through the services, with a real model. */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import type { Attachment, Message } from '@/electron/contract/chats';
import type { Turn } from '@/electron/contract/contract';
import type { ChatMessage } from '@/electron/engine/native/types';
import { TokenCounter } from '@/electron/engine/tokenCounter';
import { attach, setUpServices } from '../../fixtures/services';
import { engine, loadTiny, root, tinyModel } from '../support';

const heldout = () => readFile(join(root, 'test', 'fixtures', 'heldout.txt'), 'utf8');

it('the total is the prompt of the answer that follows, and every part is told', async () => {
  const { call, final } = await setUpServices({ engine: engine(), models: dirname(tinyModel) });
  const sampling = { maxTokens: 4, temperature: 0 };
  await call('settings.update', { systemPrompt: 'Answer in one word.', sampling, context: { threads: 1 } });
  const text = await heldout();
  const one = await attach(call, 'one.txt', text.slice(0, 3000));
  const two = await attach(call, 'two.md', `# First\n${text.slice(3000, 4000)}\n# Second\n${text.slice(4000, 5000)}`);
  const section: Attachment = { ...two, part: { kind: 'sections', sections: [0] } };
  const { id: chatId } = await call('chats.create', {});

  let leafId: string | null = null;
  let before: Message['stats'] = null;
  const turns: [string, Attachment[]][] = [
    ['What is this?', []],
    ['And this?', [one]],
    ['\nCompare them.\n\nIn two lines.', [two, section]],
    ['Sure?', []],
  ];
  for (const [draft, attachments] of turns) {
    const budget = await call('turns.budget', { chatId, leafId, draft, attachments });
    const { system, documents, history, message, template, total } = budget;
    expect(system + documents + history + message + template).toBe(total);
    expect(budget.byDocument.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(documents);
    const counted: Turn = await call('turns.send', { chatId, parentId: leafId, text: draft, attachments });
    const { stats } = await final(counted);
    expect(stats?.promptTokens).toBe(total);
    // all of the former turn but the end of its answer, which was not evaluated, was in the cache
    if (before) expect(stats?.cachedTokens).toBeGreaterThanOrEqual(before.promptTokens);
    before = stats;
    leafId = counted.assistantMessage.id;
  }
});

it('counts at random cuts and edits as the tokenizer does', async () => {
  const model = await loadTiny();
  const counter = new TokenCounter(model);
  const text = await heldout();
  for (let run = 0; run < 30; run++) {
    const from = (run * 7919) % 20_000;
    const document = `[Page 1]\n${text.slice(from, from + 4000)}\n[Page 2]\n\t indented\n\n\n${text.slice(from + 9000, from + 9500)}`;
    const messages: ChatMessage[] = [{ role: 'user', content: `${document}\n\n${'Why? '.repeat(run % 4)}${run}` }];
    expect(await counter.countChat(messages, { now: 0 })).toBe((await model.chatTokens(messages, { now: 0 })).length);
  }
});

it('of a draft beside 500 KB is counted for each keystroke; the times are reported', async () => {
  const { call } = await setUpServices({ engine: engine(), models: dirname(tinyModel) });
  const text = (await heldout()).repeat(20).slice(0, 500_000);
  const long = await attach(call, 'long.txt', text);
  const question = { chatId: null, leafId: null, attachments: [long] };
  const times: number[] = [];
  const totals: number[] = [];
  for (const draft of ['', 'W', 'Wh', 'Wha', 'What', 'What ', 'What i']) {
    const started = performance.now();
    totals.push((await call('turns.budget', { ...question, draft })).total);
    times.push(Math.round(performance.now() - started));
  }
  console.log(`budget beside 500 KB: first ${times[0]} ms, then ${times.slice(1).join(', ')} ms for each keystroke`);
  expect(totals[0]).toBeGreaterThan(100_000);
  expect(totals.at(-1)).toBeGreaterThan(totals[0] ?? 0);
});
