/** The shelf through the services together: what it keeps, what it keeps alive, and what becomes of both. */
import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { limits } from '@/electron/contract/limits';
import { attach, setUpServices } from '@/test/fixtures/services';

type Services = Awaited<ReturnType<typeof setUpServices>>;

async function start(data?: string) {
  const base = await setUpServices({ start: false, ...(data && { data }) });
  const put = async (name: string, text: string) => {
    const { documentId } = await attach(base.call, name, text);
    await base.call('shelf.add', { documents: [{ documentId, name }] });
    return documentId;
  };
  const names = async () => (await base.call('shelf.get', undefined)).documents.map(({ name }) => name);
  return { ...base, put, names };
}

/** As if everything in it had been attached long ago. */
async function age({ dataFolder }: Pick<Services, 'dataFolder'>): Promise<void> {
  const folder = join(dataFolder, 'documents');
  const old = new Date(Date.now() - 10 * 86_400_000);
  for (const name of await readdir(folder)) await utimes(join(folder, name), old, old);
}

const stored = async ({ dataFolder }: Pick<Services, 'dataFolder'>) => readdir(join(dataFolder, 'documents'));

describe('the shelf', () => {
  it('holds each document once, tells every window, and is there after a restart', async () => {
    const first = await start();
    const { call, put, payloads, dataFolder, services } = first;
    const notes = await put('Notes.txt', 'The gate is green.');
    await call('shelf.add', { documents: [{ documentId: notes, name: 'Again.txt' }] });
    await put('Plan.txt', 'Row north.');
    expect(await first.names()).toEqual(['Notes.txt', 'Plan.txt']);
    await call('shelf.rename', { documentId: notes, name: ' The gate ' });
    expect(
      payloads('onShelf')
        .at(-1)
        ?.documents.map(({ name }) => name),
    ).toEqual(['The gate', 'Plan.txt']);
    await services.close();
    expect(await (await start(dataFolder)).names()).toEqual(['The gate', 'Plan.txt']);
  });

  it('refuses what is not stored, what is not on it, and more than it holds, and stays as it was', async () => {
    const { call, put, names } = await start();
    await put('Notes.txt', 'The gate is green.');
    const unknown = 'f'.repeat(64);
    await expect(call('shelf.add', { documents: [{ documentId: unknown, name: 'Lost.txt' }] })).rejects.toMatchObject({
      code: 'not-found',
      message: 'The text of Lost.txt is not stored any more.',
    });
    await expect(call('shelf.rename', { documentId: unknown, name: 'x' })).rejects.toMatchObject({ code: 'not-found' });
    expect(await names()).toEqual(['Notes.txt']);
  });

  it('has a limit, which the error names', async () => {
    const { dataFolder, services } = await start();
    await services.close();
    const documents = Array.from({ length: limits.maxShelf }, (_, n) => ({
      documentId: n.toString(16).padStart(64, '0'),
      name: `${n}.txt`,
      addedAt: n,
    }));
    await writeFile(join(dataFolder, 'shelf.json'), JSON.stringify({ version: 1, documents, folders: [] }));
    const next = await start(dataFolder);
    await expect(next.put('Notes.txt', 'One too many.')).rejects.toMatchObject({
      message: 'The shelf holds 1,000 documents, and no more.',
    });
    expect(await next.names()).toHaveLength(limits.maxShelf);
  });

  it('keeps the text of a document that no chat names, until it is taken off', async () => {
    const first = await start();
    const kept = await first.put('Notes.txt', 'The gate is green.');
    const loose = (await attach(first.call, 'Loose.txt', 'Nobody asks.')).documentId;
    await first.services.close();
    await age(first);
    const second = await start(first.dataFolder);
    await second.call('documents.sweep', undefined);
    expect(await stored(second)).toEqual([kept]);
    expect(await stored(second)).not.toContain(loose);
    await second.call('shelf.remove', { documentIds: [kept] });
    await second.call('documents.sweep', undefined);
    expect(await stored(second)).toEqual([]);
  });

  it('leaves a chat its document when it is taken off, and can have it back', async () => {
    const first = await start();
    first.services.engine.start();
    await first.state('ready');
    const documentId = await first.put('Notes.txt', 'The gate is green.');
    const { id, turn } = await first.send('Color?', [{ documentId, name: 'Notes.txt', part: { kind: 'whole' } }]);
    await first.final(turn);
    await first.services.close();
    await age(first);
    const second = await start(first.dataFolder);
    const { documents } = await second.call('shelf.get', undefined);
    await second.call('shelf.remove', { documentIds: [documentId] });
    await second.call('documents.sweep', undefined);
    expect([await second.names(), await stored(second)]).toEqual([[], [documentId]]);
    await second.call('shelf.add', { documents });
    expect((await second.call('shelf.get', undefined)).documents).toEqual(documents);
    await second.call('shelf.remove', { documentIds: [documentId] });
    await second.services.close();
    await age(first);
    const third = await start(first.dataFolder);
    await third.call('chats.remove', { chatId: id });
    await third.call('chats.destroy', { chatIds: [id] });
    expect(await stored(third)).toEqual([]);
  });

  it('counts the chats that have a document, those in the trash too', async () => {
    const { call, put, send, final, services, state } = await start();
    services.engine.start();
    await state('ready');
    const used = await put('Notes.txt', 'The gate is green.');
    await put('Unused.txt', 'Nothing.');
    const attachment = { documentId: used, name: 'Notes.txt', part: { kind: 'whole' as const } };
    const { id, turn } = await send('Color?', [attachment]);
    await final(turn);
    const other = await send('Again?', [attachment]);
    await final(other.turn);
    await call('turns.send', {
      ...{ chatId: id, parentId: turn.assistantMessage.id, text: 'And again?', attachments: [attachment] },
    }).then(final);
    await call('chats.remove', { chatId: other.id });
    expect(await call('shelf.chats', undefined)).toEqual({ [used]: 2 });
  });

  it('sets a file that cannot be read aside, says so, and keeps the texts that it names', async () => {
    const first = await start();
    const kept = await first.put('Notes.txt', 'The gate is green.');
    await first.services.close();
    await age(first);
    const path = join(first.dataFolder, 'shelf.json');
    await writeFile(path, (await readFile(path, 'utf8')).slice(0, -4));
    const second = await start(first.dataFolder);
    expect(await second.names()).toEqual([]);
    const { notices } = await second.call('app.info', undefined);
    expect(notices.join(' ')).toContain('The shelf could not be read. Its file was kept as shelf.corrupt-');
    await second.call('documents.sweep', undefined);
    expect(await stored(second)).toEqual([kept]);
    for (const name of await readdir(first.dataFolder)) {
      if (name.startsWith('shelf.corrupt-')) await rm(join(first.dataFolder, name));
    }
    await second.call('documents.sweep', undefined);
    expect(await stored(second)).toEqual([]);
  });
});

describe('the documents of a folder', () => {
  it('are documents of the shelf, each once, and leave with them', async () => {
    const { call, put } = await start();
    const notes = await put('Notes.txt', 'The gate is green.');
    const plan = await put('Plan.txt', 'Row north.');
    const own = [
      { documentId: plan, part: 'whole' as const },
      { documentId: notes, part: 'passages' as const },
    ];
    const lost = { documentId: 'f'.repeat(64), part: 'whole' as const };
    const { folders } = await call('shelf.setFolder', { name: 'Harbor', documents: [...own, ...own, lost] });
    expect(folders).toEqual([{ name: 'Harbor', documents: own }]);
    expect((await call('shelf.remove', { documentIds: [plan] })).folders).toEqual([
      { name: 'Harbor', documents: own.slice(1) },
    ]);
    expect((await call('shelf.setFolder', { name: 'Harbor', documents: [] })).folders).toEqual([]);
  });

  it('follow its new name, behind what a folder of this name has', async () => {
    const { call, put } = await start();
    const [one, two, three] = [await put('1.txt', 'one'), await put('2.txt', 'two'), await put('3.txt', 'three')];
    const whole = (documentId: string) => ({ documentId, part: 'whole' as const });
    await call('shelf.setFolder', { name: 'A', documents: [whole(one), whole(two)] });
    await call('shelf.setFolder', { name: 'B', documents: [whole(three), whole(two)] });
    expect((await call('shelf.renameFolder', { from: 'A', to: 'B' })).folders).toEqual([
      { name: 'B', documents: [whole(three), whole(two), whole(one)] },
    ]);
    expect((await call('shelf.renameFolder', { from: 'none', to: 'C' })).folders).toHaveLength(1);
  });

  it('a chat is made in a folder', async () => {
    const { call } = await start();
    const { id } = await call('chats.create', { title: 'Pier', folder: 'Harbor' });
    expect(await call('chats.list', undefined)).toMatchObject([{ id, title: 'Pier', folder: 'Harbor' }]);
    expect((await call('chats.open', { chatId: id })).folder).toBe('Harbor');
  });
});
