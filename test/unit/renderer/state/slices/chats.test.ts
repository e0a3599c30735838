/** The list of chats: its groups, search, folders, trash, export and import, as the state of the window has them. */
import { describe, expect, it, vi } from 'vitest';
import type { ChatSummary } from '@/electron/contract/chats';
import { withDocuments } from '@/electron/services/chats/chatMarkdown';
import { rememberFolders } from '@/renderer/app/stored';
import { importText } from '@/renderer/features/sidebar/SidebarFoot';
import { arrangeChats, folderNames, groupChats, searchChats } from '@/renderer/state/lib/chatList';
import { selectProblem } from '@/renderer/state/slices/ui';
import { foreignFiles } from '@/test/fixtures/foreignChats/files';
import { Gate } from '@/test/fixtures/gate';
import { openWindow } from '@/test/fixtures/renderer/window';
import { message, toolCall } from '@/test/fixtures/samples';
import { attach, bundlesWithWorkers, waiting } from '@/test/fixtures/services';

const full = { code: 'storage-failed', message: 'The disk is full.', hint: '' } as const;

/** Three chats; the newest is first in the list. */
async function start() {
  const opened = await openWindow({ start: false });
  const { call, get, chats, bridge } = opened;
  const ids: string[] = [];
  for (const title of ['Lease', 'Soup', 'Rent']) ids.push((await call('chats.create', { title })).id);
  // no worker searches here
  const answer = { hits: [{ chatId: ids[0], titleMarks: [], snippets: [], messages: 1 }], more: false };
  bridge.answer('chats.search', () => answer);
  bridge.answer('chats.cancelSearch', () => undefined);
  const [lease = '', soup = ''] = ids;
  return { ...opened, ids, lease, soup, chats, list: () => get().chats, problem: () => selectProblem(get()) };
}

it('forgets a chat and brings it back, and undoes a refused removal', async () => {
  const { chats, list, lease, bridge, problem } = await start();
  expect(await chats.remove(lease)).toBe(true);
  expect(list().list).toHaveLength(2);
  await chats.restore(lease);
  expect(list().list?.map(({ id }) => id)).toContain(lease);
  bridge.refuse('chats.remove', full);
  expect(await chats.remove(lease)).toBe(false);
  expect(list().list).toHaveLength(3);
  expect(problem()).toEqual(full);
});

it('leaves a chat in the trash that went there again before its return was answered', async () => {
  const { chats, call, list, lease, bridge } = await start();
  const ids = () => list().list?.map(({ id }) => id);
  await chats.remove(lease);
  const reply = new Gate().hold();
  bridge.answer('chats.restore', async (input: { chatId: string }) => {
    const chat = await call('chats.restore', input);
    await reply.pass();
    return chat;
  });
  const restored = chats.restore(lease);
  await vi.waitFor(() => expect(ids()).toContain(lease), waiting);
  await chats.remove(lease);
  reply.open();
  await restored;
  expect(ids()).not.toContain(lease);
});

it('renames at once, in the open chat too', async () => {
  const { chats, conversation, get, lease, bridge } = await start();
  await conversation.open(lease);
  const writing = bridge.hold('chats.rename');
  const renamed = chats.rename(lease, '  New  ');
  expect(get().conversation.chat?.title).toBe('New');
  writing.open();
  await renamed;
  await chats.rename(lease, '   ');
  expect(get().conversation.chat?.title).toBe('New');
});

describe('the search', () => {
  it('asks when the typing rests, and shows the answer to what stands in the field', async () => {
    const { chats, list, bridge } = await start();
    for (const query of ['l', 'le', 'lea']) chats.search(query);
    expect(list()).toMatchObject({ query: 'lea', searching: true, found: null });
    await vi.waitFor(() => expect(list().searching).toBe(false), waiting);
    expect(bridge.inputs('chats.search')).toMatchObject([{ query: 'lea' }]);
    expect(list().found?.query).toBe('lea');
    chats.search(' ');
    expect(list()).toMatchObject({ searching: false, found: null });
  });

  it('says nothing of a search that a newer one ended, and reports one that failed', async () => {
    const { bridge, chats, list, problem } = await start();
    bridge.refuse('chats.search', { code: 'cancelled', message: 'Another search was begun.', hint: '' });
    chats.search('lea');
    const asked = chats.firstHit();
    chats.search('leas');
    await asked;
    expect(problem()).toBeNull();
    bridge.refuse('chats.search', full);
    await vi.waitFor(() => expect(problem()).toEqual(full), waiting);
    expect(list().searching).toBe(false);
  });

  it('says nothing of a question that was asked twice, of which the second answers', async () => {
    const { bridge, chats, list, problem } = await start();
    bridge.refuse('chats.search', { code: 'cancelled', message: 'Another search was begun.', hint: '' });
    chats.search('lea');
    await chats.firstHit();
    expect(problem()).toBeNull();
    expect(list().searching).toBe(true);
  });

  it('shows how far its own question is, and ends it when the field is emptied', async () => {
    const { bridge, chats, list } = await start();
    const searching = bridge.hold('chats.search');
    chats.search('lea');
    await searching.reached();
    const [{ asker }] = bridge.inputs('chats.search') as [{ asker: string }];
    bridge.emit('onSearch', { asker: 'another window', fraction: 0.9 });
    expect(list().searched).toBeNull();
    bridge.emit('onSearch', { asker, fraction: 0.3 });
    expect(list().searched).toBe(0.3);
    chats.search('');
    expect(list()).toMatchObject({ searching: false, searched: null });
    await vi.waitFor(() => expect(bridge.inputs('chats.cancelSearch')).toEqual([{ asker }]), waiting);
  });

  it('opens the first hit of what is typed now, without waiting', async () => {
    const { chats, lease } = await start();
    chats.search('lease');
    expect((await chats.firstHit())?.chatId).toBe(lease);
  });
});

describe('folders and pins', () => {
  it('are shown at once, and put back when they are refused', async () => {
    const { bridge, chats, lease, soup, ids, list, problem } = await start();
    const placed = () =>
      ids.map((id) => list().list?.find((chat) => chat.id === id)).map((one) => [one?.pinned, one?.folder]);
    const writing = bridge.hold('chats.setPinned');
    const pinning = chats.setPinned(lease, true);
    expect(placed()[0]).toEqual([true, null]);
    writing.open();
    await pinning;
    await chats.setFolder([lease, soup], 'Law');
    await chats.renameFolder('Law', ' Old law ');
    expect(placed()).toEqual([
      [true, 'Old law'],
      [false, 'Old law'],
      [false, null],
    ]);
    bridge.refuse('chats.setFolder', full);
    await chats.removeFolder('Old law');
    expect(placed().map(([, folder]) => folder)).toEqual(['Old law', 'Old law', null]);
    expect(problem()).toEqual(full);
  });

  it('are shut for this window and the next one', async () => {
    const { app, chats, list } = await start();
    const items = new Map([['concertina.shut-folders', '["Law"]']]);
    const storage = { getItem: (key: string) => items.get(key) ?? null, setItem: items.set.bind(items) };
    rememberFolders(app, storage as unknown as Storage);
    expect(list().shutFolders).toEqual(['Law']);
    chats.toggleFolder('Soup');
    chats.toggleFolder('Law');
    expect(items.get('concertina.shut-folders')).toBe('["Soup"]');
    items.set('concertina.shut-folders', '{"broken"');
    rememberFolders(app, storage as unknown as Storage);
    expect(list().shutFolders).toEqual([]);
  });
});

it('reads the trash when it is opened, and again with every change', async () => {
  const { chats, lease, soup, list } = await start();
  const inTrash = () => list().trash?.map(({ id }) => id);
  await chats.remove(lease);
  await chats.remove(soup);
  expect(inTrash()).toBeUndefined();
  await chats.openTrash();
  expect(inTrash()?.sort()).toEqual([lease, soup].sort());
  await chats.destroy([lease]);
  expect(inTrash()).toEqual([soup]);
  await chats.restore(soup);
  await vi.waitFor(() => expect(inTrash()).toEqual([]), waiting);
  expect(list().list?.map(({ id }) => id)).toContain(soup);
  chats.closeTrash();
  expect(list().trash).toBeNull();
});

describe('export and import', () => {
  const options = { format: 'json', branches: 'all' } as const;

  it('a file of all chats can be taken apart again', async () => {
    const { chats, ids, list, bridge } = await start();
    const text = (await chats.exportChats(ids, options))?.parts.join('') ?? '';
    expect(JSON.parse(text)).toMatchObject({ format: 'concertina-chats', version: 1, app: '1' });
    expect(await chats.importChats(text)).toEqual({ added: 3, refused: [] });
    expect(bridge.inputs('chats.import').map((input) => (input as { chat: { title: string } }).chat.title)).toEqual([
      'Lease',
      'Soup',
      'Rent',
    ]);
    await vi.waitFor(() => expect(list().list).toHaveLength(6), waiting);
    expect(list().transfer).toBeNull();
  });

  it('takes the texts of documents along where that is asked for, and names those that it cannot have', async () => {
    const { bridge, chats, ids, lease, call } = await start();
    const one = await attach(call, 'a.txt', 'words of a document');
    const gone = { documentId: 'gone', name: 'b.pdf', part: { kind: 'whole' } } as const;
    const chat = { ...(await call('chats.open', { chatId: lease })), leafId: 'q' };
    const question = message({ id: 'q', text: 'Why?', attachments: [one, gone, one] });
    bridge.answer('chats.exportText', ({ chatId }: { chatId: string }) => ({
      text: JSON.stringify({ ...chat, id: chatId, messages: [question] }),
    }));
    const bare = await chats.exportChats(ids, options);
    expect(JSON.parse(bare?.parts.join('') ?? '')).not.toHaveProperty('documents');
    const exported = await chats.exportChats(ids, options, true);
    const { documents } = JSON.parse(exported?.parts.join('') ?? '');
    expect(documents).toMatchObject([{ document: { id: one.documentId }, text: 'words of a document' }]);
  });

  it('takes along what results of tools are kept as, a file that has no text too', async () => {
    const { services, bridge, chats, ids, lease, call } = await start();
    const signal = new AbortController().signal;
    const text = await services.documents.keep('echo result.txt', 'words of a result', signal);
    const packed = await services.documents.keep('a.zip', Buffer.from('PK\x03\x04 packed'), signal);
    const kept = [text, packed].map(({ id, name }) => ({ documentId: id, name, part: null }));
    const done = { ...toolCall({ state: 'done', result: 'It is kept.' }), kept };
    const rounds = [{ text: '', thinking: '', calls: [done] }];
    const messages = [message({ id: 'a', role: 'assistant', rounds })];
    const chat = { ...(await call('chats.open', { chatId: lease })), leafId: 'a', messages };
    bridge.answer('chats.exportText', () => ({ text: JSON.stringify(chat) }));
    const exported = await chats.exportChats(ids.slice(0, 1), options, true);
    const { documents } = JSON.parse(exported?.parts.join('') ?? '');
    expect(documents).toMatchObject([
      { document: { id: text.id }, text: 'words of a result' },
      { document: { id: packed.id, kind: 'file' }, file: Buffer.from('PK\x03\x04 packed').toString('base64') },
    ]);

    const ours = documents[1];
    const other = await openWindow({ start: false });
    expect(await other.call('documents.import', ours)).toMatchObject({ id: packed.id, kind: 'file', original: true });
    const imported = withDocuments(chat, { [text.id]: 'another' });
    expect(imported.messages[0]?.rounds?.[0]?.calls[0]?.kept?.map(({ documentId }) => documentId)).toEqual([
      ...['another', packed.id],
    ]);
  });

  it('ends when it is canceled, with what is done', async () => {
    const { bridge, chats, ids } = await start();
    const reading = bridge.hold('chats.exportText').hold(1);
    const exporting = chats.exportChats(ids, options);
    await reading.reached();
    chats.cancelTransfer();
    reading.open();
    expect(await exporting).toBeNull();
    expect(bridge.inputs('chats.exportText')).toHaveLength(2);
  });

  it.each(['no JSON', '{"chats":[]}', '{"format":"concertina-chats","version":2,"chats":[]}'])(
    'refuses %s',
    async (text) => {
      const { added, refused } = await (await openWindow({ start: false })).chats.importChats(text);
      expect([added, refused.length]).toEqual([0, 1]);
    },
  );

  it('says why chats stayed out, each reason once', async () => {
    const { bridge, chats } = await start();
    bridge.refuse('chats.import', { code: 'bad-request', message: 'This is no chat.', hint: '' });
    const text = '{"format":"concertina-chats","version":1,"chats":[{},{}]}';
    expect(await chats.importChats(text)).toEqual({ added: 0, refused: ['This is no chat.'] });
  });
});

describe('files of other apps', () => {
  const file = ({ name, text }: { name: string; text: string }) => new File([text], name);
  const { branches, damaged } = foreignFiles.chatgpt;
  const nothing = { pictures: 0, files: 0, sounds: 0, tools: 0, others: 0 };

  it('are imported beside ours, and come once', async () => {
    const { chats, call, get } = await openWindow({ start: false, bundles: await bundlesWithWorkers() });
    const list = () => get().chats;
    await call('chats.create', { title: 'Ours' });
    const ids = (await call('chats.list', undefined)).map(({ id }) => id);
    const ours = (await chats.exportChats(ids, { format: 'json', branches: 'all' }))?.parts.join('') ?? '';
    const notes = file({ name: 'notes.json', text: '{}' });
    const files = [file({ name: 'ours.json', text: ours }), file(branches), notes, file(foreignFiles.jan.files)];
    const first = await chats.importFiles(files);
    const counts = { here: 0, trashed: 0, grown: 0, damaged: 0, empty: 0 };
    expect(first).toEqual({
      added: 3,
      refused: [expect.stringContaining('No chats were found in notes.json. Choose an export of')],
      report: { ...counts, apps: ['chatgpt', 'jan'], messages: 9, lost: { ...nothing, pictures: 1 } },
    });
    await vi.waitFor(() => expect(list().list).toHaveLength(4), waiting);
    const again = await chats.importFiles([file(branches), file(damaged)]);
    expect(again).toMatchObject({ added: 1, refused: [], report: { here: 1, messages: 1, damaged: 1, empty: 1 } });
    expect(list().transfer).toBeNull();
  });

  it('are thrown away when that is canceled while they are read', async () => {
    const { chats, bridge, get } = await openWindow({ start: false, bundles: await bundlesWithWorkers() });
    const reading = bridge.hold('imports.read');
    const importing = chats.importFiles([file(branches)]);
    await reading.reached();
    chats.cancelTransfer();
    reading.open();
    expect(await importing).toMatchObject({ added: 0, refused: [] });
    expect(bridge.inputs('imports.take')).toEqual([]);
    expect(bridge.inputs('imports.close')).toHaveLength(1);
    expect(get().chats.list ?? []).toEqual([]);
  });

  it('are not sent on once that is canceled', async () => {
    const { chats, bridge } = await openWindow({ start: false });
    const sending = bridge.hold('imports.upload');
    const importing = chats.importFiles([file({ name: 'a.json', text: ' '.repeat(2_000_000) }), file(branches)]);
    await sending.reached();
    chats.cancelTransfer();
    sending.open();
    expect(await importing).toEqual({ added: 0, refused: [] });
    expect(bridge.inputs('imports.upload')).toHaveLength(1);
  });

  it('that are refused say why', async () => {
    const { chats, bridge } = await openWindow({ start: false });
    bridge.refuse('imports.upload', full);
    expect(await chats.importFiles([file(branches)])).toEqual({ added: 0, refused: ['The disk is full.'] });
    bridge.refuse('imports.upload', null);
    bridge.refuse('imports.read', full);
    expect(await chats.importFiles([file(branches)])).toMatchObject({ added: 0, refused: ['The disk is full.'] });
  });

  it('are reported in sentences', () => {
    const none = { apps: [], messages: 0, here: 0, trashed: 0, grown: 0, damaged: 0, empty: 0, lost: nothing };
    expect(importText(none)).toBe('');
    const lost = { pictures: 2, files: 1, sounds: 1, tools: 3, others: 1 };
    const some = {
      apps: ['chatgpt', 'jan'] as const,
      here: 3,
      trashed: 1,
      grown: 2,
      damaged: 1,
      empty: 1,
      messages: 7,
    };
    expect(importText({ ...some, apps: [...some.apps], lost })).toBe(
      '7 messages from ChatGPT, Jan. 3 chats were here already and were skipped. 1 of them is in the trash. ' +
        '2 of them have new messages there, which were not brought over. Not brought over: 2 pictures, 1 file, ' +
        '1 recording, 3 steps of tools, 1 part of an unknown kind, 1 damaged entry, 1 chat without messages.',
    );
  });
});

const now = new Date(2026, 10, 21, 9, 0);
const chat = (title: string, date: Date, place: Partial<ChatSummary> = {}): ChatSummary => ({
  ...{ id: title, title, createdAt: 0, updatedAt: date.getTime(), pinned: false, folder: null },
  ...place,
});

it('groupChats groups by calendar day, newest first, and puts a clock that runs ahead under today', () => {
  const groups = groupChats(
    [
      chat('old', new Date(2026, 5, 1)),
      chat('late yesterday', new Date(2026, 10, 20, 23, 59)),
      chat('now', now),
      chat('week', new Date(2026, 10, 16)),
      chat('month', new Date(2026, 10, 1)),
      chat('midnight', new Date(2026, 10, 21, 0, 0)),
    ],
    now,
  );
  expect(groups.map((group) => `${group.label}: ${group.chats.map((one) => one.title).join(', ')}`)).toEqual([
    'Today: now, midnight',
    'Yesterday: late yesterday',
    'Last 7 days: week',
    'Last 30 days: month',
    'June 2026: old',
  ]);
  expect(groupChats([chat('future', new Date(2026, 10, 23))], now)[0]?.label).toBe('Today');
});

it('arrangeChats shows each chat once: pinned, in its folder, or under its date', () => {
  const chats = [
    chat('older', new Date(2026, 5, 1), { folder: 'Law 10' }),
    chat('pinned', new Date(2026, 5, 2), { pinned: true, folder: 'Old' }),
    chat('newer', now, { folder: 'Law 10' }),
    chat('two', now, { folder: 'law 2' }),
    chat('free', now),
  ];
  const { pinned, folders, groups } = arrangeChats(chats, now);
  const titles = (some: readonly ChatSummary[]) => some.map((one) => one.title).join(' ');
  expect(titles(pinned)).toBe('pinned');
  expect(folders.map((folder) => `${folder.name}: ${titles(folder.chats)}`)).toEqual([
    'law 2: two',
    'Law 10: newer older',
  ]);
  expect(groups.map((group) => `${group.label}: ${titles(group.chats)}`)).toEqual(['Today: free']);
  expect(folderNames(chats)).toEqual(['law 2', 'Law 10', 'Old']);
});

it('searchChats finds every word in any order, whatever the case and the accents', () => {
  const chats = [chat('Café contract', now), chat('Lease contract', now)];
  expect(searchChats(chats, 'CONTRACT cafe').map((one) => one.title)).toEqual(['Café contract']);
  expect(searchChats(chats, '  ')).toHaveLength(2);
  expect(searchChats(chats, 'rent')).toEqual([]);
});
