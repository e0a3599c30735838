/** Documents that come with exported chats, through the services together. */
import { expect, test } from 'vitest';
import type { ExportedDocument } from '@/electron/contract/chatFile';
import { attach, setUpServices } from '@/test/fixtures/services';

type Call = Awaited<ReturnType<typeof setUpServices>>['call'];

async function exported(call: Call, documentId: string): Promise<ExportedDocument> {
  const document = await call('documents.get', { documentId });
  const sections = await call('documents.sections', { documentId });
  const { text } = await call('documents.text', { documentId, start: 0, end: document.characters });
  return { document, sections, text };
}

test('a chat goes on at another computer with the text of its document, under an id that no file has', async () => {
  const here = await setUpServices();
  const notes = await attach(here.call, 'Notes.txt', 'The gate is green.');
  const { id: chatId } = await here.call('chats.create', {});
  const turn = await here.call('turns.send', { chatId, parentId: null, text: 'Colour?', attachments: [notes] });
  await here.final(turn);
  const file = await exported(here.call, notes.documentId);
  const chat = JSON.parse((await here.call('chats.exportText', { chatId, format: 'json', branches: 'all' })).text);
  // where the document is, it stays the one that it was
  expect((await here.call('documents.import', file)).id).toBe(notes.documentId);

  const there = await setUpServices();
  const { id, notices } = await there.call('documents.import', file);
  expect(id).not.toBe(notes.documentId);
  expect(notices).toContain('Its text came with an imported chat.');
  expect((await there.call('documents.import', file)).id).toBe(id);
  await there.call('chats.import', { chat, documents: { [notes.documentId]: id } });
  const again = await there.call('turns.regenerate', { chatId, messageId: turn.userMessage?.id ?? '' });
  expect((await there.final(again)).text).toContain('The gate is green.');
  // and from there to a third one
  const third = await setUpServices({ start: false });
  expect((await third.call('documents.import', await exported(there.call, id))).id).toBe(id);
});

test('a long text can be read at any place, and is whole after a new start', async () => {
  const text = `${'a'.repeat(65_535)}😀${'ü'.repeat(70_000)}end`;
  const { call, services, dataFolder } = await setUpServices({ start: false });
  const sections = [{ kind: 'lines' as const, label: 'Lines 1-1', level: 0, start: 0, end: text.length }];
  const document = {
    ...{ id: 'x', name: 'a.txt', kind: 'text' as const, bytes: 1, characters: 1, pages: null, sections: 9 },
    ...{ notices: [], createdAt: 1 },
  };
  const { id } = await call('documents.import', { document, sections, text });
  await services.close();
  const next = await setUpServices({ start: false, data: dataFolder });
  expect(await next.call('documents.get', { documentId: id })).toMatchObject({ characters: text.length, sections: 1 });
  for (const start of [0, 65_530, 65_537, 131_060, text.length - 5]) {
    const part = await next.call('documents.text', { documentId: id, start, end: start + 20 });
    expect(part.text).toBe(text.slice(start, start + 20));
  }
  const torn = [{ ...sections[0], end: 5 }] as typeof sections;
  await expect(next.call('documents.import', { document, sections: torn, text })).rejects.toMatchObject({
    code: 'bad-request',
  });
});
