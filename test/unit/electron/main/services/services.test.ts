/** The services together, over the engine server with a fake engine: what a window would see. */
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ChatStore } from '../../../../../electron/main/services/chatStore';
import type { Chat, Message } from '../../../../../electron/shared/chats';
import type { AddModelsResult } from '../../../../../electron/shared/contract';
import { ConcertinaError } from '../../../../../electron/shared/errors';
import { createFakeEngine } from '../../../../fixtures/fakeEngine';
import { plan } from '../../../../fixtures/samples';
import { setUpServices as setUp } from '../../../../fixtures/services';
import { temporaryFolder } from '../../../../fixtures/temporary';

/** The answer as the next start of the app would find it: another reader stands for the app after a power cut. */
async function asAfterDeath(dataFolder: string, chatId: string): Promise<Message | undefined> {
  const copy = await temporaryFolder();
  await mkdir(join(copy, 'chats'));
  await copyFile(join(dataFolder, 'chats', `${chatId}.jsonl`), join(copy, 'chats', `${chatId}.jsonl`));
  const store = new ChatStore(join(copy, 'chats'), join(copy, 'trash'));
  await store.load();
  return (await store.open(chatId)).messages[1];
}

const long = 'word '.repeat(1000).trim();
const slow = () => createFakeEngine({ stepMs: 5 });

test('the first start loads the embedded model and is ready to chat', async () => {
  const { call } = await setUp();
  const status = await call('engine.status', undefined);
  const [embedded] = await call('models.list', undefined);
  expect(embedded).toMatchObject({ source: 'embedded', fileName: 'tiny.gguf', problem: null });
  expect(status).toMatchObject({ state: 'ready', modelId: embedded?.id, model: { name: 'Tiny' }, error: null });
});

test('a load that is cancelled while the engine process starts does not happen', async () => {
  const { services, call } = await setUp({ start: false });
  const [embedded] = await call('models.list', undefined);
  const off = services.engine.changed.on((status) => {
    if (status.state !== 'loading') return;
    off();
    void services.engine.cancelLoad();
  });
  expect((await call('models.select', { modelId: embedded?.id ?? '' })).state).toBe('empty');
  expect(services.engine.status()).toMatchObject({ model: null, error: null });
});

test('cancelling while the model is measured ends the measuring only, and the status says so', async () => {
  const { services, call } = await setUp({ start: false, engine: createFakeEngine({ stepMs: 5, measuring: true }) });
  const [embedded] = await call('models.list', undefined);
  const steps: (string | null)[] = [];
  services.engine.changed.on(({ state, loadStep }) => {
    if (state !== 'loading') return;
    steps.push(loadStep);
    if (loadStep === 'calibration') void services.engine.cancelLoad();
  });
  const status = await call('models.select', { modelId: embedded?.id ?? '' });
  expect(status).toMatchObject({ state: 'ready', loadStep: null, loadProgress: null });
  expect(status.context?.calibration).toContain('skipped');
  expect(new Set(steps)).toEqual(new Set(['weights', 'calibration']));
});

test('a turn appends question and answer, streams, and ends with the whole text on disk', async () => {
  const { call, events, final } = await setUp();
  const { id } = await call('chats.create', {});
  const turn = await call('turns.send', { chatId: id, parentId: null, text: 'Echo this please' });
  expect(turn.userMessage).toMatchObject({ role: 'user', text: 'Echo this please', parentId: null });
  expect(turn.assistantMessage).toMatchObject({ role: 'assistant', parentId: turn.userMessage?.id, stopReason: null });
  const message = await final(turn);
  expect(message).toMatchObject({
    text: 'Echo this please',
    stopReason: 'end-of-turn',
    modelName: 'Tiny',
    error: null,
  });
  expect(message.stats).toMatchObject({ answerTokens: 3, typeK: 'turbo4' });
  const streamed = events.flatMap((event) => (event.name === 'onStream' ? [event.payload.text] : []));
  expect(streamed.join('')).toBe('Echo this please');
  const chat = await call('chats.open', { chatId: id });
  expect(chat).toMatchObject({ title: 'Echo this please', leafId: message.id, messages: [turn.userMessage, message] });
});

test('the prompt is the system prompt and the branch only', async () => {
  const engine = createFakeEngine();
  const prompts: unknown[] = [];
  const load = engine.loadModel.bind(engine);
  engine.loadModel = async (path, options) => {
    const model = await load(path, options);
    const create = model.createContext.bind(model);
    model.createContext = async (contextOptions) => {
      const context = await create(contextOptions);
      const generate = context.generate.bind(context);
      context.generate = (prompt, generateOptions) => {
        prompts.push(prompt);
        return generate(prompt, generateOptions);
      };
      return context;
    };
    return model;
  };
  const { call, final } = await setUp({ engine });
  await call('settings.update', { systemPrompt: 'Be brief.' });
  const { id } = await call('chats.create', {});
  const first = await final(await call('turns.send', { chatId: id, parentId: null, text: 'one' }));
  await final(await call('turns.send', { chatId: id, parentId: first.id, text: 'left' }));
  await final(await call('turns.send', { chatId: id, parentId: first.id, text: 'right' }));
  expect(prompts.at(-1)).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'one' },
    { role: 'assistant', content: 'one' },
    { role: 'user', content: 'right' },
  ]);
});

test('regenerate and edit make branches beside the old ones', async () => {
  const { call, final } = await setUp();
  const { id } = await call('chats.create', {});
  const turn = await call('turns.send', { chatId: id, parentId: null, text: 'first' });
  const answer = await final(turn);
  const again = await call('turns.regenerate', { chatId: id, messageId: answer.id });
  expect(again).toMatchObject({ userMessage: null, assistantMessage: { parentId: turn.userMessage?.id } });
  await final(again);
  const edited = await call('turns.edit', { chatId: id, messageId: turn.userMessage?.id ?? '', text: 'other words' });
  expect(edited.userMessage).toMatchObject({ parentId: null, text: 'other words' });
  expect(await final(edited)).toMatchObject({ text: 'other words' });
  const chat: Chat = await call('chats.open', { chatId: id });
  expect(chat.messages).toHaveLength(5);
  expect(chat.messages[1]).toEqual(answer);
  expect(chat).toMatchObject({ leafId: edited.assistantMessage.id, title: 'first' });
  await expect(call('turns.edit', { chatId: id, messageId: answer.id, text: 'x' })).rejects.toMatchObject({
    code: 'bad-request',
  });
  await expect(call('turns.regenerate', { chatId: id, messageId: 'nobody' })).rejects.toMatchObject({
    code: 'not-found',
  });
});

test('stop keeps what was written; a second stop does nothing', async () => {
  const { call, final, streaming, state } = await setUp({ engine: slow() });
  const { id } = await call('chats.create', {});
  const turn = await call('turns.send', { chatId: id, parentId: null, text: long });
  await streaming(turn);
  expect((await call('engine.status', undefined)).state).toBe('generating');
  await call('turns.stop', { requestId: turn.requestId });
  const message = await final(turn);
  expect(message).toMatchObject({ stopReason: 'cancelled', error: null, text: expect.stringMatching(/^word/) });
  expect(message.text.length).toBeLessThan(long.length);
  await call('turns.stop', { requestId: turn.requestId });
  await state('ready');
});

test('a stopped answer goes on in the same message, behind what it has, and its figures are of both parts', async () => {
  const { call, events, final, streaming } = await setUp({ engine: slow() });
  const { id } = await call('chats.create', {});
  const words = Array.from({ length: 60 }, (_, i) => `word${i}`).join(' ');
  const turn = await call('turns.send', { chatId: id, parentId: null, text: words });
  await streaming(turn);
  await call('turns.stop', { requestId: turn.requestId });
  const half = await final(turn);
  events.length = 0;
  const goOn = () => call('turns.continue', { chatId: id, messageId: half.id });
  const [more] = await Promise.all([goOn(), expect(goOn()).rejects.toMatchObject({ code: 'busy' })]);
  expect(more.assistantMessage).toEqual({ ...half, stopReason: null });
  // windows that saw it end are told before its next words come
  expect(events.find(({ name }) => name === 'onMessage' || name === 'onStream')).toEqual({
    name: 'onMessage',
    payload: { chatId: id, message: more.assistantMessage },
  });
  const whole = await final(more);
  expect(whole).toMatchObject({
    id: half.id,
    text: words,
    stopReason: 'end-of-turn',
    stats: { parts: 2, answerTokens: 60 },
  });
  expect(whole.stats?.promptTokens).toBe((half.stats?.promptTokens ?? 0) * 2);
  const { messages } = await call('chats.open', { chatId: id });
  expect(messages).toEqual([turn.userMessage, whole]);
  await expect(call('turns.continue', { chatId: id, messageId: half.id })).rejects.toMatchObject({
    message: 'This answer has come to its end.',
  });
});

test('an answer that other messages build on, or a question, is not continued', async () => {
  const { call, final, streaming } = await setUp({ engine: slow() });
  const { id } = await call('chats.create', {});
  const turn = await call('turns.send', { chatId: id, parentId: null, text: long });
  await streaming(turn);
  await call('turns.stop', { requestId: turn.requestId });
  const half = await final(turn);
  await final(await call('turns.send', { chatId: id, parentId: half.id, text: 'And?' }));
  const refused = (messageId: string) => expect(call('turns.continue', { chatId: id, messageId })).rejects;
  await refused(half.id).toMatchObject({ code: 'bad-request', message: 'Other messages build on this answer.' });
  await refused(turn.userMessage?.id ?? '').toMatchObject({ code: 'bad-request' });
  await refused('nobody').toMatchObject({ code: 'not-found' });
});

test('an app that dies while an answer goes on keeps both parts', async () => {
  const { call, events, final, streaming, dataFolder } = await setUp({ engine: slow() });
  const { id } = await call('chats.create', {});
  const turn = await call('turns.send', { chatId: id, parentId: null, text: long });
  await streaming(turn);
  await call('turns.stop', { requestId: turn.requestId });
  const half = await final(turn);
  events.length = 0;
  await streaming(await call('turns.continue', { chatId: id, messageId: half.id }));
  await new Promise((resolve) => setTimeout(resolve, 1300));
  const message = await asAfterDeath(dataFolder, id);
  expect(message).toMatchObject({ id: half.id, stopReason: 'interrupted', stats: half.stats });
  expect(message?.text.startsWith(`${half.text}word`)).toBe(true);
  expect(long.startsWith(message?.text ?? '')).toBe(true);
});

test('the engine dies in mid-answer: the text is kept, the error told, and the next answer works', async () => {
  const { call, final, streaming, state, transports } = await setUp({ engine: slow() });
  const { id } = await call('chats.create', {});
  const turn = await call('turns.send', { chatId: id, parentId: null, text: long });
  await streaming(turn);
  transports.at(-1)?.exit({ code: null, signal: 'SIGSEGV' });
  const message = await final(turn);
  expect(message).toMatchObject({
    stopReason: 'interrupted',
    error: { code: 'engine-crashed', message: expect.stringContaining('SIGSEGV') },
    text: expect.stringMatching(/^word/),
  });
  expect((await call('chats.open', { chatId: id })).messages[1]).toEqual(message);
  expect(await state('ready')).toMatchObject({ restarts: 1, error: null, model: { name: 'Tiny' } });
  const next = await call('turns.send', { chatId: id, parentId: message.id, text: 'again' });
  expect(await final(next)).toMatchObject({ text: 'again', stopReason: 'end-of-turn' });
});

test('an engine that goes silent in mid-answer is told and can be restarted; the text is kept, and the model is loaded', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { call, final, streaming, state, transports, services } = await setUp({ engine: slow() });
  const { id } = await call('chats.create', {});
  const turn = await call('turns.send', { chatId: id, parentId: null, text: long });
  await streaming(turn);
  const silent = transports.at(-1);
  if (silent) silent.message = () => undefined;
  vi.advanceTimersByTime(35_000);
  expect(services.engine.status()).toMatchObject({ state: 'generating', stalled: 'silent' });
  await call('engine.restart', undefined);
  expect(await final(turn)).toMatchObject({
    stopReason: 'interrupted',
    error: { code: 'engine-crashed', message: 'The engine did not answer and was restarted.' },
    text: expect.stringMatching(/^word/),
  });
  expect(await state('ready')).toMatchObject({ stalled: null, restarts: 0, error: null });
});

test('the same settings that crash twice are not loaded a third time, until a person asks for it', async () => {
  const { call, state, transports } = await setUp({ engine: slow() });
  transports.at(-1)?.exit({ code: null, signal: 'SIGABRT' });
  await vi.waitFor(() => expect(transports).toHaveLength(2));
  await state('ready');
  transports.at(-1)?.exit({ code: null, signal: 'SIGABRT' });
  const failed = await state('failed');
  expect(failed.error).toMatchObject({ code: 'engine-crashed', hint: expect.stringContaining('before') });
  const { id } = await call('chats.create', {});
  const sent = call('turns.send', { chatId: id, parentId: null, text: 'x' });
  await expect(sent).rejects.toMatchObject({ code: 'engine-crashed' });
  expect((await call('chats.open', { chatId: id })).messages).toEqual([]);
  expect(await call('engine.reload', undefined)).toMatchObject({ state: 'ready' });
});

test('a partial answer reaches the disk while it is written', async () => {
  const { call, streaming, dataFolder } = await setUp({ engine: slow() });
  const { id } = await call('chats.create', {});
  const turn = await call('turns.send', { chatId: id, parentId: null, text: long });
  await streaming(turn);
  await new Promise((resolve) => setTimeout(resolve, 1300));
  expect(await asAfterDeath(dataFolder, id)).toMatchObject({
    stopReason: 'interrupted',
    text: expect.stringMatching(/^word word/),
  });
});

test('an answer that is asked for while the model loads waits for it', async () => {
  const { services, call, final } = await setUp({ engine: slow(), start: false });
  services.engine.start();
  const { id } = await call('chats.create', {});
  const turn = await call('turns.send', { chatId: id, parentId: null, text: 'patience' });
  expect(await final(turn)).toMatchObject({ text: 'patience', modelName: 'Tiny' });
});

test('a changed context loads again by itself, once, after the answer; the chat goes on', async () => {
  const engine = slow();
  const { call, final, streaming } = await setUp({ engine });
  const { id } = await call('chats.create', {});
  const turn = await call('turns.send', { chatId: id, parentId: null, text: 'word '.repeat(200).trim() });
  await streaming(turn);
  await call('settings.update', { context: { nCtx: 1024 } });
  await call('settings.update', { context: { nCtx: 2048 } });
  expect(await final(turn)).toMatchObject({ stopReason: 'end-of-turn' });
  await vi.waitFor(async () => expect((await call('engine.status', undefined)).context?.nCtx).toBe(2048), 3000);
  await call('settings.update', { sampling: { temperature: 0 } });
  expect((await call('engine.status', undefined)).state).toBe('ready');
});

test('a model that fails to load is told and not remembered, and the one before it is loaded again', async () => {
  const engine = createFakeEngine();
  const { call, dataFolder } = await setUp({ engine });
  const path = join(dataFolder, 'huge.gguf');
  await writeFile(path, 'GGUF');
  const { added }: AddModelsResult = await call('models.addPaths', { paths: [path] });
  vi.spyOn(engine, 'loadModel').mockRejectedValueOnce(new ConcertinaError('out-of-memory', 'It needs 900 GB.'));
  const [embedded] = await call('models.list', undefined);
  const status = await call('models.select', { modelId: added[0]?.id ?? '' });
  expect(status).toMatchObject({
    ...{ state: 'ready', modelId: embedded?.id, error: null },
    refused: { modelId: added[0]?.id, error: { code: 'out-of-memory', message: 'It needs 900 GB.' } },
  });
  expect((await call('settings.get', undefined)).modelId).toBeNull();
  expect(await call('models.select', { modelId: added[0]?.id ?? '' })).toMatchObject({ state: 'ready', refused: null });
  expect((await call('settings.get', undefined)).modelId).toBe(added[0]?.id);
});

test('what does not fit is refused with the figures, told by engine.fit before, and loaded when it is forced', async () => {
  const engine = createFakeEngine();
  const needs = { name: 'RAM', kind: 'ram' as const, weights: 9e15, mapped: 0, context: 0, compute: 0 };
  vi.spyOn(engine, 'estimate').mockResolvedValue({ ...plan, devices: [needs] });
  const { call, state } = await setUp({ engine, start: false });
  const [embedded] = await call('models.list', undefined);
  const modelId = embedded?.id ?? '';
  const refused = await call('models.select', { modelId });
  expect(refused).toMatchObject({ state: 'failed', error: { code: 'out-of-memory' } });
  expect(refused.error?.message).toContain('The weights do not fit');
  const { context } = await call('settings.get', undefined);
  const fit = await call('engine.fit', { modelId, context, longest: 4096 });
  expect(fit).toMatchObject({ fits: false, trained: 8192, budgets: [{ kind: 'ram', needed: 9e15 }] });
  expect(fit.marks.map(({ nCtx }) => nCtx)).toEqual([0, 0, 0, 0, 0]);
  expect(await call('models.select', { modelId, force: true })).toMatchObject({ state: 'ready', modelId });
  expect(await call('engine.reload', undefined)).toMatchObject({ state: 'failed' });
  expect(await call('engine.reload', { force: true })).toMatchObject({ state: 'ready' });
  await state('ready');
});

test('a remembered model that is gone says so, and the embedded one can be chosen', async () => {
  const data = await temporaryFolder();
  await writeFile(join(data, 'settings.json'), JSON.stringify({ version: 1, modelId: 'gone' }));
  const { services, call, state } = await setUp({ data, start: false });
  services.engine.start();
  expect((await state('failed')).error).toMatchObject({ code: 'not-found' });
  const [embedded] = await call('models.list', undefined);
  expect(await call('models.select', { modelId: embedded?.id ?? '' })).toMatchObject({ state: 'ready' });
});

test('a loaded model whose file went away is freed when loading it again fails', async () => {
  const engine = createFakeEngine();
  const free = vi.fn(async () => undefined);
  const load = engine.loadModel.bind(engine);
  engine.loadModel = async (...args) => Object.assign(await load(...args), { dispose: free });
  const { call, dataFolder } = await setUp({ engine });
  await rm(join(dataFolder, 'embedded', 'tiny.gguf'));
  expect(await call('engine.reload', undefined)).toMatchObject({ state: 'failed', model: null });
  await vi.waitFor(() => expect(free).toHaveBeenCalledTimes(1));
});

test('a model that is chosen while the start still looks for its own is the one that is loaded', async () => {
  const data = await temporaryFolder();
  const path = join(data, 'other.gguf');
  await writeFile(path, 'GGUF');
  await writeFile(join(data, 'models.json'), JSON.stringify({ version: 1, files: [path] }));
  const { services, call, state } = await setUp({ data, start: false });
  let found = (_id: string | null): void => undefined;
  const searching = new Promise<string | null>((resolve) => (found = resolve));
  const spy = vi.spyOn(services.models, 'defaultModelId').mockReturnValue(searching);
  const [embedded, other] = await services.models.list();
  services.engine.start();
  await vi.waitFor(() => expect(spy).toHaveBeenCalled());
  expect(await call('models.select', { modelId: other?.id ?? '' })).toMatchObject({ state: 'ready' });
  found(embedded?.id ?? null);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await state('ready')).toMatchObject({ modelId: other?.id });
});

test('an answer that ends at the close does not bring the engine back for changed settings', async () => {
  const { services, call, streaming, final, transports } = await setUp({ engine: slow() });
  const { id } = await call('chats.create', {});
  const turn = await call('turns.send', { chatId: id, parentId: null, text: long });
  await streaming(turn);
  await call('settings.update', { context: { nCtx: 1024 } });
  await new Promise((resolve) => setTimeout(resolve, 600));
  await services.engine.close();
  expect(await final(turn)).toMatchObject({ stopReason: 'interrupted' });
  expect(transports).toHaveLength(1);
});

test('removing a chat ends its answer first; restore brings the text back', async () => {
  const { call, streaming } = await setUp({ engine: slow() });
  const { id } = await call('chats.create', {});
  const turn = await call('turns.send', { chatId: id, parentId: null, text: long });
  await streaming(turn);
  await call('chats.remove', { chatId: id });
  expect(await call('chats.list', undefined)).toEqual([]);
  await call('chats.restore', { chatId: id });
  const { messages } = await call('chats.open', { chatId: id });
  expect(messages[1]).toMatchObject({ stopReason: 'cancelled', text: expect.stringMatching(/^word/) });
});

test('desktop-only operations are refused in a browser', async () => {
  const { call } = await setUp();
  await expect(call('models.addFromDialog', { kind: 'files' })).rejects.toMatchObject({ code: 'forbidden' });
  await expect(call('app.openExternal', { url: 'https://example.com' })).rejects.toMatchObject({ code: 'forbidden' });
  await expect(call('app.openExternal', { url: 'file:///etc/passwd' })).rejects.toMatchObject({ code: 'bad-request' });
});

test('a corrupt settings file becomes a notice of this start', async () => {
  const data = await temporaryFolder();
  await writeFile(join(data, 'settings.json'), '{"version":');
  const { call } = await setUp({ data });
  expect((await call('app.info', undefined)).notices).toEqual([
    expect.stringContaining('settings file could not be read'),
  ]);
});

test('text that is pasted becomes a document, which the window reads in slices', async () => {
  const { call, events } = await setUp();
  const jobId = await call('documents.addText', { name: 'Pasted.md', text: '# One\nwords' });
  const document = await vi.waitFor(async () => {
    const [job] = await call('documents.jobs', undefined);
    if (!job?.document) throw new Error('not yet');
    expect(job).toMatchObject({ id: jobId, state: 'done', progress: 1 });
    return job.document;
  }, 10_000);
  expect(events).toContainEqual({ name: 'onDocumentJobs', payload: [expect.objectContaining({ state: 'reading' })] });
  const documentId = document.id;
  expect(await call('documents.get', { documentId })).toEqual(document);
  expect(await call('documents.sections', { documentId })).toHaveLength(1);
  expect(await call('documents.text', { documentId, start: 2, end: 5 })).toEqual({ text: 'One' });
  await expect(call('documents.attachFromDialog', undefined)).rejects.toMatchObject({ code: 'forbidden' });
});

test('the diagnostics tell of this run, and nothing private', async () => {
  vi.stubEnv('CHAT_API_KEY', 'env-lagoon-value');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { call, final, transports, dataFolder } = await setUp();
  await call('settings.update', { systemPrompt: 'Prompt lagoon: be brief.', sampling: { stop: ['stop lagoon'] } });
  const { id } = await call('chats.create', { title: 'Title lagoon' });
  const turn = await call('turns.send', { chatId: id, parentId: null, text: 'Question lagoon' });
  await final(turn);
  const log = (text: string) =>
    transports[0]?.message({ type: 'event', name: 'onLog', payload: { level: 'warn', text } });
  log('llama_context: the cache is cold');
  log(`cannot map ${join(dataFolder, 'lagoon.gguf')} with env-lagoon-value`);
  log('near Prompt lagoon: be brief. and token=lagoon1');

  const { text } = await call('app.diagnostics', undefined);
  expect(text).not.toContain('lagoon');
  expect(text).not.toContain(dataFolder);
  expect(text).toContain('warn llama_context: the cache is cold');
  expect(text).toContain('warn cannot map <path> with <private>');
  expect(text).toMatch(/answer 2 at [\d.]+ tok\/s/);
});
