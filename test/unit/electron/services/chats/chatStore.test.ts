import { appendFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Message } from '@/electron/contract/chats';
import { ChatStore, type FinalPart } from '@/electron/services/chats/chatStore';
import { message as sample } from '@/test/fixtures/samples';
import { temporaryFolder } from '@/test/fixtures/temporary';

async function setUp() {
  const data = await temporaryFolder();
  let time = 1000;
  const open = async () => {
    const store = new ChatStore(join(data, 'chats'), join(data, 'trash'), () => ++time);
    await store.load();
    return store;
  };
  return { data, open, store: await open(), fileOf: (id: string) => join(data, 'chats', `${id}.jsonl`) };
}

function message(id: string, parentId: string | null, role: Message['role'], text: string): Message {
  return sample({ id, parentId, role, text, createdAt: 1 });
}

function final(text: string): FinalPart {
  return { text, thinking: '', stopReason: 'end-of-turn', error: null, stats: null, modelName: 'Tiny' };
}

/** A chat with one question and its finished answer. */
async function withTurn(store: ChatStore): Promise<string> {
  const { id } = await store.create();
  await store.addMessages(id, [message('q', null, 'user', 'Why?'), message('a', 'q', 'assistant', '')]);
  await store.finish(id, 'a', final('Because.'));
  return id;
}

test('what was written is there after a restart; the log only grows, and only by what is done', async () => {
  const { open, store, fileOf } = await setUp();
  const id = await withTurn(store);
  const log = await readFile(fileOf(id), 'utf8');
  await store.rename(id, 'Reasons');
  const before = await store.open(id);
  await store.close();
  const grown = await readFile(fileOf(id), 'utf8');
  expect(grown.startsWith(log)).toBe(true);
  const again = await open();
  const after = await again.open(id);
  await again.close();
  expect(await readFile(fileOf(id), 'utf8')).toBe(grown);
  expect(after).toEqual(before);
  expect(after).toMatchObject({ title: 'Reasons', leafId: 'a', damagedLines: 0 });
  expect(after.messages.map(({ text }) => text)).toEqual(['Why?', 'Because.']);
});

test('passages that left the prompt stay noted, whatever follows: a next part, an end, a restart', async () => {
  const { open, store } = await setUp();
  const id = await withTurn(store);
  await store.keep(id, { type: 'release', id: 'a', released: 2 });
  expect((await store.open(id)).messages[1]).toMatchObject({ released: 2, text: 'Because.' });
  await store.close();
  const next = await open();
  await next.reopen(id, 'a');
  expect((await next.finish(id, 'a', { ...final('Because. And'), released: 3, leftOut: 2 })).released).toBe(3);
  await next.close();
  const { messages } = await (await open()).open(id);
  expect(messages[1]).toMatchObject({ released: 3, leftOut: 2, text: 'Because. And' });
});

test('a time that is no date is damage, beside which the chat is shown and exported', async () => {
  const { open, store, fileOf } = await setUp();
  const id = await withTurn(store);
  await store.close();
  await appendFile(fileOf(id), '{"type":"pin","at":9e15,"pinned":true}\n');
  const chat = await (await open()).open(id);
  expect(chat).toMatchObject({ damagedLines: 1, pinned: false });
  expect(new Date(chat.updatedAt).toISOString()).toMatch(/^19/);
});

test('a torn last line is set aside and counted; the next record is not glued to it', async () => {
  const { data, open, store, fileOf } = await setUp();
  const id = await withTurn(store);
  await store.close();
  await appendFile(fileOf(id), '{"type":"message","at":5,"mess');
  const second = await open();
  const chat = await second.open(id);
  expect(chat.damagedLines).toBe(1);
  expect(chat.messages).toHaveLength(2);
  expect(await readFile(join(data, 'chats', `${id}.damaged.txt`), 'utf8')).toBe('{"type":"message","at":5,"mess\n');
  await second.addMessages(id, [message('q2', 'a', 'user', 'Next')]);
  await second.close();
  const third = await (await open()).open(id);
  expect(third.messages.map(({ text }) => text)).toEqual(['Why?', 'Because.', 'Next']);
  expect(third.damagedLines).toBe(0);
});

test('damaged lines in the middle cost only themselves; a child of a lost message stays visible', async () => {
  const { open, store, fileOf } = await setUp();
  const id = await withTurn(store);
  await store.addMessages(id, [message('q2', 'a', 'user', 'Second'), message('q3', 'q2', 'user', 'Third')]);
  await store.close();
  const lines = (await readFile(fileOf(id), 'utf8')).split('\n');
  const damaged = lines.map((line) => (line.includes('"Second"') ? `\u0000${line.slice(0, 20)}` : line));
  await writeFile(fileOf(id), damaged.join('\n'));
  const chat = await (await open()).open(id);
  expect(chat.damagedLines).toBe(1);
  expect(chat.messages.map(({ text, parentId }) => [text, parentId])).toEqual([
    ['Why?', null],
    ['Because.', 'q'],
    ['Third', 'a'],
  ]);
});

test('a file without one readable line is still a chat, and the others are untouched', async () => {
  const { open, store, fileOf } = await setUp();
  const broken = await withTurn(store);
  const healthy = await withTurn(store);
  await store.close();
  await writeFile(fileOf(broken), 'garbage\nmore garbage');
  const again = await open();
  expect(new Set(again.list().map(({ id }) => id))).toEqual(new Set([broken, healthy]));
  expect(await again.open(broken)).toMatchObject({ messages: [], damagedLines: 2 });
  expect((await again.open(healthy)).messages).toHaveLength(2);
});

test('a chat that cannot be read, and an index that cannot be written, keep nothing else from opening', async () => {
  const { data, open, store, fileOf } = await setUp();
  const id = await withTurn(store);
  await store.close();
  await mkdir(fileOf('no-file'));
  await rm(join(data, 'chats', 'index.json'));
  await mkdir(join(data, 'chats', 'index.json'));
  const second = await open();
  expect(second.list().map((chat) => chat.id)).toEqual([id]);
  expect((await second.open(id)).messages).toHaveLength(2);
  expect(second.notices).toEqual([
    expect.stringContaining('no-file.jsonl is not a file'),
    expect.stringContaining('index.json could not be written'),
  ]);
});

test('an answer that a crash of the app cut off keeps its partial text and says why', async () => {
  const { open, store } = await setUp();
  const { id } = await store.create();
  await store.addMessages(id, [message('q', null, 'user', 'Why?'), message('a', 'q', 'assistant', '')]);
  await store.addPartial(id, 'a', 'Because ', 'hm');
  await store.addPartial(id, 'a', 'of', '');
  expect((await store.open(id)).messages[1]).toMatchObject({ text: 'Because of', stopReason: null });
  // no close: the process is gone
  const chat = await (await open()).open(id);
  expect(chat.messages[1]).toMatchObject({
    text: 'Because of',
    thinking: 'hm',
    stopReason: 'interrupted',
    error: { code: 'engine-crashed' },
  });
});

test('an answer that is being written is not taken for a cut-off one when its chat was out of memory', async () => {
  const { store } = await setUp();
  const { id } = await store.create();
  await store.addMessages(id, [message('q', null, 'user', 'Why?'), message('open', 'q', 'assistant', '')]);
  for (let n = 0; n < 12; n++) await withTurn(store);
  expect((await store.open(id)).messages[1]?.stopReason).toBeNull();
});

test('the list is sorted by the last change, announced, and does not depend on the index file', async () => {
  const { data, open, store } = await setUp();
  const listener = vi.fn();
  store.changed.on(listener);
  const first = await withTurn(store);
  const second = await withTurn(store);
  await store.addMessages(first, [message('q2', 'a', 'user', 'More')]);
  expect(listener.mock.lastCall?.[0].map(({ id }: { id: string }) => id)).toEqual([first, second]);
  await store.close();
  const list = store.list();
  await rm(join(data, 'chats', 'index.json'));
  expect((await open()).list()).toEqual(list);
  await writeFile(join(data, 'chats', 'index.json'), '{"version":1,"chats":[{"summary"');
  expect((await open()).list()).toEqual(list);
});

test('choosing a branch is remembered and does not move the chat to the top', async () => {
  const { open, store } = await setUp();
  const id = await withTurn(store);
  await store.addMessages(id, [message('a2', 'q', 'assistant', '')]);
  await store.finish(id, 'a2', final('Other answer.'));
  const { updatedAt } = await store.open(id);
  expect(await store.selectBranch(id, 'a')).toMatchObject({ leafId: 'a', updatedAt });
  await expect(store.selectBranch(id, 'nobody')).rejects.toMatchObject({ code: 'not-found' });
  await store.close();
  expect(await (await open()).open(id)).toMatchObject({ leafId: 'a', updatedAt });
});

test.each(['../settings', '..', 'a/b', '', 'x'.repeat(65), 'nothing'])('the id %j reaches no file', async (id) => {
  const { data, store } = await setUp();
  await writeFile(join(data, 'settings.jsonl'), '');
  await expect(store.open(id)).rejects.toMatchObject({ code: 'not-found' });
  await expect(store.remove(id)).rejects.toMatchObject({ code: 'not-found' });
  await expect(store.restore(id)).rejects.toMatchObject({ code: 'not-found' });
  expect(await readdir(data)).toEqual(['chats', 'settings.jsonl', 'trash']);
});

test('a pin and a folder are in the log, survive the index, and do not move the chat to the top', async () => {
  const { data, open, store } = await setUp();
  const id = await withTurn(store);
  const other = await withTurn(store);
  const { updatedAt } = await store.open(id);
  expect(await store.setPinned(id, true)).toMatchObject({ id, pinned: true, folder: null, updatedAt });
  await store.setFolder([id, other], 'Law');
  await store.setFolder([other], null);
  await store.close();
  await rm(join(data, 'chats', 'index.json'));
  const again = await open();
  const places = again.list().map(({ pinned, folder, ...chat }) => [chat.id, pinned, folder]);
  expect(places).toEqual([
    [other, false, null],
    [id, true, 'Law'],
  ]);
  await again.setPinned(id, false);
  expect(await again.open(id)).toMatchObject({ pinned: false, folder: 'Law' });
});

test('the trash lists what lies in it, with and without its index, and deletes for good with what was set aside', async () => {
  const { data, open, store } = await setUp();
  const [first, second, kept] = [await withTurn(store), await withTurn(store), await withTurn(store)];
  await store.rename(first, 'First');
  await writeFile(join(data, 'chats', `${first}.damaged.txt`), 'half a line');
  await store.remove(first);
  await store.remove(second);
  expect(store.trashed().map(({ id }) => id)).toEqual([second, first]);
  await store.close();
  await rm(join(data, 'chats', 'trash.json'));
  const again = await open();
  const [trashed] = again.trashed().filter(({ id }) => id === first);
  expect(trashed).toMatchObject({ title: 'First' });
  expect((trashed?.goneAt ?? 0) - (trashed?.deletedAt ?? 0)).toBe(30 * 86_400_000);
  await again.destroy([first]);
  expect(again.trashed().map(({ id }) => id)).toEqual([second]);
  expect(await readdir(join(data, 'trash'))).toEqual([`${second}.jsonl`]);
  expect((await readdir(join(data, 'chats'))).filter((name) => name.includes(first))).toEqual([]);
  await expect(again.destroy([first])).rejects.toMatchObject({ code: 'not-found' });
  // a chat that is no trash is not deleted
  await expect(again.destroy([kept])).rejects.toMatchObject({ code: 'not-found' });
  expect(again.list().map(({ id }) => id)).toEqual([kept]);
});

test('what lies in the trash for more than 30 days is deleted at the next start', async () => {
  const { data, store } = await setUp();
  const id = await withTurn(store);
  await store.remove(id);
  await store.close();
  const later = new ChatStore(join(data, 'chats'), join(data, 'trash'), () => Date.now() + 31 * 86_400_000);
  await later.load();
  expect(later.trashed()).toEqual([]);
  expect(await readdir(join(data, 'trash'))).toEqual([]);
});
