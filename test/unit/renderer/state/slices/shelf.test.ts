/** The shelf in a window: files onto it, off it and back, and into questions and folders of chats. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { DocumentJob } from '@/electron/contract/documents';
import type { Engine } from '@/electron/engine/native/types';
import { arrangeChats, folderNames } from '@/renderer/state/lib/chatList';
import { searchShelf } from '@/renderer/state/lib/shelf';
import { selectDraftDocuments } from '@/renderer/state/slices/documents';
import { selectArriving, selectReadable, selectReadShare } from '@/renderer/state/slices/shelf';
import { openWindow } from '@/test/fixtures/renderer/window';
import { loadedContext } from '@/test/fixtures/samples';
import { holding, waiting } from '@/test/fixtures/services';

async function start({ engine = false }: { engine?: boolean | Engine } = {}) {
  const opened = await openWindow({ start: engine !== false, ...(typeof engine === 'object' && { engine }) });
  const { get, actions, dataFolder } = opened;
  const { shelf } = actions;
  const names = () => get().shelf.documents.map(({ name }) => name);
  const idOf = (name: string) => get().shelf.documents.find((one) => one.name === name)?.documentId ?? '';
  const cards = () => selectDraftDocuments(get());
  const filesOf = async (...all: string[]) => {
    const paths = all.map((name) => join(dataFolder, name));
    for (const path of paths) await writeFile(path, `Words of ${path}${' and more'.repeat(10)}`);
    return paths.map((path, n) => new File([path], all[n] ?? ''));
  };
  /** Files of these names, read and on the shelf. */
  async function put(...all: string[]): Promise<void> {
    await shelf.addFiles(await filesOf(...all));
    await vi.waitFor(() => expect(names()).toEqual(expect.arrayContaining(all)), waiting);
    await vi.waitFor(() => expect(selectArriving(get())).toEqual([]), waiting);
  }
  return { ...opened, shelf, names, idOf, cards, put, filesOf };
}

describe('files on their way to the shelf', () => {
  it('are read first, beside no question, and are on it then', async () => {
    const { shelf, names, cards, get, filesOf, dataFolder } = await start();
    const adding = shelf.addFiles(await filesOf('report.txt'));
    expect(selectArriving(get())).toMatchObject([{ name: 'report.txt', info: null }]);
    expect(cards()).toEqual([]);
    await adding;
    await vi.waitFor(() => expect(names()).toEqual(['report.txt']), waiting);
    await vi.waitFor(() => expect(selectArriving(get())).toEqual([]), waiting);
    // the same file under another name
    await writeFile(join(dataFolder, 'copy.txt'), await readFile(join(dataFolder, 'report.txt')));
    await shelf.addFiles([new File([join(dataFolder, 'copy.txt')], 'copy.txt')]);
    await vi.waitFor(() => expect(get().shelf.already).toEqual({ name: 'copy.txt', as: 'report.txt' }), waiting);
    expect([names(), selectArriving(get())]).toEqual([['report.txt'], []]);
  });

  it('stay with the reason when the shelf refuses them, and are taken with the next', async () => {
    const { shelf, names, bridge, get, filesOf, put } = await start();
    const full = { code: 'storage-failed', message: 'The disk is full.', hint: '' } as const;
    bridge.refuse('shelf.add', full);
    await shelf.addFiles(await filesOf('report.txt'));
    await vi.waitFor(() => expect(get().shelf.problem).toEqual(full), waiting);
    expect(selectArriving(get())).toMatchObject([{ name: 'report.txt', info: { name: 'report.txt' } }]);
    bridge.refuse('shelf.add', null);
    await put('other.txt');
    expect(names()).toEqual(['report.txt', 'other.txt']);
    expect(get().shelf.problem).toBeNull();
  });

  it('come by the dialog too, and into the folder that they are for', async () => {
    const { shelf, names, bridge, get, call, idOf, dataFolder } = await start();
    await writeFile(join(dataFolder, 'plan.txt'), 'Row north.');
    let jobs: string[] = [];
    bridge.answer('documents.attachFromDialog', async () => {
      jobs = await call('documents.addPaths', { paths: [join(dataFolder, 'plan.txt')] });
      // it has been read before the window hears which one it is
      await vi.waitFor(async () => {
        const list: DocumentJob[] = await call('documents.jobs', undefined);
        expect(list.find(({ id }) => id === jobs[0])?.state).toBe('done');
      }, waiting);
      return jobs;
    });
    await shelf.addFromDialog('Harbor');
    expect(names()).toEqual(['plan.txt']);
    expect(get().shelf.folders).toEqual([
      { name: 'Harbor', documents: [{ documentId: idOf('plan.txt'), part: 'whole' }] },
    ]);
  });
});

describe('documents of the shelf', () => {
  it('go into the question under the name that they have there, each once', async () => {
    const { shelf, cards, put, idOf, names } = await start();
    await put('one.txt', 'two.txt');
    const id = idOf('one.txt');
    await shelf.rename(id, 'The first');
    expect(names()).toEqual(['The first', 'two.txt']);
    await shelf.attach([id, idOf('two.txt')]);
    await shelf.attach([id]);
    expect(cards().map(({ name, info, part }) => [name, info?.name, part.kind])).toEqual([
      ['The first', 'The first', 'whole'],
      ['two.txt', 'two.txt', 'whole'],
    ]);
  });

  it('are searched for each question where they are known to be longer than the context', async () => {
    const { shelf, cards, put, idOf, get, engineIs, app } = await start();
    await put('long.txt', 'short.txt');
    engineIs({ context: { ...loadedContext, nCtx: 100 } });
    const count = (name: string, tokens: number) => ({
      [idOf(name)]: { modelId: get().engine.status?.modelId ?? null, tokens, sections: null },
    });
    const tokens = { ...count('long.txt', 101), ...count('short.txt', 100) };
    app.store.setState({ documents: { ...get().documents, tokens } });
    await shelf.attach([idOf('long.txt'), idOf('short.txt')]);
    expect(cards().map(({ part }) => part.kind)).toEqual(['passages', 'whole']);
    await shelf.addToFolder('Harbor', [idOf('long.txt'), idOf('short.txt')]);
    expect(get().shelf.folders[0]?.documents.map(({ part }) => part)).toEqual(['passages', 'whole']);
  });

  it('begin a new chat, before what was written for one', async () => {
    const { shelf, cards, put, idOf, actions, get } = await start({ engine: true });
    await put('one.txt', 'two.txt');
    await shelf.attach([idOf('one.txt')]);
    actions.conversation.setDraftText('Who?');
    await shelf.beginChat([idOf('two.txt')]);
    expect(cards().map(({ name }) => name)).toEqual(['two.txt', 'one.txt']);
    await shelf.beginChat([idOf('one.txt')]);
    expect(cards().map(({ name }) => name)).toEqual(['one.txt', 'two.txt']);
    expect(get().conversation.drafts.new?.text).toBe('Who?');
  });

  it('are taken off and had back with their places in folders', async () => {
    const { shelf, names, put, idOf, get } = await start();
    await put('one.txt', 'two.txt');
    const { documents } = get().shelf;
    const id = idOf('one.txt');
    await shelf.setFolder('Harbor', [{ documentId: id, part: 'passages' }]);
    await shelf.remove([id]);
    expect([names(), get().shelf.folders]).toEqual([['two.txt'], []]);
    await shelf.undoRemove();
    expect(get().shelf.documents).toEqual(documents);
    expect(get().shelf.folders).toEqual([{ name: 'Harbor', documents: [{ documentId: id, part: 'passages' }] }]);
    expect(get().shelf.removed).toBeNull();
  });

  it('a refused removal changes nothing and says why', async () => {
    const { shelf, names, put, idOf, get, bridge } = await start();
    await put('one.txt');
    const full = { code: 'storage-failed', message: 'The disk is full.', hint: '' } as const;
    bridge.refuse('shelf.remove', full);
    await shelf.remove([idOf('one.txt')]);
    expect([names(), get().shelf.problem, get().shelf.removed]).toEqual([['one.txt'], full, null]);
  });

  it('show their facts while the shelf is looked at, and which texts are lost', async () => {
    const first = await start();
    await first.put('one.txt', 'lost.txt');
    const [one, lost] = [first.idOf('one.txt'), first.idOf('lost.txt')];
    await first.services.close();
    await rm(join(first.dataFolder, 'documents', lost), { recursive: true });
    const { get, actions } = await openWindow({ data: first.dataFolder });
    actions.shelf.show();
    void actions.shelf.look();
    await vi.waitFor(() => expect(get().shelf.missing).toEqual([lost]), waiting);
    await vi.waitFor(() => expect(get().documents.tokens[one]?.tokens).toBeGreaterThan(0), waiting);
    expect([get().documents.infos[one]?.name, get().shelf.chats]).toEqual(['one.txt', {}]);
    await actions.shelf.remove([lost]);
    await vi.waitFor(() => expect(get().shelf.missing).toEqual([]), waiting);
  });

  it('are found by every word of the query, the last one added first', () => {
    const documents = ['Übersicht der Häfen', 'Harbor plan', 'Plan of the harbor'].map((name, n) => ({
      ...{ documentId: String(n), name, addedAt: n },
    }));
    const found = (query: string) => searchShelf(documents, query).map(({ name }) => name);
    expect(found('plan HARBOR')).toEqual(['Plan of the harbor', 'Harbor plan']);
    expect(found('hafen')).toEqual(['Übersicht der Häfen']);
    expect(found('')).toHaveLength(3);
  });
});

describe('a document that is read ahead', () => {
  it('tells how far it is, is stopped, and leaves nothing in the stream', async () => {
    const { engine, words } = holding(0);
    const opened = await start({ engine });
    const { shelf, put, idOf, get, call } = opened;
    const { documents } = opened.actions;
    await put('one.txt');
    const documentId = idOf('one.txt');
    await documents.count(documentId, get().engine.status?.modelId ?? null);
    // so short that its cache is not kept
    expect(selectReadable(documentId)(get())).toBe(false);
    await call('settings.update', { sessions: { minTokens: 16 } });
    await vi.waitFor(() => expect(selectReadable(documentId)(get())).toBe(true), waiting);
    await shelf.read(documentId);
    await words.reached();
    await vi.waitFor(() => expect(get().shelf.readings[0]?.messageId).toBeTruthy(), waiting);
    const messageId = get().shelf.readings[0]?.messageId ?? '';
    await vi.waitFor(() => expect(selectReadShare(messageId)(get())).toBe(1), waiting);
    expect(selectReadable(documentId)(get())).toBe(false);
    await shelf.stopReading(documentId);
    await vi.waitFor(() => expect(get().shelf.readings).toEqual([]), waiting);
    expect(get().stream.live).toEqual({});
    words.open();
    // the view asks for what is kept when something has been read
    shelf.show();
    await shelf.read(documentId);
    await vi.waitFor(() => expect(get().shelf.kept).toEqual([documentId]), waiting);
    expect(selectReadable(documentId)(get())).toBe(false);
    expect(get().stream.live).toEqual({});
  });
});

describe('a folder of chats with documents', () => {
  it('begins each new chat with them, and the chat lies in it', async () => {
    const { shelf, put, idOf, cards, get, ask, bridge, actions } = await start({ engine: true });
    await put('one.txt', 'two.txt');
    await shelf.setFolder('Harbor', [
      { documentId: idOf('two.txt'), part: 'whole' },
      { documentId: idOf('one.txt'), part: 'passages' },
    ]);
    await shelf.newChatIn('Harbor');
    expect(cards().map(({ name, part }) => [name, part.kind])).toEqual([
      ['two.txt', 'whole'],
      ['one.txt', 'passages'],
    ]);
    const [, passages] = cards();
    actions.documents.remove(passages?.key ?? '');
    await ask('Who?');
    expect(bridge.inputs('chats.create')).toEqual([{ title: 'Who?', folder: 'Harbor' }]);
    expect(get().conversation.chat?.messages[0]?.attachments.map(({ name }) => name)).toEqual(['two.txt']);
    expect(get().chats.list).toMatchObject([{ title: 'Who?', folder: 'Harbor' }]);
    // the next one begins with all of them again, and one outside with none
    await shelf.newChatIn('Harbor');
    expect(cards()).toHaveLength(2);
    actions.conversation.startNew();
    expect(cards()).toEqual([]);
  });

  it('has a draft of its own, which stays as it was left', async () => {
    const { shelf, put, idOf, cards, actions } = await start();
    await put('one.txt');
    await shelf.addToFolder('Harbor', [idOf('one.txt'), idOf('one.txt')]);
    await shelf.newChatIn('Harbor');
    actions.conversation.setDraftText('About the pier');
    actions.documents.remove(cards()[0]?.key ?? '');
    actions.conversation.startNew();
    await shelf.newChatIn('Harbor');
    expect(cards()).toEqual([]);
  });

  it('is renamed and deleted with its chats, and is there without any', async () => {
    const { shelf, put, idOf, get } = await start();
    await put('one.txt');
    await shelf.addToFolder('Harbor', [idOf('one.txt')]);
    await shelf.renameFolder('Harbor', ' Port ');
    expect(get().shelf.folders.map(({ name }) => name)).toEqual(['Port']);
    const named = get().shelf.folders.map(({ name }) => name);
    expect(arrangeChats([], new Date(), named).folders).toEqual([{ name: 'Port', chats: [] }]);
    expect(folderNames([], named)).toEqual(['Port']);
    await shelf.removeFolder('Port');
    expect([get().shelf.folders, get().shelf.documents.length]).toEqual([[], 1]);
  });
});
