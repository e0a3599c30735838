/** Chats of other apps, through the contract and the real worker thread: taken over once, and never twice. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { TakenChats } from '@/electron/contract/chatOperations';
import { limits } from '@/electron/contract/limits';
import type { ChatStore } from '@/electron/services/chats/chatStore';
import { ImportService } from '@/electron/services/imports/importService';
import { foreignFiles, janThread } from '@/test/fixtures/foreignChats/files';
import { bundlesWithWorkers, type Call, setUpServices } from '@/test/fixtures/services';
import { temporaryFolder } from '@/test/fixtures/temporary';

let bundles = '';
beforeAll(async () => {
  bundles = await bundlesWithWorkers();
}, 60_000);

const setUp = (data?: string) => setUpServices({ bundles, start: false, ...(data === undefined ? {} : { data }) });

interface File {
  name: string;
  text: string;
}

async function upload(call: Call, { name, text }: File): Promise<string> {
  const bytes = Buffer.from(text);
  const half = Math.ceil(bytes.length / 2);
  const part = (from: number, to: number) => ({ offset: from, data: bytes.subarray(from, to).toString('base64') });
  const first = { uploadId: null, name, bytes: bytes.length, ...part(0, half) };
  const { uploadId, whole } = await call('imports.upload', first);
  expect(whole).toBe(false);
  const last = await call('imports.upload', { ...first, uploadId, ...part(half, bytes.length) });
  expect(last).toEqual({ uploadId, whole: true });
  return uploadId;
}

/** As the window does it. */
async function importAll(call: Call, files: readonly File[]) {
  const uploadIds: string[] = [];
  for (const file of files) uploadIds.push(await upload(call, file));
  const found = await call('imports.read', { uploadIds });
  const taken: TakenChats[] = [];
  for (let first = 0; first < found.chats; first += limits.maxImportSlice) {
    taken.push(await call('imports.take', { importId: found.importId, first }));
  }
  await call('imports.close', { importId: found.importId });
  const sum = (name: 'added' | 'messages' | 'here' | 'trashed' | 'grown') =>
    taken.reduce((all, one) => all + one[name], 0);
  const [added, messages, here] = [sum('added'), sum('messages'), sum('here')];
  return { found, added, messages, here, trashed: sum('trashed'), grown: sum('grown'), lost: taken[0]?.lost };
}

const all = [...Object.values(foreignFiles).flatMap((files) => Object.values(files)), janThread];

describe('five files of each app', () => {
  it('come over once; again, and after a restart, nothing is doubled', async () => {
    const { call, dataFolder, services, payloads } = await setUp();
    const first = await importAll(call, all);
    expect(first).toMatchObject({ added: 25, here: 0, grown: 0, trashed: 0 });
    expect(first.found).toMatchObject({ chats: 25, damaged: 7, empty: 5, refused: [] });
    expect(first.lost).toEqual({ pictures: 6, files: 3, sounds: 1, tools: 6, others: 2 });
    expect(payloads('onChats')).toHaveLength(1);
    const list = await call('chats.list', undefined);
    expect(list).toHaveLength(25);
    const chats = await Promise.all(list.map(({ id }) => call('chats.open', { chatId: id })));
    expect(chats.reduce((count, { messages }) => count + messages.length, 0)).toBe(first.messages);
    // no answer waits for the engine, and every message is unlike the others
    expect(chats.flatMap(({ messages }) => messages).every((one) => one.role === 'user' || one.stopReason)).toBe(true);
    expect(new Set(chats.flatMap(({ messages }) => messages.map(({ id }) => id))).size).toBe(first.messages);

    expect(await importAll(call, all)).toMatchObject({ added: 0, messages: 0, here: 25, grown: 0 });
    expect(await call('chats.list', undefined)).toEqual(list);
    await services.close();
    const again = await setUp(dataFolder);
    expect(await importAll(again.call, [...all].reverse())).toMatchObject({ added: 0, here: 25, grown: 0 });
    expect(await again.call('chats.list', undefined)).toHaveLength(25);
  });
});

it('keeps a chat in its old place of the list, and what was asked there', async () => {
  const { call } = await setUp();
  await importAll(call, [foreignFiles.chatgpt.branches]);
  const [chat] = await call('chats.list', undefined);
  expect(chat).toMatchObject({ title: 'Lamps', createdAt: 1_735_689_600_000, updatedAt: 1_735_689_700_000 });
  const { messages, leafId, systemPrompt } = await call('chats.open', { chatId: chat?.id ?? '' });
  expect(messages.find(({ id }) => id === leafId)?.text).toBe('Wax.');
  expect(systemPrompt).toBe('I repair lamps.\n\nBe brief.');
});

it('leaves a chat that goes on here or there as it is, and says so', async () => {
  const { call, services } = await setUp();
  await importAll(call, [foreignFiles.claude.branches]);
  const [{ id } = { id: '' }] = await call('chats.list', undefined);
  await call('chats.rename', { chatId: id, title: 'My lamps' });
  const before = await call('chats.open', { chatId: id });
  const [chat] = JSON.parse(foreignFiles.claude.branches.text);
  const more = { ...chat.chat_messages[1], uuid: 'a9', text: 'Wax.', content: [], parent_message_uuid: 'q2' };
  const grown = { name: 'a.json', text: JSON.stringify([{ ...chat, chat_messages: [...chat.chat_messages, more] }]) };
  expect(await importAll(call, [grown])).toMatchObject({ added: 0, here: 1, grown: 1 });
  expect(await call('chats.open', { chatId: id })).toEqual(before);
  expect(services.unsaved.status()).toBeNull();
});

it('does not bring back what lies in the trash, but what was deleted for good', async () => {
  const { call } = await setUp();
  await importAll(call, [foreignFiles.jan.code]);
  const [{ id } = { id: '' }] = await call('chats.list', undefined);
  await call('chats.remove', { chatId: id });
  expect(await importAll(call, [foreignFiles.jan.code])).toMatchObject({ added: 0, here: 1, trashed: 1 });
  await call('chats.destroy', { chatIds: [id] });
  expect(await importAll(call, [foreignFiles.jan.code])).toMatchObject({ added: 1, here: 0 });
});

it('takes more chats than one slice', async () => {
  const { call, payloads } = await setUp();
  const [chat] = JSON.parse(foreignFiles.claude.code.text);
  const text = JSON.stringify(Array.from({ length: 120 }, (_, n) => ({ ...chat, uuid: `chat ${n}` })));
  expect(await importAll(call, [{ name: 'a.json', text }])).toMatchObject({ added: 120, here: 0 });
  expect(payloads('onChats')).toHaveLength(3);
});

it('refuses files that are too large, and keeps nothing of those that were read', async () => {
  const { call, dataFolder } = await setUp();
  const part = { uploadId: null, name: 'a.zip', bytes: limits.maxImportBytes + 1, offset: 0, data: 'AAAA' };
  await expect(call('imports.upload', part)).rejects.toThrow('a.zip is larger than 300 MB');
  const found = await importAll(call, [{ name: 'notes.json', text: '{"a":"note"}' }]);
  expect(found.found.refused.map(({ message }) => message)).toEqual(['No chats were found in notes.json.']);
  expect(await readdir(join(dataFolder, 'scratch'))).toEqual([]);
  await expect(call('imports.take', { importId: found.found.importId, first: 0 })).rejects.toThrow('has ended');
});

it('forgets what a page sent that is gone', async () => {
  const [scratch, clock] = [await temporaryFolder(), { now: 0 }];
  const imports = new ImportService('', scratch, {} as ChatStore, () => clock.now);
  const send = () => imports.upload({ uploadId: null, name: 'a.json', bytes: 3, offset: 0, data: 'AAAA' });
  await send();
  clock.now = 3_000_000;
  await send();
  expect(await readdir(scratch)).toHaveLength(2);
  clock.now = 4_000_000;
  await send();
  expect(await readdir(scratch)).toHaveLength(2);
  await imports.close();
  expect(await readdir(scratch)).toEqual([]);
});

it('adds a chat once where two windows import it at a time', async () => {
  const { call } = await setUp();
  const both = await Promise.all([1, 2].map(() => importAll(call, [foreignFiles.openwebui.branches])));
  expect(both.map(({ added }) => added).sort()).toEqual([0, 1]);
  expect(await call('chats.list', undefined)).toHaveLength(1);
});
