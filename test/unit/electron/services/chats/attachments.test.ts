/** Documents attached to questions, through the services together. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Attachment } from '@/electron/contract/chats';
import { attach, setUpServices as setUp } from '@/test/fixtures/services';

test('the model reads an attached document before the question; an edit keeps it, or takes another', async () => {
  const { call, final, send } = await setUp();
  const notes = await attach(call, 'Notes.txt', 'The gate is green.');
  const block = '<document name="Notes.txt">\n[text]\nThe gate is green.\n</document>\n\n';
  const { id, turn } = await send('Colour?', [notes]);
  expect(turn.userMessage).toMatchObject({ text: 'Colour?', attachments: [notes] });
  // the fake engine answers with its prompt
  expect((await final(turn)).text).toBe(`${block}Colour?`);

  const messageId = turn.userMessage?.id ?? '';
  const reworded = await call('turns.edit', { chatId: id, messageId, text: 'Which colour?' });
  expect((await final(reworded)).text).toBe(`${block}Which colour?`);
  const without = await call('turns.edit', { chatId: id, messageId, text: 'Colour?', attachments: [] });
  expect((await final(without)).text).toBe('Colour?');
  const again = await call('turns.regenerate', { chatId: id, messageId });
  expect((await final(again)).text).toBe(`${block}Colour?`);
  const { messages } = await call('chats.open', { chatId: id });
  expect(messages.map(({ attachments }) => attachments.length)).toEqual([1, 0, 1, 0, 0, 0, 0]);
});

test('a document that is gone is named before anything is written, and attaching it again mends the chat', async () => {
  const { call, final, dataFolder, services, send } = await setUp();
  const notes = await attach(call, 'Notes.txt', 'The gate is green.');
  const { id, turn } = await send('Colour?', [notes]);
  await final(turn);
  await services.close();
  await rm(join(dataFolder, 'documents'), { recursive: true });

  const next = await setUp({ data: dataFolder });
  const gone = { code: 'not-found', message: expect.stringContaining('Notes.txt') };
  const follow = { chatId: id, parentId: turn.assistantMessage.id, text: 'Sure?' };
  await expect(next.call('turns.send', follow)).rejects.toMatchObject(gone);
  await expect(
    next.call('turns.edit', { chatId: id, messageId: turn.userMessage?.id ?? '', text: 'x' }),
  ).rejects.toMatchObject(gone);
  await expect(
    next.call('turns.regenerate', { chatId: id, messageId: turn.assistantMessage.id }),
  ).rejects.toMatchObject(gone);
  await expect(
    next.call('turns.budget', { chatId: id, leafId: turn.assistantMessage.id, draft: '', attachments: [] }),
  ).rejects.toMatchObject(gone);
  expect((await next.call('chats.open', { chatId: id })).messages).toHaveLength(2);

  await attach(next.call, 'Notes.txt', 'The gate is green.');
  expect((await next.final(await next.call('turns.send', follow))).text).toBe('Sure?');
});

test('the budget names every part, and their sum is what the engine counts', async () => {
  const { call, final, send } = await setUp();
  await call('settings.update', { systemPrompt: 'Be kind.', documents: { reserve: 4000 } });
  const notes = await attach(call, 'Notes.txt', 'The gate is green.');
  const { id, turn } = await send('one two three', [notes]);
  await final(turn);
  const question = { chatId: id, leafId: turn.assistantMessage.id, draft: 'four five', attachments: [notes] };
  const budget = await call('turns.budget', question);
  const { system, documents, history, message, template, total } = budget;
  expect(system + documents + history + message + template).toBe(total);
  expect(budget).toMatchObject({ system: 2, message: 2, contextSize: 8192, reserve: 2048, fits: true, over: 0 });
  expect(budget.byDocument).toEqual([
    { documentId: notes.documentId, tokens: documents / 2, inBranch: true },
    { documentId: notes.documentId, tokens: documents / 2, inBranch: false },
  ]);
  const long = await call('turns.budget', { ...question, draft: 'word '.repeat(7000).trim() });
  expect(long).toMatchObject({ message: 7000, fits: false, over: long.total + 2048 - 8192 });
  expect(await call('documents.countTokens', { documentId: notes.documentId })).toEqual({
    tokens: documents / 2,
    sections: [expect.any(Number)],
  });
});

test('a document far beyond the context is counted part by part, and refused before anything is written', async () => {
  const { call } = await setUp();
  const line = 'some words of a very long book\n';
  const large = await attach(call, 'Large.txt', `# One\n${line.repeat(80_000)}# Two\n${line}`);
  const words = 80_001 * 7 + 4;
  const counted = await call('documents.countTokens', { documentId: large.documentId });
  // names of sections, and the marks around the document
  expect(counted).toEqual({ tokens: words + 2 + 3, sections: [80_000 * 7 + 3, 7 + 3] });
  const draft = { chatId: null, leafId: null, draft: 'What is it?', attachments: [large] };
  const budget = await call('turns.budget', draft);
  expect(budget).toMatchObject({ documents: counted.tokens, total: counted.tokens + 3, fits: false });

  const { id } = await call('chats.create', {});
  const question = { chatId: id, parentId: null, text: 'What is it?', attachments: [large] };
  const refused = { code: 'context-full', message: expect.stringContaining('Large.txt has 560,0') };
  await expect(call('turns.send', question)).rejects.toMatchObject(refused);
  expect((await call('chats.open', { chatId: id })).messages).toEqual([]);
  const part: Attachment = { ...large, part: { kind: 'sections', sections: [1] } };
  expect(await call('turns.budget', { ...draft, attachments: [part] })).toMatchObject({
    fits: true,
    total: 10 + 3 + 3,
  });
}, 20_000);
