/** Documents beside a question: from a file or a paste to a card, with the question to the services, and the room for it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Message } from '@/electron/contract/chats';
import type { DocumentJob } from '@/electron/contract/documents';
import type { CacheType } from '@/electron/contract/settings';
import type { AppState } from '@/renderer/state/appState';
import { attachmentsOf, draftDocument, pastedName } from '@/renderer/state/lib/attach';
import { neededLength, roomOffers, selectBudgetStale, selectOffersLetGo } from '@/renderer/state/slices/budget';
import { selectDraftDocuments } from '@/renderer/state/slices/documents';
import { openWindow } from '@/test/fixtures/renderer/window';
import { documentInfo, fitOf, message, promptBudget } from '@/test/fixtures/samples';
import { attach, waiting } from '@/test/fixtures/services';

async function start({ engine = false } = {}) {
  const opened = await openWindow({ start: engine });
  const cards = () => selectDraftDocuments(opened.get());
  const read = () => vi.waitFor(() => expect(cards().every(({ info }) => info)).toBe(true), waiting);
  /** Pasted, and read. */
  async function paste(text: string) {
    await opened.actions.documents.attachText(text);
    await read();
    return cards().at(-1)?.info?.id ?? '';
  }
  return { ...opened, cards, read, paste, documents: opened.actions.documents };
}

const passages = { kind: 'passages' as const, passages: [] };

describe('a document of a draft', () => {
  it('is on its card at once, is read, and goes with the question', async () => {
    const { dataFolder, documents, cards, read, ask, bridge, get } = await start({ engine: true });
    const path = join(dataFolder, 'report.txt');
    await writeFile(path, '# One\nwords\n# Two\nmore words');
    const attaching = documents.attachFiles([new File([path], 'report.txt')]);
    expect(cards()).toMatchObject([{ name: 'report.txt', info: null, sent: 0 }]);
    expect(attachmentsOf(cards())).toEqual([]);
    await attaching;
    await read();
    expect(cards()[0]?.info?.sections).toBe(2);
    const attachments = attachmentsOf(cards());
    await ask('Who?');
    expect(bridge.inputs('turns.send')).toMatchObject([{ text: 'Who?', attachments }]);
    expect(cards()).toEqual([]);
    expect(get().conversation.chat?.messages[0]?.attachments).toEqual(attachments);
  });

  it('says why it could not be read or handed over, and is tried again', async () => {
    const { documents, cards, bridge } = await start();
    await documents.attachText('refuse');
    await vi.waitFor(() => expect(cards()[0]?.error?.code).toBe('document-unsupported'), waiting);
    const full = { code: 'storage-failed', message: 'The disk is full.', hint: '' } as const;
    bridge.refuse('documents.addText', full);
    const { key = '', name } = cards()[0] ?? {};
    await documents.tryAgain(key);
    expect(cards()).toMatchObject([{ name, error: full }]);
    bridge.refuse('documents.addText', null);
    await documents.tryAgain(key);
    expect(cards()).toMatchObject([{ name, error: null, jobId: expect.any(String) }]);
  });

  it('ends its job when it is removed', async () => {
    const { documents, cards, bridge, call } = await start();
    await documents.attachText('silent');
    const { key = '', jobId } = cards()[0] ?? {};
    documents.remove(key);
    expect(cards()).toEqual([]);
    await vi.waitFor(() => expect(bridge.inputs('documents.cancel')).toEqual([{ jobId }]), waiting);
    await vi.waitFor(
      async () => expect((await call('documents.jobs', undefined))[0]?.state).not.toBe('reading'),
      waiting,
    );
  });

  it('that was chosen in the dialog is ready when its job ended before the window knew of it', async () => {
    const { documents, cards, bridge } = await start();
    const job: DocumentJob = {
      ...{ id: 'job', name: 'report.pdf', state: 'reading', progress: 0.2, pages: null, document: null, error: null },
    };
    bridge.answer('documents.attachFromDialog', () => [job.id]);
    bridge.answer('documents.jobs', () => {
      // the event overtakes the answer, which holds the state before it
      bridge.emit('onDocumentJobs', [{ ...job, state: 'done', document: documentInfo() }]);
      return [job];
    });
    await documents.attachFromDialog();
    expect(cards()).toMatchObject([{ jobId: job.id, info: { name: 'report.pdf' }, origin: { kind: 'dialog' } }]);
  });

  it('becomes plain text again, behind what was written', async () => {
    const { documents, conversation, cards, get } = await start();
    conversation.setDraftText('Look:');
    await documents.attachText('a long text');
    documents.pasteAsText(cards()[0]?.key ?? '');
    expect(get().conversation.drafts.new).toEqual({ text: 'Look:\n\na long text', documents: [] });
  });

  it('stays with its own draft while other chats are open, and ends there', async () => {
    const { documents, conversation, cards, call, read, get } = await start();
    const [one, two] = [await call('chats.create', { title: 'One' }), await call('chats.create', { title: 'Two' })];
    await conversation.open(one.id);
    await documents.attachText('one');
    await conversation.open(two.id);
    expect(cards()).toEqual([]);
    await vi.waitFor(() => expect(get().documents.jobs[0]?.state).toBe('done'), waiting);
    await conversation.open(one.id);
    await read();
    expect(cards()).toHaveLength(1);
  });

  it('that is searched stays beside the next question', async () => {
    const { documents, conversation, cards, paste, bridge } = await start();
    const assistantMessage = message({ id: 'answer', role: 'assistant' });
    bridge.answer('turns.send', () => ({ requestId: 'r', userMessage: message(), assistantMessage }));
    await paste('words');
    documents.setPart(cards()[0]?.key ?? '', { ...passages, words: 'lamp oil' });
    conversation.setDraftText('One?');
    await conversation.send();
    expect(bridge.inputs('turns.send')).toMatchObject([{ attachments: [{ part: { words: 'lamp oil' } }] }]);
    // the words were for that question
    expect(cards().map(({ part }) => part)).toEqual([passages]);
  });

  it('that was searched in an earlier run is there again, until it is taken off', async () => {
    const { documents, conversation, cards, call, bridge } = await start();
    const attachment = { ...(await attach(call, 'a.txt', 'words')), part: passages };
    const { id: chatId } = await call('chats.create', { title: 'Old' });
    const chat = await call('chats.open', { chatId });
    const question = message({ id: 'q', attachments: [attachment] });
    bridge.answer('chats.open', () => ({ ...chat, messages: [question], leafId: question.id }));
    await conversation.open(chatId);
    await vi.waitFor(() => expect(cards()).toMatchObject([{ part: passages, origin: { kind: 'stored' } }]), waiting);
    conversation.startNew();
    await conversation.open(chatId);
    expect(cards()).toHaveLength(1);
    documents.remove(cards()[0]?.key ?? '');
    conversation.startNew();
    await conversation.open(chatId);
    expect(cards()).toEqual([]);
  });

  it('gives nothing when none of it is chosen, and its name only once', () => {
    const ready = draftDocument({ name: 'a', origin: { kind: 'stored' }, info: documentInfo() });
    expect(attachmentsOf([{ ...ready, part: { kind: 'sections', sections: [] } }])).toEqual([]);
    expect(pastedName(['Pasted text', 'Pasted text 2'])).toBe('Pasted text 3');
  });
});

describe('the search in a document', () => {
  it('gives each passage with its words; one that failed is distinct from one without hits', async () => {
    const { documents, bridge, paste } = await start();
    const id = await paste('0123456789abcdefghij');
    const passage = { start: 10, end: 14, label: 'Page 1', score: 2 };
    bridge.answer('documents.search', () => ({ passages: [passage], all: 1 }));
    expect(await documents.search(id, 'letters')).toEqual({ passages: [{ ...passage, text: 'abcd' }], all: 1 });
    bridge.refuse('documents.search', { code: 'not-found', message: 'Gone.', hint: '' });
    expect(await documents.search(id, 'letters')).toBeNull();
  });

  it('shows how far its own search is, until nobody waits for it', async () => {
    const { documents, get, bridge } = await start();
    bridge.answer('documents.search', () => ({ passages: [], all: 0 }));
    await documents.search('d1', 'letters');
    const [{ asker }] = bridge.inputs('documents.search') as [{ asker: string }];
    bridge.emit('onSearch', { asker: 'another window', fraction: 0.9 });
    expect(get().documents.searched).toBeNull();
    bridge.emit('onSearch', { asker, fraction: 0.3 });
    expect(get().documents.searched).toBe(0.3);
    documents.endSearch();
    expect(get().documents.searched).toBeNull();
    await vi.waitFor(() => expect(bridge.inputs('documents.cancelSearch')).toEqual([{ asker }]), waiting);
  });
});

describe('the budget', () => {
  it('is of the draft as it is, and stale with every change of it', async () => {
    const { documents, actions, conversation, cards, paste, get } = await start({ engine: true });
    await paste('# One\nsome words\n# Two\nmore words');
    conversation.setDraftText('Who is it?');
    expect(selectBudgetStale(get())).toBe(true);
    await actions.budget.ask();
    expect(get().budget.budget).toMatchObject({ message: 3, byDocument: [{ documentId: cards()[0]?.info?.id }] });
    expect(selectBudgetStale(get())).toBe(false);
    documents.setPart(cards()[0]?.key ?? '', { kind: 'sections', sections: [1] });
    expect(selectBudgetStale(get())).toBe(true);
  });

  it('is asked before a question leaves the field; where nothing can be counted the engine decides', async () => {
    const { actions, conversation, paste, bridge } = await start({ engine: true });
    await paste('a few words');
    expect(await actions.budget.fits()).toBe(true);
    await paste('word '.repeat(9000));
    expect(await actions.budget.fits()).toBe(false);
    bridge.refuse('turns.budget', { code: 'engine-unavailable', message: 'Not yet.', hint: '' });
    conversation.setDraftText('Counted by nobody.');
    expect(await actions.budget.fits()).toBe(true);
  });
});

it('the panel opens at a place, in place of the settings, and says when the document is not stored any more', async () => {
  const { documents, actions, call, get } = await start();
  const { documentId } = await attach(call, 'a.txt', '# One\n# Two\n# Three\n');
  actions.ui.setSettings(true);
  documents.openAt(documentId, { section: 2 });
  expect(get().documents.panel).toMatchObject({ documentId, view: 'text', place: { section: 2 } });
  expect(get().ui.settingsOpen).toBe(false);
  await vi.waitFor(() => expect(get().documents.sections[documentId]).toHaveLength(3), waiting);
  const before = get().documents.panel?.asked;
  documents.openAt(documentId, { section: 2 });
  expect(get().documents.panel?.asked).not.toBe(before);
  documents.openAt('0d9b5ad4-0000-4000-8000-000000000000');
  await vi.waitFor(() => expect(get().documents.panelError?.code).toBe('not-found'), waiting);
});

describe('leaving out the oldest messages', () => {
  const last = message({ id: 'a', stopReason: 'end-of-turn' });
  function stateWith(change: { leaveOut?: boolean; stopReason?: Message['stopReason'] }): AppState {
    const remedies = { leaveOut: change.leaveOut ?? true, brief: false, newChat: false };
    return {
      budget: { key: '', budget: promptBudget({ fits: false, over: 50, remedies }), error: null },
      conversation: { chat: { messages: [{ ...last, ...change }], leafId: 'a' } },
    } as unknown as AppState;
  }

  it('is offered once, by the last answer where that ended for want of room, and only where it would do', () => {
    expect(selectOffersLetGo(stateWith({}))).toBe(true);
    expect(selectOffersLetGo(stateWith({ stopReason: 'context-full' }))).toBe(false);
    expect(selectOffersLetGo(stateWith({ leaveOut: false }))).toBe(false);
    const fitting = { ...stateWith({}), budget: { key: '', budget: promptBudget(), error: null } };
    expect(selectOffersLetGo(fitting)).toBe(false);
  });
});

it('a longer context is as long as it has to be, and offered with the chosen types first, then with smaller ones', () => {
  const budget = promptBudget({ documents: 9000 });
  expect(neededLength(budget, 1024, null)).toBe(10_240);
  expect(neededLength(budget, 1024, 131_072)).toBe(10_240);
  expect(neededLength(budget, 1024, 10_100)).toBe(10_100);
  expect(neededLength(budget, 1024, 8192)).toBeNull();
  const offers = (type: CacheType, values: number) => {
    const context = { nCtx: 16_384, typeK: type, typeV: type };
    return roomOffers(fitOf(context, { weights: 48e6, values, longest: 16_384 }), 16_384).map(({ typeK }) => typeK);
  };
  expect(offers('f16', 2048)).toEqual(['f16', 'turbo4', 'turbo3']);
  expect(offers('turbo4', 2048)).toEqual(['turbo4', 'turbo3']);
  expect(offers('turbo3', 2048)).toEqual(['turbo3']);
  expect(offers('f16', 512_000)).toEqual(['turbo3']);
  expect(offers('turbo4', 100_000_000)).toEqual([]);
});

describe('the panel', () => {
  it('shows the same place as text and as page, and opens the next one as it was read last', async () => {
    const { documents, paste, get } = await start();
    const id = await paste('The lamp was lit.');
    const place = { offset: 4, end: 8 };
    const panel = () => get().documents.panel;
    documents.openAt(id, place);
    expect(panel()).toMatchObject({ view: 'text', place });
    documents.setView('page');
    expect(panel()).toMatchObject({ view: 'page', place });
    documents.close();
    documents.openAt(id, { section: 0 });
    expect(panel()).toMatchObject({ view: 'page', place: { section: 0 } });
    documents.setView('parts');
    expect(panel()).toMatchObject({ view: 'parts', place: null });
    documents.openAt(id, place);
    expect(panel()?.view).toBe('page');
    documents.setView('text');
    documents.openAt(id);
    expect(panel()?.view).toBe('text');
  });

  it('goes on with the next view where the person went to, until something else is asked for', async () => {
    const { documents, paste, get } = await start();
    const id = await paste('The lamp was lit.');
    const panel = () => get().documents.panel;
    documents.openAt(id, { offset: 4 });
    const asked = panel()?.asked ?? 0;
    documents.goTo(id, asked, 7);
    documents.setView('page');
    expect(panel()).toMatchObject({ view: 'page', place: { offset: 4 }, left: 7 });
    documents.openAt(id, { offset: 9 });
    expect(panel()).toMatchObject({ place: { offset: 9 }, left: null });
    // said by a view that is closing
    documents.goTo(id, asked, 7);
    expect(panel()?.left).toBeNull();
    documents.setView('text');
  });

  it('has a page drawn once, keeps the last few, and tries one again that failed', async () => {
    const { documents, bridge } = await start();
    const picture = { png: '', width: 1, height: 1, marks: [] };
    bridge.answer('documents.page', () => picture);
    const page = (sheet: number) => documents.page({ documentId: 'd', sheet, width: 300, place: null });
    const drawn = () => bridge.inputs('documents.page').length;
    expect(await page(1)).toEqual({ ok: true, value: picture });
    await page(1);
    expect(drawn()).toBe(1);
    for (let sheet = 2; sheet <= 8; sheet++) await page(sheet);
    await page(1);
    expect(drawn()).toBe(8);
    await page(9);
    await page(1);
    expect(drawn()).toBe(9);
    // the one that nobody looked at for longest
    await page(2);
    expect(drawn()).toBe(10);
    const gone = { code: 'not-found', message: 'It is gone.', hint: '' } as const;
    bridge.refuse('documents.page', gone);
    expect(await page(10)).toEqual({ ok: false, error: gone });
    bridge.refuse('documents.page', null);
    expect((await page(10)).ok).toBe(true);
  });
});
