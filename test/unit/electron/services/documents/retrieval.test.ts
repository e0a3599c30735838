/** Passages that are looked up for a question, through the services together. */
import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import type { Attachment } from '@/electron/contract/chats';
import { attach, bundlesWithWorkers, setUpServices } from '@/test/fixtures/services';

let bundles = '';
beforeAll(async () => {
  bundles = await bundlesWithWorkers();
}, 60_000);

const setUp = (data?: string) => setUpServices({ bundles, ...(data === undefined ? {} : { data }) });

const line = (i: number) => `The keeper of wall ${i} counts the stones of the old harbour. `.repeat(12).trim();
const lines = Array.from({ length: 40 }, (_, i) => `# Part ${i}\n\n${line(i)}`);
lines[30] = `# Part 30\n\nThe lantern of Marseille burns whale oil. ${line(30)}`;
lines[5] = `# Part 5\n\nIn Marseille they call it the lantern. ${line(5)}`;
const book = lines.join('\n\n');

function passagesOf({ part }: Attachment) {
  if (part.kind !== 'passages') throw new Error('no passages');
  return part.passages;
}

const asked = (one: Attachment): Attachment => ({ ...one, part: { kind: 'passages', passages: [] } });

test('a question gets the passages with its words, in the order of the text, and keeps them', async () => {
  const { call, final } = await setUp();
  await call('settings.update', { documents: { retrievalTokens: 500 } });
  const notes = asked(await attach(call, 'Book.txt', book));
  const { id } = await call('chats.create', {});
  const question = 'What does the lantern of Marseille burn?';
  const leafId = null;
  const budget = await call('turns.budget', { chatId: id, leafId, draft: question, attachments: [notes] });
  const turn = await call('turns.send', { chatId: id, parentId: null, text: question, attachments: [notes] });
  const passages = passagesOf(turn.userMessage?.attachments[0] ?? notes);
  expect(passages.map(({ label }) => label)).toEqual(expect.arrayContaining(['Part 5', 'Part 30']));
  expect(passages.map(({ start }) => start)).toEqual(passages.map(({ start }) => start).sort((a, b) => a - b));
  expect(budget.documents).toBeGreaterThan(250);
  expect(budget.documents).toBeLessThanOrEqual(500);

  const { text } = await final(turn);
  expect(text.split(/\s+/).filter(Boolean)).toHaveLength(budget.total);
  expect(text).toContain('[Part 30]\n');
  expect(text).toContain('burns whale oil');
  expect(text.endsWith(`</document>\n\n${question}`)).toBe(true);

  const messageId = turn.userMessage?.id ?? '';
  const again = await call('turns.regenerate', { chatId: id, messageId });
  expect((await final(again)).text).toBe(text);
  // other words, other passages
  const edited = await call('turns.edit', { chatId: id, messageId, text: 'Who is on wall 17?' });
  expect(passagesOf(edited.userMessage?.attachments[0] ?? notes).map(({ label }) => label)).toContain('Part 17');
}, 20_000);

test('a question without a word of the document gets its beginning; one that there is no room for is refused', async () => {
  const { call, send } = await setUp();
  const notes = asked(await attach(call, 'Book.txt', book));
  const { turn } = await send('Zusammenfassen!', [notes]);
  expect(passagesOf(turn.userMessage?.attachments[0] ?? notes)[0]).toMatchObject({ start: 0, label: 'Part 0' });

  const tooLong = { parentId: null, text: 'word '.repeat(8000), attachments: [notes] };
  const refused = { code: 'context-full', message: expect.stringContaining('Book.txt') };
  const other = await call('chats.create', {});
  await expect(call('turns.send', { chatId: other.id, ...tooLong })).rejects.toMatchObject(refused);
  expect((await call('chats.open', { chatId: other.id })).messages).toEqual([]);
  const draft = { chatId: null, leafId: null, draft: tooLong.text, attachments: [notes] };
  expect(await call('turns.budget', draft)).toMatchObject({ fits: false, byDocument: [{ inBranch: false }] });
}, 20_000);

test('passages are searched, with the names of their sections', async () => {
  const { call } = await setUp();
  const { documentId } = await attach(call, 'Book.txt', book);
  const found = await call('documents.search', { documentId, query: 'whale oil', limit: 3 });
  expect(found.passages[0]).toMatchObject({ label: 'Part 30', score: expect.any(Number) });
  const first = found.passages[0];
  const { text } = await call('documents.text', { documentId, start: first?.start ?? 0, end: first?.end ?? 0 });
  expect(text).toContain('whale oil');
  expect(await call('documents.search', { documentId, query: ' ', limit: 3 })).toEqual({ passages: [], all: 0 });
  const missing = { documentId: 'f'.repeat(64), query: 'oil', limit: 3 };
  await expect(call('documents.search', missing)).rejects.toMatchObject({ code: 'not-found' });
}, 20_000);

test('documents go with the last chat that names them, those of a former run that none names at the start', async () => {
  const { call, final, services, dataFolder } = await setUp();
  const stored = () => readdir(join(dataFolder, 'documents'));
  const [both, one, unused] = [
    await attach(call, 'Both.txt', 'both'),
    await attach(call, 'One.txt', 'one'),
    await attach(call, 'Unused.txt', 'unused'),
  ];
  const chats: string[] = [];
  for (const attachments of [[both, one], [both]]) {
    const { id } = await call('chats.create', {});
    await final(await call('turns.send', { chatId: id, parentId: null, text: 'What?', attachments }));
    chats.push(id);
  }
  await services.close();
  for (const id of await stored()) await utimes(join(dataFolder, 'documents', id), 1000, 1000);

  const next = await setUp(dataFolder);
  await vi.waitFor(async () => expect(await stored()).not.toContain(unused.documentId));
  await next.call('chats.remove', { chatId: chats[0] ?? '' });
  expect(await stored()).toHaveLength(2);
  await next.call('chats.destroy', { chatIds: [chats[0] ?? ''] });
  expect(await stored()).toEqual([both.documentId]);
  expect(one.documentId).not.toBe(both.documentId);
}, 20_000);
