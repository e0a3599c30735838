/** Documents beside a question: from a file or a paste to a card, and with the question to the services. */
import { describe, expect, it, vi } from 'vitest';
import { createElectronClient } from '@/renderer/bridge/createClient';
import { connect } from '@/renderer/state/connect';
import { attachmentsOf, draftDocument, pastedName } from '@/renderer/state/lib/attach';
import { selectBudgetStale } from '@/renderer/state/slices/budget';
import { selectDraftDocuments } from '@/renderer/state/slices/documents';
import { createApp } from '@/renderer/state/store';
import { fakeDocument } from './fakeData';
import { FakeServices } from './fakeServices';

async function start() {
  const fake = new FakeServices({ frameMs: 0 });
  const app = createApp(createElectronClient(fake));
  connect(createElectronClient(fake), app, () => {});
  const get = app.store.getState;
  await vi.waitFor(() => expect(get().chats.list).not.toBeNull());
  const cards = () => selectDraftDocuments(get());
  const done = (index: number, change = {}) =>
    fake.endJob(cards()[index]?.jobId ?? '', { state: 'done', document: fakeDocument(change) });
  const idle = () => vi.waitFor(() => expect(Object.keys(get().stream.live)).toEqual([]));
  return { fake, get, cards, done, idle, ...app.actions };
}

const calls = (fake: FakeServices, name: string) => fake.calls.filter((call) => call.name === name);

describe('a document of a draft', () => {
  it('is on its card at once, is read, and goes with the question', async () => {
    const { fake, documents, conversation, cards, done, idle, get } = await start();
    await documents.attachFiles([new File(['x'], 'report.pdf')]);
    expect(cards()).toMatchObject([{ name: 'report.pdf', info: null, sent: null }]);
    expect(attachmentsOf(cards())).toEqual([]);
    done(0);
    expect(cards()[0]?.info?.pages).toBe(3);
    conversation.setDraftText('Who?');
    await conversation.send();
    await idle();
    const attachments = [{ documentId: 'd1', name: 'report.pdf', part: { kind: 'whole' } }];
    expect(calls(fake, 'turns.send')[0]?.input).toMatchObject({ text: 'Who?', attachments });
    expect(cards()).toEqual([]);
    expect(get().conversation.chat?.messages[0]?.attachments).toEqual(attachments);
  });

  it('says why it could not be read, and is tried again', async () => {
    const { fake, documents, cards, done } = await start();
    await documents.attachText('x'.repeat(3000));
    const error = { code: 'document-invalid', message: 'Damaged.', hint: '' } as const;
    fake.endJob(cards()[0]?.jobId ?? '', { state: 'failed', error });
    expect(cards()[0]?.error).toEqual(error);
    await documents.tryAgain(cards()[0]?.key ?? '');
    expect(cards()[0]).toMatchObject({ name: 'Pasted text', error: null });
    expect(calls(fake, 'documents.addText')).toHaveLength(2);
    done(0);
    expect(cards()[0]?.info).not.toBeNull();
  });

  it('keeps the reason when it cannot even be handed over', async () => {
    const { fake, documents, cards } = await start();
    fake.failures.set('documents.addText', { code: 'storage-failed', message: 'The disk is full.', hint: '' });
    await documents.attachText('x');
    expect(cards()[0]?.error?.message).toBe('The disk is full.');
  });

  it('ends its job when it is removed, also one that was chosen in the dialog', async () => {
    const { fake, documents, cards } = await start();
    await documents.attachFromDialog();
    expect(cards()).toMatchObject([{ name: 'report.pdf', origin: { kind: 'dialog' } }]);
    const { key = '', jobId } = cards()[0] ?? {};
    documents.remove(key);
    expect(cards()).toEqual([]);
    await vi.waitFor(() => expect(calls(fake, 'documents.cancel')[0]?.input).toEqual({ jobId }));
  });

  it('is ready when its job ended before the window knew of it', async () => {
    const { fake, documents, cards } = await start();
    const call = fake.call.bind(fake);
    fake.call = async (name, input) => {
      const answer = await call(name, input);
      // the event overtakes the answer, which tells the state before it
      if (name === 'documents.jobs') fake.endJob('job-1', { state: 'done', document: fakeDocument() });
      return answer;
    };
    await documents.attachFromDialog();
    expect(cards()[0]?.jobId).toBe('job-1');
    expect(cards()[0]?.info?.name).toBe('report.pdf');
  });

  it('is searched: each passage comes with its words; a search that failed is told from one without hits', async () => {
    const { fake, documents } = await start();
    expect(await documents.search('d1', 'letters')).toEqual({
      passages: [{ start: 10, end: 14, label: 'Page 1', score: 2, text: 'abcd' }],
      all: 1,
    });
    fake.failures.set('documents.search', { code: 'not-found', message: 'Gone.', hint: '' });
    expect(await documents.search('d1', 'letters')).toBeNull();
  });

  it('shows how far its own search is, until nobody waits for it', async () => {
    const { fake, documents, get } = await start();
    await documents.search('d1', 'letters');
    const [{ asker } = { asker: '' }] = calls(fake, 'documents.search').map(({ input }) => input as { asker: string });
    fake.emit('onSearch', { asker: 'another window', fraction: 0.9 });
    expect(get().documents.searched).toBeNull();
    fake.emit('onSearch', { asker, fraction: 0.3 });
    expect(get().documents.searched).toBe(0.3);
    documents.endSearch();
    expect(get().documents.searched).toBeNull();
    await vi.waitFor(() => expect(calls(fake, 'documents.cancelSearch')[0]?.input).toEqual({ asker }));
  });

  it('becomes plain text again, behind what was written', async () => {
    const { documents, conversation, cards, get } = await start();
    conversation.setDraftText('Look:');
    await documents.attachText('a long text');
    documents.pasteAsText(cards()[0]?.key ?? '');
    expect(get().conversation.drafts.new).toEqual({ text: 'Look:\n\na long text', documents: [] });
  });

  it('stays with its own draft while other chats are open, and ends there', async () => {
    const { fake, documents, conversation, cards, done } = await start();
    const [first, second] = [fake.create('One'), fake.create('Two')];
    await conversation.open(first.id);
    await documents.attachText('one');
    const jobId = cards()[0]?.jobId ?? '';
    await conversation.open(second.id);
    expect(cards()).toEqual([]);
    fake.endJob(jobId, { state: 'done', document: fakeDocument() });
    await conversation.open(first.id);
    expect(cards()[0]?.info?.id).toBe('d1');
    expect(() => done(0)).not.toThrow();
  });

  it('that is looked up stays with the chat until it is taken off', async () => {
    const { fake, documents, conversation, cards, done, idle } = await start();
    await documents.attachText('x');
    done(0);
    documents.setPart(cards()[0]?.key ?? '', { kind: 'passages', passages: [] });
    conversation.setDraftText('One?');
    await conversation.send();
    await idle();
    expect(cards()).toMatchObject([{ part: { kind: 'passages', passages: [] } }]);
    const [id = ''] = fake.chats.keys();
    conversation.startNew();
    await conversation.open(id);
    expect(cards()).toHaveLength(1);
    documents.remove(cards()[0]?.key ?? '');
    conversation.startNew();
    await conversation.open(id);
    expect(cards()).toEqual([]);
    conversation.setDraftText('Two?');
    await conversation.send();
    await idle();
    expect(calls(fake, 'turns.send')[1]?.input).toMatchObject({ attachments: [] });
  });

  it('is found again in a chat of an earlier run', async () => {
    const { fake, conversation, cards } = await start();
    const { id } = fake.create('Old');
    const attachments = [{ documentId: 'd1', name: 'a.pdf', part: { kind: 'passages' as const, passages: [] } }];
    fake.append(id, fake.message({ parentId: null, role: 'user', text: 'x', attachments }));
    await conversation.open(id);
    await vi.waitFor(() => expect(cards()).toMatchObject([{ info: { id: 'd1' }, origin: { kind: 'stored' } }]));
  });

  it('gives nothing when none of it is chosen, and its name only once', () => {
    const ready = draftDocument({ name: 'a', origin: { kind: 'stored' }, info: fakeDocument() });
    expect(attachmentsOf([{ ...ready, part: { kind: 'sections', sections: [] } }])).toEqual([]);
    expect(pastedName(['Pasted text', 'Pasted text 2'])).toBe('Pasted text 3');
  });
});

describe('the budget', () => {
  it('is of the draft as it is, and stale with every change of it', async () => {
    const { documents, budget, conversation, cards, done, get } = await start();
    await documents.attachText('x');
    done(0);
    conversation.setDraftText('Who is it?');
    expect(selectBudgetStale(get())).toBe(true);
    await budget.ask();
    expect(get().budget.budget).toMatchObject({ documents: 1000, message: 3 });
    expect(selectBudgetStale(get())).toBe(false);
    documents.setPart(cards()[0]?.key ?? '', { kind: 'sections', sections: [1] });
    expect(selectBudgetStale(get())).toBe(true);
  });

  it('is asked before a question with documents leaves the field', async () => {
    const { fake, budget, conversation, documents, done } = await start();
    await documents.attachText('x');
    done(0);
    expect(await budget.fits()).toBe(true);
    fake.settings = { ...fake.settings, context: { ...fake.settings.context, nCtx: 1024 } };
    await documents.attachText('y');
    done(1, { id: 'd2' });
    expect(await budget.fits()).toBe(false);
    fake.failures.set('turns.budget', { code: 'engine-unavailable', message: 'Not yet.', hint: '' });
    conversation.setDraftText('Counted by nobody: the engine decides.');
    expect(await budget.fits()).toBe(true);
  });
});

describe('the panel', () => {
  it('opens at a place, in place of the settings', async () => {
    const { documents, ui, get } = await start();
    ui.setSettings(true);
    documents.openAt('d1', { section: 2 });
    expect(get().documents.panel).toMatchObject({ documentId: 'd1', view: 'text', place: { section: 2 } });
    expect(get().ui.settingsOpen).toBe(false);
    await vi.waitFor(() => expect(get().documents.sections.d1).toHaveLength(3));
    const before = get().documents.panel?.asked;
    documents.openAt('d1', { section: 2 });
    expect(get().documents.panel?.asked).not.toBe(before);
  });

  it('says when the document is not stored any more', async () => {
    const { fake, documents, get } = await start();
    fake.failures.set('documents.get', { code: 'not-found', message: 'Gone.', hint: 'Attach it again.' });
    documents.openAt('d9');
    await vi.waitFor(() => expect(get().documents.panelError?.message).toBe('Gone.'));
  });
});
