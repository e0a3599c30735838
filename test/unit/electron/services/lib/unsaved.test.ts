/** A disk that takes only half of a text, and then nothing, until there is room again. */
import { open, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Message } from '@/electron/contract/chats';
import { compareRequestSchema } from '@/electron/contract/compare/compare';
import { contextSettingsSchema } from '@/electron/contract/settings';
import { ChatStore } from '@/electron/services/chats/chatStore';
import { CompareStore, newRun } from '@/electron/services/compare/compareStore';
import { appendText } from '@/electron/services/lib/files';
import { Unsaved } from '@/electron/services/lib/unsaved';
import { SettingsStore } from '@/electron/services/settings/settingsStore';
import { temporaryFolder } from '@/test/fixtures/temporary';

/** `error`: what the system says of each write, of which it takes half */
const disk = { error: null as string | null };

beforeEach(async () => {
  disk.error = null;
  const handle = await open(join(await temporaryFolder(), 'any'), 'w');
  const handles = Object.getPrototypeOf(handle) as typeof handle;
  await handle.close();
  const write = handles.writeFile;
  const spy = vi.spyOn(handles, 'writeFile').mockImplementation(async function (this: typeof handle, data, options) {
    if (disk.error === null) return write.call(this, data, options);
    await write.call(this, String(data).slice(0, String(data).length / 2));
    const message = `${disk.error}: no space left on device, write`;
    throw Object.assign(new Error(message), { code: disk.error, syscall: 'write' });
  });
  onTestFinished(() => spy.mockRestore());
});

function message(id: string, parentId: string | null, role: Message['role'], text: string): Message {
  const common = { id, parentId, role, text, thinking: '', createdAt: 1, modelName: '', attachments: [] };
  return { ...common, stopReason: null, error: null, stats: null };
}

async function setUp() {
  const data = await temporaryFolder();
  const unsaved = new Unsaved();
  const told: (string | null)[] = [];
  const raw: string[] = [];
  unsaved.changed.on(({ error }) => told.push(error?.message ?? null));
  unsaved.failed.on((text) => raw.push(text));
  const openStore = async (keeper = unsaved) => {
    const store = new ChatStore(join(data, 'chats'), join(data, 'trash'), () => 1, keeper);
    await store.load();
    return store;
  };
  return { data, unsaved, told, raw, open: openStore, store: await openStore() };
}

const full = 'The disk is full: this answer is not saved yet.';
const final = {
  ...{ text: 'Because of this.', thinking: '', stopReason: 'end-of-turn' as const, stats: null, modelName: 'm' },
  ...{ leftOut: undefined, summary: undefined, error: null },
};

test('an answer that the full disk does not take stays, and is written when there is room', async () => {
  const { data, unsaved, told, raw, open: openAgain, store } = await setUp();
  const { id } = await store.create();
  await store.addMessages(id, [message('q', null, 'user', 'Why?'), message('a', 'q', 'assistant', '')]);
  const path = join(data, 'chats', `${id}.jsonl`);
  const before = await readFile(path, 'utf8');
  disk.error = 'ENOSPC';
  await store.addPartial(id, 'a', 'Because ', '');
  await store.addPartial(id, 'a', 'of', '');
  expect((await store.finish(id, 'a', final)).text).toBe('Because of this.');
  await store.addMessages(id, [message('q2', 'a', 'user', 'And?')]);
  expect((await store.open(id)).messages.map(({ text }) => text)).toEqual(['Why?', 'Because of this.', 'And?']);
  expect(told).toEqual([full]);
  expect(unsaved.status()).toMatchObject({
    code: 'disk-full',
    message: full,
    hint: 'Free some space; it is saved then.',
  });
  expect(raw).toEqual([`${path} could not be written: ENOSPC: no space left on device, write`]);
  // what is on disk ends with a whole record, whenever the power fails
  expect(await readFile(path, 'utf8')).toBe(before);
  await unsaved.retry();
  expect(unsaved.status()?.message).toBe(full);
  disk.error = null;
  await unsaved.retry();
  expect([unsaved.status(), told]).toEqual([null, [full, null]]);
  const again = await (await openAgain()).open(id);
  expect(again).toMatchObject({
    damagedLines: 0,
    messages: [{}, { text: 'Because of this.', stopReason: 'end-of-turn' }, {}],
  });
  expect((await readdir(join(data, 'chats'))).sort()).toEqual([`${id}.jsonl`, 'index.json'].sort());
});

test('a log with a cut record is opened on a full disk, and nothing is set aside until it has room', async () => {
  const { data, open: openAgain, store } = await setUp();
  const { id } = await store.create();
  await store.addMessages(id, [
    message('q', null, 'user', 'Why?'),
    { ...message('a', 'q', 'assistant', ''), ...final },
  ]);
  await store.close();
  const path = join(data, 'chats', `${id}.jsonl`);
  const whole = await readFile(path, 'utf8');
  await writeFile(path, `${whole}{"type":"message","at":1,"mess`);
  disk.error = 'ENOSPC';
  const unsaved = new Unsaved();
  const again = await openAgain(unsaved);
  expect(again.notices).toEqual([expect.stringContaining('index.json could not be written: the disk is full')]);
  expect(await again.open(id)).toMatchObject({ damagedLines: 0, messages: [{ text: 'Why?' }, { text: final.text }] });
  await again.addMessages(id, [message('q2', 'a', 'user', 'And?')]);
  expect(unsaved.status()?.message).toBe(full);
  expect(await readFile(join(data, 'chats', `${id}.damaged.txt`), 'utf8')).toBe('');
  expect(await readFile(path, 'utf8')).toBe(`${whole}{"type":"message","at":1,"mess`);
  disk.error = null;
  await unsaved.retry();
  expect(unsaved.status()).toBeNull();
  expect((await again.open(id)).damagedLines).toBe(1);
  expect(await readFile(join(data, 'chats', `${id}.damaged.txt`), 'utf8')).toBe('{"type":"message","at":1,"mess\n');
  const mended = await (await openAgain()).open(id);
  expect(mended.messages.map(({ text }) => text)).toEqual(['Why?', final.text, 'And?']);
});

test('a chat that is not saved goes to no trash, and chats beyond those in memory keep what they lack', async () => {
  const { unsaved, open: openAgain, store } = await setUp();
  const { id } = await store.create();
  disk.error = 'ENOSPC';
  await store.rename(id, 'Kept');
  await expect(store.remove(id)).rejects.toMatchObject({ code: 'disk-full' });
  for (let n = 0; n < 10; n++) await store.create(`Chat ${n}`);
  expect(unsaved.status()?.message).toBe('The disk is full: 11 answers are not saved yet.');
  expect((await store.open(id)).title).toBe('Kept');
  disk.error = null;
  await unsaved.retry();
  expect((await openAgain()).list()).toHaveLength(11);
});

test('settings and comparisons count although they are not on disk, and get there', async () => {
  const { data, unsaved } = await setUp();
  const settings = new SettingsStore(join(data, 'settings.json')).keepIn(unsaved, 'the settings');
  disk.error = 'EDQUOT';
  await settings.update({ theme: 'dark' });
  await settings.update({ systemPrompt: 'Be brief.' });
  expect(settings.get()).toMatchObject({ theme: 'dark', systemPrompt: 'Be brief.' });
  expect(unsaved.status()?.message).toBe('The disk is full: the settings are not saved yet.');
  const compare = new CompareStore(join(data, 'compare'), () => 1, unsaved);
  const request = compareRequestSchema.parse({
    modelId: 'm',
    prompt: { kind: 'text', text: 'Why?' },
    configurations: [1, 2].map(() => ({ typeK: 'f16', typeV: 'f16', nCtx: 512 })),
  });
  const run = newRun({ id: 'r', name: 'first', createdAt: 1, request, settings: contextSettingsSchema.parse({}) });
  await compare.save(run);
  await compare.save({ ...run, name: 'second' });
  expect((await compare.get('r')).name).toBe('second');
  const message = 'The disk is full: the settings and this comparison are not saved yet.';
  expect(unsaved.status()?.message).toBe(message);
  disk.error = null;
  await unsaved.retry();
  const again = new SettingsStore(join(data, 'settings.json'));
  await again.load();
  expect(again.get()).toMatchObject({ theme: 'dark', systemPrompt: 'Be brief.' });
  const stored = new CompareStore(join(data, 'compare'), () => 1);
  await stored.load();
  expect(stored.list()).toMatchObject([{ id: 'r', name: 'second' }]);
});

test('what is no full disk is told with its place, its reason and what to do', async () => {
  const { data, unsaved, store } = await setUp();
  const { id } = await store.create();
  disk.error = 'EBUSY';
  await store.rename(id, 'New');
  const path = join(data, 'chats', `${id}.jsonl`);
  expect(unsaved.status()).toMatchObject({
    code: 'storage-failed',
    message: `This answer is not saved yet: ${path} cannot be written (another program is using it).`,
    hint: expect.stringMatching(/^Close programs .* sync program; it is saved then\.$/),
  });
});

test('it is tried again by itself, and a mistake of ours is thrown', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const unsaved = new Unsaved(5000);
  const write = vi.fn(async () => undefined);
  const noSpace = Object.assign(new Error('ENOSPC: no'), { code: 'ENOSPC' });
  unsaved.hold('/a', 'the settings', noSpace, write);
  await vi.advanceTimersByTimeAsync(4999);
  expect(write).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(write).toHaveBeenCalledOnce();
  expect(unsaved.status()).toBeNull();
  expect(() => unsaved.hold('/a', 'the settings', new Error('a bug'), write)).toThrow('a bug');
});

test('an append that fails leaves the file as it was', async () => {
  const path = join(await temporaryFolder(), 'log');
  await appendText(path, 'one\n', true);
  disk.error = 'ENOSPC';
  await expect(appendText(path, 'two\n', false)).rejects.toMatchObject({
    code: 'disk-full',
    message: `${path} could not be written: the disk is full.`,
  });
  expect(await readFile(path, 'utf8')).toBe('one\n');
});
