// @vitest-environment happy-dom
/** Whether a question can be sent, what the composer says where it cannot, and what the context will hold. */
import { act, cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import type { PromptBudget } from '@/electron/contract/chats';
import type { OperationInput } from '@/electron/contract/contract';
import type { EngineState } from '@/electron/contract/engine';
import { allocatedBytes } from '@/electron/contract/lib/memory';
import { autoContext, type CacheType, type ContextSettings } from '@/electron/contract/settings';
import { Composer, pasteOf } from '@/renderer/features/composer/Composer';
import { selectDraftDocuments } from '@/renderer/state/slices/documents';
import { readingRate } from '@/renderer/state/slices/live';
import { formatBytes, readAgainText } from '@/renderer/ui/format';
import { rendered } from '@/test/fixtures/renderer/rendered';
import {
  answerStats,
  fitOf,
  loadedContext,
  memory,
  modelInfo,
  partMemory,
  promptBudget,
} from '@/test/fixtures/samples';
import { holding, long } from '@/test/fixtures/services';

const field = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Your message' });
const send = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Send' });
/** what the line below the field says */
const status = () => screen.getByTestId('composer-status').textContent;
const idleComposer = () => rendered(<Composer />, { start: false }, ({ engineIs }) => engineIs());
const write = (text: string) => fireEvent.change(field(), { target: { value: text } });

it('says when a chat is longer than what its types were checked with, and nothing otherwise', async () => {
  const pair = (type: CacheType) => ({ typeK: type, typeV: type, keeps: true, calls: 13 });
  const calls = { all: 14, right: 13 };
  const check = { fingerprint: 'f1', modelId: 'm', depth: 4096, pairs: [pair('turbo4')], calls, pick: 1 };
  const summary = (change: Partial<typeof check>) => ({
    ...{ id: 'run', name: 'Check', createdAt: 1, state: 'done' as const, modelName: 'Tiny', configurations: [] },
    check: { ...check, ...change },
  });
  const { bridge } = await rendered(<Composer />, { start: false }, ({ bridge, engineIs }) => {
    bridge.answer('turns.budget', () => promptBudget({ history: 5000 }));
    engineIs();
  });
  write('Why?');
  await screen.findByRole('button', { name: /Context of/ });
  const line = () => screen.queryByTestId('beyond-check')?.textContent ?? null;
  const checked = (change: Partial<typeof check>) => act(() => bridge.emit('onCompareRuns', [summary(change)]));
  expect(line()).toBeNull();
  checked({});
  expect(line()).toContain('longer than the 4,096 tokens up to which turbo4 was checked');
  // deep enough; of other types; of another model
  for (const change of [{ depth: 8192 }, { pairs: [pair('turbo3')] }, { fingerprint: 'f2' }]) {
    checked(change);
    expect(line()).toBeNull();
  }
});

describe('Send', () => {
  it('sends what is written; Stop takes its place while the answer is written', async () => {
    const { engine } = holding();
    const { get, bridge } = await rendered(<Composer />, { engine });
    expect(send().disabled).toBe(true);
    write(long);
    expect(send().disabled).toBe(false);
    fireEvent.keyDown(field(), { key: 'Enter' });
    const stop = await screen.findByRole('button', { name: 'Stop the answer' });
    await waitFor(() => expect(field().value).toBe(''));
    fireEvent.click(stop);
    await screen.findByRole('button', { name: 'Send' });
    expect(bridge.inputs('turns.send')).toMatchObject([{ text: long }]);
    expect(get().conversation.chat?.messages[1]?.stopReason).toBe('cancelled');
  });

  it('lets go of all of many documents, and of those that could not be read, by one click', async () => {
    const { actions, get } = await idleComposer();
    await act(() => actions.documents.attachText('refuse', 'bad.txt'));
    await screen.findByRole('button', { name: 'Remove bad.txt' });
    for (const name of ['a.txt', 'b.txt']) await act(() => actions.documents.attachText('# One', name));
    expect(screen.queryByTestId('remove-documents')).toBe(null);
    await act(() => actions.documents.attachText('# One', 'c.txt'));
    fireEvent.click(screen.getByTestId('remove-failed'));
    expect(selectDraftDocuments(get()).map(({ name }) => name)).toEqual(['a.txt', 'b.txt', 'c.txt']);
    await act(() => actions.documents.attachText('# One', 'd.txt'));
    expect(screen.queryByTestId('remove-failed')).toBe(null);
    fireEvent.click(screen.getByTestId('remove-documents'));
    expect(selectDraftDocuments(get())).toEqual([]);
  });

  it('takes a question while a model is on its way, and says that it waits', async () => {
    const { engineIs } = await idleComposer();
    write('Why?');
    const usual = status();
    for (const state of ['starting', 'loading', 'restarting'] satisfies EngineState[]) {
      act(() => engineIs({ state }));
      expect(send().disabled).toBe(false);
      expect(status()).not.toBe(usual);
    }
    act(() => engineIs({ state: 'generating' }));
    expect([send().disabled, status()]).toEqual([false, usual]);
  });

  it('is off without a model, an engine or a connection, each with its reason and a way out where there is one', async () => {
    const { engineIs, actions } = await idleComposer();
    write('Why?');
    const said = [status()];
    for (const state of ['empty', 'failed', 'unavailable'] satisfies EngineState[]) {
      act(() => engineIs({ state }));
      expect(send().disabled).toBe(true);
      expect(screen.queryAllByRole('button', { name: 'Choose a model' })).toHaveLength(state === 'unavailable' ? 0 : 1);
      said.push(status());
    }
    act(() => actions.engine.receiveConnection({ phase: 'lost', retryAt: null }));
    expect(send().disabled).toBe(true);
    expect(new Set([...said, status()]).size).toBe(5);
  });

  it('waits for documents, and never leaves one out in silence', async () => {
    const { actions, get } = await idleComposer();
    const isOff = (name: string) =>
      waitFor(() => expect([send().disabled, status()]).toEqual([true, expect.stringContaining(name)]));
    const isOn = () => waitFor(() => expect(send().disabled).toBe(false));
    write('Why?');
    await act(() => actions.documents.attachText('silent', 'a.txt'));
    await isOff('a.txt');
    fireEvent.click(screen.getByRole('button', { name: 'Cancel reading a.txt' }));
    await isOn();
    await act(() => actions.documents.attachText('refuse', 'b.txt'));
    await screen.findByRole('button', { name: 'Remove b.txt' });
    await isOff('b.txt');
    fireEvent.click(screen.getByRole('button', { name: 'Remove b.txt' }));
    await act(() => actions.documents.attachText('# One\nwords', 'c.txt'));
    await isOn();
    const [{ key } = { key: '' }] = selectDraftDocuments(get());
    act(() => actions.documents.setPart(key, { kind: 'sections', sections: [] }));
    await isOff('c.txt');
    act(() => actions.documents.setPart(key, { kind: 'whole' }));
    await isOn();
    write('');
    expect(send().disabled).toBe(true);
  });

  it('waits for the password of a document, and a wrong one is typed again', async () => {
    const { actions, bridge } = await idleComposer();
    write('Why?');
    await act(() => actions.documents.attachText('locked', 'secret.txt'));
    const password = () => screen.findByLabelText<HTMLInputElement>('Password of secret.txt');
    const type = async (text: string) => {
      fireEvent.change(await password(), { target: { value: text } });
      fireEvent.click(screen.getByRole('button', { name: 'Open' }));
    };
    expect([(await password()).type, document.activeElement === (await password())]).toEqual(['password', false]);
    expect([send().disabled, status()]).toEqual([true, expect.stringContaining('secret.txt needs its password')]);
    await type('swordfish');
    await screen.findByText(/^This password does not open secret\.txt\. Check it\.$/);
    expect([(await password()).value, document.activeElement === (await password())]).toEqual(['', true]);
    await type('sesame');
    await waitFor(() => expect(send().disabled).toBe(false));
    expect(screen.queryByLabelText('Password of secret.txt')).toBeNull();
    expect(bridge.inputs('documents.unlock')).toMatchObject([{ password: 'swordfish' }, { password: 'sesame' }]);
  });
});

describe('the context', () => {
  /** With this budget of the draft, once it is counted. */
  async function withBudget(change: Partial<PromptBudget>) {
    const opened = await rendered(<Composer />, { start: false }, ({ bridge, engineIs }) => {
      bridge.answer('turns.budget', () => promptBudget(change));
      bridge.answer('engine.plan', () => fitOf({ nCtx: 16_384, typeK: 'turbo4', typeV: 'turbo4' }));
      engineIs();
    });
    write('Why?');
    const meter = await screen.findByRole('button', { name: /Context of/ });
    await waitFor(() => expect(meter.dataset.stale).toBeUndefined());
    return { ...opened, meter };
  }
  /** tokens by part of the bar */
  const parts = () => {
    const drawn = screen.getByTestId('budget-bar').querySelectorAll<HTMLElement>('[data-part]');
    return Object.fromEntries([...drawn].map(({ dataset }) => [dataset.part, Number(dataset.tokens)]));
  };

  it('says what a document is searched for, and takes other words for the next question', async () => {
    const byDocument: PromptBudget['byDocument'] = [];
    const { actions, get, bridge } = await withBudget({ byDocument });
    await act(() => actions.documents.attachText('# One\nwords', 'c.txt'));
    await waitFor(() => expect(selectDraftDocuments(get())[0]?.info).toBeTruthy());
    const [{ key, info } = { key: '', info: null }] = selectDraftDocuments(get());
    byDocument.push({ documentId: info?.id ?? '', tokens: 9, inBranch: false, words: 'function lm' });
    act(() => actions.documents.setPart(key, { kind: 'passages', passages: [] }));
    const words = await screen.findByRole('button', { name: /Searches for: ?function, lm/ });
    fireEvent.click(words);
    const search = await screen.findByRole<HTMLInputElement>('textbox', { name: 'Words to search for' });
    expect(search.value).toBe('function lm');
    fireEvent.change(search, { target: { value: ' lm "linear model" ' } });
    fireEvent.click(screen.getByRole('button', { name: 'Search for these' }));
    const part = () => selectDraftDocuments(get())[0]?.part;
    expect(part()).toEqual({ kind: 'passages', passages: [], words: 'lm "linear model"' });
    await waitFor(() =>
      expect(bridge.inputs('turns.budget').at(-1)).toMatchObject({ attachments: [{ part: part() }] }),
    );
    fireEvent.click(await screen.findByRole('button', { name: /Your words: ?lm, "linear model"/ }));
    fireEvent.click(await screen.findByRole('button', { name: 'Use the words of the question' }));
    expect(part()).toEqual({ kind: 'passages', passages: [] });
    // the form around it has sent nothing
    expect(field().value).toBe('Why?');
    expect(bridge.inputs('chats.create')).toEqual([]);
  });

  it('is drawn in parts that sum to it, of which none is empty', async () => {
    const { meter } = await withBudget({ documents: 3000, history: 200 });
    expect(parts()).toEqual({ documents: 3000, history: 200, message: 10, template: 5, reserve: 1024, free: 3953 });
    expect(meter.dataset.tokens).toBe('3215');
    expect(screen.queryByRole('region', { name: 'This does not fit' })).toBeNull();
  });

  it('that is too short keeps the question back, and offers what would do', async () => {
    const { get } = await withBudget({ documents: 9000, remedies: { leaveOut: true, brief: false, newChat: true } });
    expect(parts()).not.toHaveProperty('free');
    expect(send().disabled).toBe(true);
    expect(screen.getByRole('alert').textContent).toContain('1,847');
    const names = screen.getAllByRole('button').map((button) => button.dataset.testid);
    expect(names).toEqual(expect.arrayContaining(['offer-let-go', 'offer-new-chat']));
    fireEvent.click(screen.getByTestId('offer-let-go'));
    await waitFor(() => expect(get().settings.saved?.overflow).toBe('roll'));
  });

  /** An engine that can have a context of any length up to `longest`, of a model of 30 MB that was trained for 131,072 tokens. */
  async function growing(longest: number, saved: Partial<ContextSettings> = {}, contextUsed = 0) {
    const facts = { weights: partMemory.weights, longest };
    const opened = await rendered(<Composer />, { start: false }, async ({ bridge, call, conversation, services }) => {
      await call('settings.update', { context: saved });
      const { id } = await call('chats.import', { chat: asked });
      if (contextUsed > 0) await conversation.open(id);
      bridge.answer('settings.update', () => services.settings.get());
      bridge.answer('turns.budget', () => promptBudget({ documents: 93_000, contextSize: 32_768 }));
      bridge.answer('engine.plan', ({ context, longest: most }: { context: ContextSettings; longest: number }) =>
        fitOf(context, { ...facts, longest: Math.min(longest, most) }),
      );
    });
    const contextChat = opened.get().conversation.chat?.id ?? null;
    const model = { ...modelInfo, nCtxTrain: 131_072 };
    act(() => opened.engineIs({ model, context: { ...loadedContext, nCtx: 32_768 }, contextUsed, contextChat }));
    write('Why?');
    const offers = await screen.findAllByTestId('room-offer');
    return { ...opened, offers: offers.map(({ textContent }) => textContent), offer: offers[0] as HTMLElement };
  }
  const asked: OperationInput<'chats.import'>['chat'] = {
    ...{ id: 'asked', title: 'Why so?', createdAt: 1, updatedAt: 1, pinned: false, folder: null },
    ...{ systemPrompt: '', leafId: 'a' },
    messages: [
      { id: 'q', parentId: null, role: 'user', text: 'Why so?', createdAt: 1 },
      { id: 'a', parentId: 'q', role: 'assistant', text: 'So.', createdAt: 1, stopReason: 'end-of-turn' },
    ],
  };
  const allocated = allocatedBytes(memory);
  const bytesAt = (nCtx: number, type: CacheType) =>
    fitOf({ nCtx, typeK: type, typeV: type }, { weights: partMemory.weights, longest: nCtx }).marks[0]?.bytes ?? 0;
  const more = (nCtx: number, type: CacheType) => formatBytes(bytesAt(nCtx, type) - allocated);

  it('grows by one button, which says how far and how many bytes that takes: Auto to the next power of two', async () => {
    const { offers, offer, bridge, get } = await growing(131_072);
    expect(offers).toEqual([
      `Grow the context to 131,072: ${more(131_072, 'turbo4')} more`,
      `Grow the context to 131,072 with turbo3: ${more(131_072, 'turbo3')} more`,
    ]);
    expect(screen.queryByTestId('grow-cost')).toBeNull();
    fireEvent.click(offer);
    await waitFor(() => expect(bridge.inputs('settings.update')).toHaveLength(1));
    // the setting stays Auto
    expect(bridge.inputs('settings.update')).toEqual([{ context: {}, apply: { atLeast: 131_072 } }]);
    expect(get().settings.saved?.context.nCtx).toBe(autoContext);
  });

  it('grows as far as is needed where the next power of two does not fit, and a chosen length to that alone', async () => {
    const first = await growing(100_000);
    expect(first.offers[0]).toBe(`Grow the context to 94,208: ${more(94_208, 'turbo4')} more`);
    cleanup();
    const { offer, bridge } = await growing(131_072, { nCtx: 32_768 });
    expect(offer.textContent).toMatch(/to 94,208: /);
    fireEvent.click(offer);
    await waitFor(() => expect(bridge.inputs('settings.update')).toHaveLength(1));
    expect(bridge.inputs('settings.update')).toEqual([{ context: { nCtx: 94_208 }, apply: {} }]);
  });

  it('that grows says whether what has been read is kept, or read again and how long that takes', async () => {
    const { offer } = await growing(131_072, {}, 4000);
    expect(screen.getByTestId('grow-cost').textContent).toBe('The 4,000 tokens that were read are kept.');
    const [, smaller] = screen.getAllByTestId('room-offer');
    expect(offer.title).toContain('are kept');
    expect(smaller?.title).toMatch(/4,000 tokens that were read are read again with the next question\.$/);
    const read = { tokens: 4000, kept: false, perSecond: 100 };
    expect(readAgainText({ read })).toMatch(/, 40 s\.$/);
  });

  it('that has no room for a passage names the document', async () => {
    await withBudget({ fits: false, unfilled: 'a.pdf', remedies: { leaveOut: false, brief: false, newChat: false } });
    expect(send().disabled).toBe(true);
    expect(status()).toContain('a.pdf');
    expect(screen.getByRole('alert').textContent).toContain('a.pdf');
    expect(screen.queryByTestId('offer-new-chat')).toBeNull();
  });

  it('says what leaves the prompt, and the price of it, only of a question that can be sent', async () => {
    const { engineIs } = await withBudget({ released: 3, leftOut: 1, fewer: 900, readAgain: 5312 });
    expect(status()).toMatch(/3 earlier.*oldest message.*Fewer passages are used: .* about 900 tokens.*5,312 tokens/);
    act(() => engineIs({ state: 'loading' }));
    expect(status()).not.toContain('5,312');
    act(() => engineIs({ state: 'ready' }));
    write('');
    expect(status()).not.toContain('5,312');
  });

  it('says what becomes of the figures of an older draft: only a model counts', async () => {
    const { meter, engineIs } = await withBudget({});
    const said = new Set<string | null>();
    for (const state of ['ready', 'loading', 'failed'] satisfies EngineState[]) {
      act(() => engineIs({ state }));
      write(`Why ${state}?`);
      expect(meter.dataset.stale).toBe('true');
      said.add(meter.textContent);
    }
    expect(said.size).toBe(3);
  });

  it('is read as fast as by the answer that had the most to read', () => {
    const [short, whole] = [{ cachedTokens: 109, promptTokensPerSecond: 9000 }, { promptTokensPerSecond: 500 }];
    expect(readingRate([short, whole].map((change) => ({ stats: { ...answerStats, ...change } })))).toBe(500);
    expect(readingRate([{ stats: null }])).toBe(0);
  });
});

it('a paste becomes a document when it is long, or when it is files only', () => {
  const clipboard = (text: string, files: File[] = []) => ({
    getData: () => text,
    files: files as unknown as FileList,
  });
  const picture = new File([''], 'picture.png');
  expect(pasteOf(clipboard('x'.repeat(2000)))).toBeNull();
  expect(pasteOf(clipboard('x'.repeat(2001)))).toEqual({ text: 'x'.repeat(2001) });
  expect(pasteOf(clipboard('', [picture]))).toEqual({ files: [picture] });
  expect(pasteOf(clipboard('a cell', [picture]))).toBeNull();
  expect(pasteOf(clipboard(''))).toBeNull();
});
