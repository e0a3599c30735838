/** Search, folders and trash as the state of the window has them. */
import { describe, expect, it, vi } from 'vitest';
import type { Message } from '@/electron/contract/chats';
import { rememberFolders } from '@/renderer/app/stored';
import { createElectronClient } from '@/renderer/bridge/createClient';
import { connect } from '@/renderer/state/connect';
import { selectProblem } from '@/renderer/state/slices/ui';
import { createApp } from '@/renderer/state/store';
import { fileName } from '@/renderer/ui/saveFile';
import { FakeServices } from './fakeServices';

async function start() {
  const fake = new FakeServices({ frameMs: 0 });
  const ids = ['Lease', 'Soup', 'Rent'].map((title) => fake.create(title).id) as [string, string, string];
  const client = createElectronClient(fake);
  const app = createApp(client);
  connect(client, app, () => undefined);
  const chats = () => app.store.getState().chats;
  await vi.waitFor(() => expect(chats().list).toHaveLength(3));
  const calls = (name: string) => fake.calls.filter((call) => call.name === name).map((call) => call.input);
  const problem = () => selectProblem(app.store.getState());
  return { fake, app, ids, actions: app.actions.chats, chats, calls, problem };
}

describe('the search', () => {
  it('asks when the typing rests, and shows the answer to what stands in the field', async () => {
    const { actions, chats, calls } = await start();
    for (const query of ['l', 'le', 'lea']) actions.search(query);
    expect(chats()).toMatchObject({ query: 'lea', searching: true, found: null });
    await vi.waitFor(() => expect(chats().searching).toBe(false));
    expect(calls('chats.search')).toMatchObject([{ query: 'lea' }]);
    expect(chats().found?.query).toBe('lea');
    actions.search(' ');
    expect(chats()).toMatchObject({ searching: false, found: null });
  });

  it('says nothing of a search that a newer one ended, and tells of one that failed', async () => {
    const { fake, actions, chats, problem } = await start();
    fake.failures.set('chats.search', { code: 'cancelled', message: 'Another search was begun.', hint: '' });
    actions.search('lea');
    const asked = actions.firstHit();
    actions.search('leas');
    await asked;
    expect(problem()).toBeNull();
    fake.failures.set('chats.search', { code: 'internal', message: 'The search ended.', hint: 'Search again.' });
    await vi.waitFor(() => expect(problem()?.message).toBe('The search ended.'));
    expect(chats().searching).toBe(false);
  });

  it('shows how far its own question is, and ends it when the field is emptied', async () => {
    const { fake, actions, chats, calls } = await start();
    const handle = fake.call;
    let asker = '';
    fake.call = (name, input) => {
      if (name !== 'chats.search') return handle(name, input);
      asker = (input as { asker: string }).asker;
      return new Promise(() => undefined);
    };
    actions.search('lea');
    await vi.waitFor(() => expect(asker).not.toBe(''));
    fake.emit('onSearch', { asker: 'another window', fraction: 0.9 });
    expect(chats().searched).toBeNull();
    fake.emit('onSearch', { asker, fraction: 0.3 });
    expect(chats().searched).toBe(0.3);
    actions.search('');
    expect(chats()).toMatchObject({ searching: false, searched: null });
    await vi.waitFor(() => expect(calls('chats.cancelSearch')).toEqual([{ asker }]));
  });

  it('opens the first hit of what is typed now, without waiting', async () => {
    const { fake, actions, ids } = await start();
    const hit = { chatId: ids[0], titleMarks: [], snippets: [], messages: 1 };
    const handle = fake.call;
    fake.call = async (name, input) =>
      name === 'chats.search' ? { ok: true, value: { hits: [hit], more: false } } : handle(name, input);
    actions.search('lease');
    expect((await actions.firstHit())?.chatId).toBe(ids[0]);
  });
});

describe('folders and pins', () => {
  it('are shown at once, and put back when they are refused', async () => {
    const { fake, actions, ids, chats, problem } = await start();
    const placed = () => chats().list?.map(({ pinned, folder }) => [pinned, folder]);
    const pinning = actions.setPinned(ids[0], true);
    expect(placed()?.[0]).toEqual([true, null]);
    await pinning;
    await actions.setFolder([ids[0], ids[1]], 'Law');
    await actions.renameFolder('Law', ' Old law ');
    expect(placed()).toEqual([
      [true, 'Old law'],
      [false, 'Old law'],
      [false, null],
    ]);
    fake.failures.set('chats.setFolder', { code: 'storage-failed', message: 'The disk is full.', hint: '' });
    await actions.removeFolder('Old law');
    expect(placed()?.map(([, folder]) => folder)).toEqual(['Old law', 'Old law', null]);
    expect(problem()?.message).toBe('The disk is full.');
  });

  it('are shut for this window and the next one', async () => {
    const { app, actions, chats } = await start();
    const items = new Map([['concertina.shut-folders', '["Law"]']]);
    const storage = { getItem: (key: string) => items.get(key) ?? null, setItem: items.set.bind(items) };
    rememberFolders(app, storage as unknown as Storage);
    expect(chats().shutFolders).toEqual(['Law']);
    actions.toggleFolder('Soup');
    actions.toggleFolder('Law');
    expect(items.get('concertina.shut-folders')).toBe('["Soup"]');
    items.set('concertina.shut-folders', '{"broken"');
    rememberFolders(app, storage as unknown as Storage);
    expect(chats().shutFolders).toEqual([]);
  });
});

describe('the trash', () => {
  it('is read when it is opened, and again with every change', async () => {
    const { actions, ids, chats, calls } = await start();
    await actions.remove(ids[0]);
    expect(chats().trash).toBeNull();
    await actions.openTrash();
    expect(chats().trash?.map(({ id }) => id)).toEqual([ids[0]]);
    await actions.destroy([ids[0]]);
    expect(calls('chats.destroy')).toEqual([{ chatIds: [ids[0]] }]);
    expect(chats().trash).toEqual([]);
    actions.closeTrash();
    expect(chats().trash).toBeNull();
  });

  it('leaves a chat that is restored', async () => {
    const { actions, ids, chats } = await start();
    await actions.remove(ids[0]);
    await actions.openTrash();
    await actions.restore(ids[0]);
    await vi.waitFor(() => expect(chats().trash).toEqual([]));
    expect(chats().list?.map(({ id }) => id)).toContain(ids[0]);
  });
});

describe('export and import', () => {
  const question: Message = {
    ...{ id: 'q', parentId: null, role: 'user', text: 'Why?', thinking: '', createdAt: 1 },
    ...{ attachments: [], stopReason: null, error: null, stats: null, modelName: '' },
  };
  const options = { format: 'json', branches: 'all' } as const;

  it('a file of all chats can be taken apart again', async () => {
    const { actions, ids, chats, calls } = await start();
    const text = (await actions.exportChats(ids, options))?.parts.join('') ?? '';
    expect(JSON.parse(text)).toMatchObject({ format: 'concertina-chats', version: 1, app: '0.1.0' });
    expect(await actions.importChats(text)).toEqual({ added: 3, refused: [] });
    expect(calls('chats.import').map((input) => (input as { chat: { title: string } }).chat.title)).toEqual([
      'Lease',
      'Soup',
      'Rent',
    ]);
    expect(chats().list).toHaveLength(6);
    expect(chats().transfer).toBeNull();
  });

  it('takes the texts of documents along where that is asked for, and names those that it cannot have', async () => {
    const { fake, actions, ids, calls } = await start();
    const attached = (documentId: string, name: string) => ({ documentId, name, part: { kind: 'whole' } as const });
    fake.chats.set(ids[0], {
      ...fake.create('Contract'),
      id: ids[0],
      messages: [
        { ...question, attachments: [attached('d1', 'a.pdf'), attached('d2', 'b.pdf'), attached('d1', 'a.pdf')] },
      ],
    });
    const handle = fake.call;
    fake.call = async (name, input) => {
      const gone = name === 'documents.get' && (input as { documentId: string }).documentId === 'd2';
      return gone ? { ok: false, error: { code: 'not-found', message: 'Gone.', hint: '' } } : handle(name, input);
    };
    const bare = await actions.exportChats(ids, options);
    expect(JSON.parse(bare?.parts.join('') ?? '')).not.toHaveProperty('documents');
    const exported = await actions.exportChats(ids, options, true);
    expect(exported?.without).toEqual(['b.pdf']);
    const text = exported?.parts.join('') ?? '';
    const { documents } = JSON.parse(text);
    expect(documents).toMatchObject([{ document: { id: 'd1' }, text: '0123456789abcdefghij' }]);
    expect(await actions.importChats(text)).toEqual({ added: 3, refused: [] });
    expect(calls('documents.import')).toEqual(documents);
    expect(calls('chats.import')).toMatchObject(ids.map(() => ({ documents: { d1: 'd1-here' } })));
  });

  it('ends when it is cancelled, with what is done', async () => {
    const { fake, actions, ids } = await start();
    const handle = fake.call;
    let calls = 0;
    fake.call = (name, input) => {
      if (name === 'chats.exportText' && ++calls === 2) actions.cancelTransfer();
      return handle(name, input);
    };
    expect(await actions.exportChats(ids, options)).toBeNull();
    expect(calls).toBe(2);
  });

  it.each([
    ['no JSON', /holds no chats/],
    ['{"chats":[]}', /holds no chats/],
    ['{"format":"concertina-chats","version":2,"chats":[]}', /newer version/],
  ])('refuses %s', async (text, reason) => {
    const { actions } = await start();
    const { added, refused } = await actions.importChats(text);
    expect([added, refused.length]).toEqual([0, 1]);
    expect(refused[0]).toMatch(reason);
  });

  it('says why chats stayed out, each reason once', async () => {
    const { fake, actions } = await start();
    fake.failures.set('chats.import', { code: 'bad-request', message: 'This is no chat.', hint: '' });
    const text = '{"format":"concertina-chats","version":1,"chats":[{},{}]}';
    expect(await actions.importChats(text)).toEqual({ added: 0, refused: ['This is no chat.'] });
  });
});

describe('names of files', () => {
  it.each([
    ['What is 1/2: "half"?', 'What is 1 2 half.md'],
    ['..\\..', 'chat.md'],
    ['x'.repeat(200), `${'x'.repeat(80)}.md`],
  ])('%j', (words, name) => expect(fileName(words, 'md')).toBe(name));
});
