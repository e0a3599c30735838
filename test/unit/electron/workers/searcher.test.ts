/** The searching itself, and the worker thread as the app runs it. */
import { appendFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { ChatSearch } from '@/electron/services/chats/chatSearch';
import { hitOf, messagesOf, Searcher } from '@/electron/workers/searcher';
import { bundlesWithWorkers } from '@/test/fixtures/services';
import { temporaryFolder } from '@/test/fixtures/temporary';

const line = (record: object) => `${JSON.stringify(record)}\n`;

function said(id: string, role: 'user' | 'assistant', text: string, more: object = {}): string {
  return line({ type: 'message', at: 1, message: { id, role, text, parentId: null, createdAt: 1, ...more } });
}

async function folderWith(logs: Record<string, string>) {
  const folder = await temporaryFolder();
  for (const [id, log] of Object.entries(logs)) await writeFile(join(folder, `${id}.jsonl`), log);
  return { folder, chats: Object.keys(logs).map((id) => ({ id, title: `Chat ${id}` })) };
}

let bundles = '';
beforeAll(async () => {
  bundles = await bundlesWithWorkers();
}, 60_000);

test('texts are what the log ends in: parts of an unfinished answer, the final text of a finished one', () => {
  const log =
    said('q', 'user', 'Why?', { attachments: [{ documentId: 'd', name: 'lease.pdf', part: { kind: 'whole' } }] }) +
    said('a', 'assistant', '') +
    line({ type: 'partial', at: 1, id: 'a', text: 'Half ', thinking: '' }) +
    line({ type: 'final', at: 1, id: 'a', message: { text: 'Whole.' } }) +
    'garbage\nnull\n' +
    said('b', 'assistant', '') +
    line({ type: 'partial', at: 1, id: 'b', text: 'Só ', thinking: '' }) +
    line({ type: 'partial', at: 1, id: 'b', text: 'far', thinking: '' }) +
    '{"type":"partial","at":1,"id":"b","te';
  expect(messagesOf(log).map(({ id, text, folded }) => [id, text, folded])).toEqual([
    ['q', 'lease.pdf\nWhy?', 'lease.pdf\nwhy?'],
    ['a', 'Whole.', 'whole.'],
    ['b', 'Só far', 'so far'],
  ]);
});

test('every word has to be in the title or in one message', () => {
  const messages = messagesOf(said('q', 'user', 'The deposit is due.') + said('a', 'assistant', 'In May.'));
  const found = (...words: string[]) => hitOf('c', 'Leasé', messages, words);
  expect(found('deposit', 'due')).toMatchObject({ messages: 1, titleMarks: [] });
  expect(found('lease', 'deposit')).toMatchObject({ messages: 1, titleMarks: [[0, 5]] });
  expect(found('lease')).toMatchObject({ messages: 0, snippets: [], titleMarks: [[0, 5]] });
  expect(found('deposit', 'may')).toBeNull();
  expect(found('lease', 'rent')).toBeNull();
});

test('snippets are the newest messages, and the count includes the others', () => {
  const messages = messagesOf([1, 2, 3, 4, 5].map((n) => said(`m${n}`, 'user', `needle ${n}`)).join(''));
  const hit = hitOf('c', '', messages, ['needle']);
  expect(hit?.messages).toBe(5);
  expect(hit?.snippets.map(({ messageId, text }) => [messageId, text])).toEqual([
    ['m5', 'needle 5'],
    ['m4', 'needle 4'],
    ['m3', 'needle 3'],
  ]);
});

test('a chat that changed is read again, one that is gone is left out, and the limit says that there are more', async () => {
  const { folder, chats } = await folderWith({ one: said('q', 'user', 'old'), two: said('q', 'user', 'old') });
  const searcher = new Searcher();
  const search = async (word: string, limit = 9) => {
    const task = { words: [word], limit, folder, chats };
    const answer = await searcher.search(task, new AbortController().signal, () => undefined);
    return [answer?.hits.map(({ chatId }) => chatId), answer?.more];
  };
  expect(await search('old')).toEqual([['one', 'two'], false]);
  expect(await search('old', 1)).toEqual([['one'], true]);
  await appendFile(join(folder, 'one.jsonl'), said('q2', 'user', 'new'));
  expect(await search('new')).toEqual([['one'], false]);
  await rm(join(folder, 'one.jsonl'));
  expect(await search('old')).toEqual([['two'], false]);
});

test('the worker answers; a newer question of the same asker ends the older one, another asker does not', async () => {
  const long = Array.from({ length: 400 }, (_, n) => said(`m${n}`, 'user', 'some words '.repeat(200))).join('');
  const logs = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`c${n}`, long]));
  const { folder, chats } = await folderWith({ ...logs, last: said('q', 'user', 'The needle.') });
  const search = new ChatSearch(join(bundles, 'worker.cjs'), folder, () => chats);
  onTestFinished(() => search.close());
  const older = search.search({ query: 'needle', limit: 9, asker: 'sidebar' });
  const other = search.search({ query: 'chat last', limit: 9, asker: 'other' });
  const newer = search.search({ query: 'NEEDLE the', limit: 9, asker: 'sidebar' });
  await expect(older).rejects.toMatchObject({ code: 'cancelled' });
  expect((await newer).hits).toMatchObject([{ chatId: 'last', snippets: [{ text: 'The needle.' }] }]);
  expect((await other).hits).toMatchObject([{ chatId: 'last', snippets: [] }]);
});

test('a worker that cannot start fails its question with words, and says so again for the next', async () => {
  const search = new ChatSearch(join(bundles, 'none.cjs'), '', () => [{ id: 'a', title: 'A' }]);
  for (let n = 0; n < 2; n++) {
    await expect(search.search({ query: 'x', limit: 1 })).rejects.toMatchObject({ code: 'internal' });
  }
});
