/** Comparisons as a window sees them, over the engine server with a fake engine. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { type CheckPlan, type CompareRun, compareRunSchema } from '@/electron/contract/compare/compare';
import type { OperationInput } from '@/electron/contract/contract';
import type { Attachment } from '@/electron/contract/lib/attachments';
import type { GenerateOptions } from '@/electron/engine/native/types';
import { resolvePrompt } from '@/electron/services/compare/comparePrompt';
import { CompareStore } from '@/electron/services/compare/compareStore';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { Gate } from '@/test/fixtures/gate';
import { checkColumn, checkRun } from '@/test/fixtures/renderer/comparison';
import { attach, setUpServices } from '@/test/fixtures/services';
import { temporaryFolder } from '@/test/fixtures/temporary';

type Request = OperationInput<'compare.start'>;
const configurations: Request['configurations'] = [
  { typeK: 'f16', typeV: 'f16', nCtx: 8192 },
  { typeK: 'turbo4', typeV: 'turbo3', nCtx: 8192 },
];

async function setUp(data?: string) {
  const words = new Gate();
  const prompts: GenerateOptions[] = [];
  const engine = createFakeEngine({ words, onPrompt: (_, options) => prompts.push(options) });
  const app = await setUpServices({ engine, calibrationText: 'assets/calibration/text.txt', ...(data && { data }) });
  const [model] = await app.call('models.list', undefined);
  const start = (request: Partial<Request> = {}) =>
    app.call('compare.start', {
      ...{ modelId: model?.id ?? '', configurations, prompt: { kind: 'text', text: 'one two three four five' } },
      ...request,
    });
  const count = (prompt: Request['prompt'], modelId = model?.id ?? '') =>
    app.call('compare.count', { modelId, prompt });
  const until = (runId: string, test: (run: CompareRun) => boolean) =>
    vi.waitFor(async () => {
      const run = await app.call('compare.get', { runId });
      if (!test(run)) throw new Error(`it is ${run.state}`);
      return run;
    });
  /** what was streamed for this column */
  const textOf = (column: number) => {
    const frames = app.payloads('onCompareFrame').filter(({ index }) => index === column);
    return frames.map(({ text }) => text).join('');
  };
  return { ...app, words, prompts, start, count, until, textOf };
}

const ended = (run: CompareRun) => run.state !== 'running';

describe('a run', () => {
  test('fills its columns, streams their text, and is listed and stored', async () => {
    const { start, until, call, payloads, textOf, dataFolder, services } = await setUp();
    const { runId } = await start({ name: 'First' });
    const run = await until(runId, ended);
    expect(run).toMatchObject({ name: 'First', state: 'done', promptTokens: 5, model: { fileName: 'tiny.gguf' } });
    expect(run.machine?.device).toBe('Test processor');
    for (const column of run.columns) {
      expect(column).toMatchObject({ state: 'done', step: null, answer: { text: 'one two three four five' } });
      expect(column.memory).toMatchObject({ kvK: 8e6, kvV: 8e6 });
    }
    expect(textOf(1)).toBe('one two three four five');
    const reported = payloads('onCompare');
    const { request, ...rest } = run;
    expect(reported.at(-1)).toEqual(rest);
    expect(reported[0]).not.toHaveProperty('request');
    expect(request.options).toMatchObject({ reference: 0, maxTokens: 256, sampling: { temperature: 0, seed: 0 } });
    const file = await readFile(join(dataFolder, 'compare', `${runId}.json`), 'utf8');
    expect(compareRunSchema.parse(JSON.parse(file))).toEqual(run);
    expect(await call('compare.list', undefined)).toEqual([
      {
        id: runId,
        name: 'First',
        createdAt: run.createdAt,
        state: 'done',
        modelName: 'Tiny',
        configurations,
        check: null,
      },
    ]);
    expect(services.engine.status()).toMatchObject({ state: 'ready', comparing: null });
  });

  test('tells the chat template what is set for its model, in the count and in every column', async () => {
    const { start, until, call, prompts } = await setUp();
    await call('settings.update', { template: { thinking: false, variables: { style: 'plain' } } });
    const run = await until((await start()).runId, ended);
    // "at once", and the variables
    expect(run.promptTokens).toBe(5 + 3);
    const told = { thinking: false, templateVariables: '{"style":"plain"}' };
    expect(prompts).toMatchObject([told, told]);
  });

  test('is one at a time, can be canceled and run again', async () => {
    const { start, until, call, services, words } = await setUp();
    words.hold(1);
    const { runId } = await start();
    await expect(start()).rejects.toMatchObject({ code: 'busy' });
    await until(runId, ({ columns }) => columns[0]?.step === 'answer');
    expect(services.engine.status()).toMatchObject({ state: 'generating', comparing: runId });
    await call('compare.cancel', { runId });
    const run = await until(runId, ended);
    expect(run.state).toBe('cancelled');
    expect(run.columns.map(({ state }) => state)).toEqual(['cancelled', 'cancelled']);
    expect(run.columns[0]?.answer).toMatchObject({ stopReason: 'cancelled' });

    words.open();
    const again = await call('compare.rerun', { runId });
    expect((await until(again.runId, ended)).state).toBe('done');
    const renamed = await call('compare.rename', { runId, name: 'Other' });
    expect(renamed).toMatchObject({ id: runId, name: 'Other', state: 'cancelled' });
    await call('compare.remove', { runId });
    expect((await call('compare.list', undefined)).map(({ id }) => id)).toEqual([again.runId]);
    await expect(call('compare.get', { runId })).rejects.toMatchObject({ code: 'not-found' });
  });

  test('keeps answers of chats waiting, and a model that is chosen ends it', async () => {
    const { start, until, call, final, state, words } = await setUp();
    words.hold(1);
    const { runId } = await start();
    await until(runId, ({ columns }) => columns[0]?.step === 'answer');
    const { id: chatId } = await call('chats.create', {});
    const turn = await call('turns.send', { chatId, parentId: null, text: 'hello there' });
    expect((await call('chats.open', { chatId })).messages.at(-1)?.text).toBe('');
    words.open();
    expect((await until(runId, ended)).state).toBe('done');
    expect(await final(turn)).toMatchObject({ text: 'hello there', stopReason: 'end-of-turn' });

    words.hold(1);
    const second = await start();
    await until(second.runId, ({ columns }) => columns[0]?.step === 'answer');
    await call('engine.reload', undefined);
    expect((await until(second.runId, ended)).state).toBe('cancelled');
    await state('ready');
  });

  test('loses its engine: what has ended stays, what was written too, and the app goes on', async () => {
    const { start, until, state, transports, textOf, words } = await setUp();
    // all five of the first column, and two of the second
    words.hold(7);
    const { runId } = await start();
    await until(runId, ({ columns }) => columns[0]?.state === 'done' && columns[1]?.step === 'answer');
    await vi.waitFor(() => expect(textOf(1)).toBe('one two '));
    transports.at(-1)?.exit({ code: null, signal: 'SIGKILL' });
    const run = await until(runId, ended);
    expect(run).toMatchObject({ state: 'interrupted', error: { code: 'engine-crashed' } });
    expect(run.columns[0]).toMatchObject({ state: 'done', error: null });
    expect(run.columns[1]).toMatchObject({ state: 'interrupted', answer: { stopReason: 'interrupted', stats: null } });
    expect(run.columns[1]?.answer?.text).toBe('one two ');
    await state('ready');
  });
});

describe('a check', () => {
  test('is planned before it runs: f16, the usual pairs and the one in use, as deep as the context', async () => {
    const { call, state } = await setUp();
    const [model] = await call('models.list', undefined);
    const question = { modelId: model?.id ?? '' };
    const types = (plan: CheckPlan) => plan.configurations.map(({ typeK, typeV }) => `${typeK}/${typeV}`);
    const usual = ['f16/f16', 'turbo3/turbo3', 'turbo4/turbo4', 'q5_0/turbo4', 'q8_0/turbo4'];
    const plan = await call('compare.planCheck', question);
    expect(types(plan)).toEqual([...usual, 'q8_0/q8_0']);
    expect(plan).toMatchObject({ depth: 8192, measured: false, problem: '' });
    // of a model of 28 million parameters, on four cores
    expect(plan.seconds).toBeLessThan(120);
    expect(new Set(plan.configurations.map(({ nCtx }) => nCtx))).toEqual(new Set([8192]));
    await call('settings.update', { context: { typeK: 'q4_0', typeV: 'iq4_nl' } });
    await state('ready');
    expect(types(await call('compare.planCheck', question))).toEqual([...usual, 'q4_0/iq4_nl']);
    // no less than the tools need, no more than the model was trained for, and less of it takes less time
    const less = await call('compare.planCheck', { ...question, depth: 600 });
    expect(less).toMatchObject({ depth: 4096 });
    expect(less.seconds).toBeLessThan(plan.seconds);
    expect(await call('compare.planCheck', { ...question, depth: 1_000_000 })).toMatchObject({ depth: 8192 });
  });

  test('is a run that asks the tasks and writes no answer; its verdict is on the list', async () => {
    const { call, until, prompts, services } = await setUp();
    const [model] = await call('models.list', undefined);
    const { runId } = await call('compare.check', { modelId: model?.id ?? '' });
    const run = await until(runId, ended);
    expect(run).toMatchObject({ state: 'done', name: 'Check of Tiny', promptTokens: 8192 });
    // the fake model answers a call of tools with the request
    expect(run.columns[0]).toMatchObject({ state: 'done', answer: null, tools: { right: 0 }, quality: { meanKld: 0 } });
    expect(run.columns.slice(1).map(({ state }) => state)).toEqual(Array(5).fill('failed'));
    // the facts alone, and without a thought
    expect(prompts).toHaveLength(12);
    expect(prompts[0]).toMatchObject({ thinking: false, maxTokens: 32 });
    const [summary] = await call('compare.list', undefined);
    expect(summary?.check).toEqual({
      ...{ fingerprint: 'f1', modelId: model?.id, depth: 8192, pairs: [], pick: null },
      calls: { all: 14, right: 0 },
    });
    expect(services.engine.status().context?.fingerprint).toBe('f1');
    const { text } = await call('compare.export', { runId, format: 'markdown' });
    expect(text).toContain('**This model cannot be judged by it.** With f16 itself it makes only 0 of 14 tool calls');
    expect(text).toContain('| What is the weather like in Oslo right now, in celsius? | no-call |');
    // the same again
    const again = await call('compare.rerun', { runId });
    expect((await until(again.runId, ended)).columns[0]?.tools).toEqual(run.columns[0]?.tools);
  });

  test('is judged by f16, and by nothing else', async () => {
    const { start } = await setUp();
    const prompt = { kind: 'check' as const, depth: 4096 };
    const refused = start({ prompt, configurations: [...configurations].reverse() });
    await expect(refused).rejects.toMatchObject({ code: 'bad-request' });
  });

  test('is found by what is in the file of the model, after a restart, too, and goes with its run', async () => {
    const folder = await temporaryFolder();
    const store = new CompareStore(folder);
    const columns = [checkColumn(0, 13, 12), checkColumn(1, 13, 12), checkColumn(2, 3, 12)];
    const run = checkRun(columns);
    await store.save(run);
    const check = { fingerprint: 'f1', modelId: 'embedded', depth: 4096, pick: 1 };
    expect(store.list()).toMatchObject([{ id: 'run', check }]);
    const next = new CompareStore(folder);
    await next.load();
    expect(next.list()).toEqual(store.list());
    // a copy of the file elsewhere is the same model to the app
    const copy = { ...run, id: 'copy', request: { ...run.request, modelId: 'elsewhere' } };
    await next.save(copy);
    expect(next.list().map((one) => one.check?.fingerprint)).toEqual(['f1', 'f1']);
    await next.remove('run');
    expect(next.list()).toMatchObject([{ id: 'copy', check: { modelId: 'elsewhere' } }]);
    await next.save(checkRun(columns, { id: 'cut', state: 'cancelled' }));
    expect(next.list().find(({ id }) => id === 'cut')?.check).toBeNull();
  });
});

describe('prompts', () => {
  test('a chat goes up to its last question', async () => {
    const { call, count, start, until, final } = await setUp();
    const { id: chatId } = await call('chats.create', {});
    const prompt = { kind: 'chat' as const, chatId, leafId: null };
    await expect(start({ prompt })).rejects.toMatchObject({ code: 'bad-request' });
    await final(await call('turns.send', { chatId, parentId: null, text: 'tell me more' }));
    expect(await count(prompt)).toEqual({ tokens: 3 });
    // by the model that is loaded, and by no other
    expect(await count(prompt, 'another')).toEqual({ tokens: null });
    const run = await until((await start({ prompt })).runId, ended);
    expect(run.name).toBe('tell me more');
    expect(run.columns[0]?.answer?.text).toBe('tell me more');
  });

  test('documents stand before their question; one that is gone is reported', async () => {
    const { call, count, start, until } = await setUp();
    const attachment = await attach(call, 'notes.txt', 'The lamp was lit.');
    const prompt = { kind: 'documents' as const, attachments: [attachment], question: 'Who lit it?' };
    // the name in its mark, the label of its section, the marks themselves
    expect(await count(prompt)).toEqual({ tokens: 4 + 2 + 1 + 1 + 3 });
    const run = await until((await start({ prompt })).runId, ended);
    expect(run.name).toBe('Who lit it?');
    expect(run.columns[0]?.answer?.text).toMatch(/^<document name="notes.txt">[\s\S]*<\/document>\n\nWho lit it\?$/);
    const gone = { ...prompt, attachments: [{ ...attachment, documentId: 'f'.repeat(64) }] };
    await expect(start({ prompt: gone })).rejects.toMatchObject({ code: 'not-found' });
  });

  test('requests that make no sense are refused', async () => {
    const { start } = await setUp();
    await expect(start({ configurations: configurations.slice(0, 1) })).rejects.toMatchObject({ code: 'bad-request' });
    await expect(start({ options: { reference: 2 } })).rejects.toMatchObject({ code: 'bad-request' });
    await expect(start({ modelId: 'none' })).rejects.toMatchObject({ code: 'not-found' });
  });
});

test('a run that the app left in its midst is closed at the next start, a damaged file set aside', async () => {
  const first = await setUp();
  const { runId } = await first.start();
  const run = await first.until(runId, ended);
  await first.services.close();
  const folder = join(first.dataFolder, 'compare');
  const columns = [run.columns[0], { ...run.columns[1], state: 'running', step: 'answer' }];
  await writeFile(join(folder, `${runId}.json`), JSON.stringify({ ...run, columns, state: 'running', endedAt: null }));
  await writeFile(join(folder, 'broken.json'), '{');

  const second = await setUp(first.dataFolder);
  const found = await second.call('compare.get', { runId });
  expect(found).toMatchObject({
    state: 'interrupted',
    columns: [{ state: 'done' }, { state: 'interrupted', step: null }],
  });
  expect(found.error?.message).toContain('app ended');
  expect((await second.call('app.info', undefined)).notices.join()).toContain('broken.corrupt');
  expect(await second.call('compare.list', undefined)).toHaveLength(1);
});

/** What a comparison reads, and what of it is kept for the next time. */

const passages = [{ start: 0, end: 9, label: 'Page 1' }];
const part = (found: typeof passages): Attachment['part'] => ({ kind: 'passages', passages: found });
const attachment = (found: typeof passages): Attachment => ({ documentId: 'd', name: 'a.pdf', part: part(found) });

function parts() {
  return {
    chats: { open: vi.fn() },
    blockOf: async ({ part: of }: Attachment) => `<${of.kind === 'passages' ? of.passages.length : of.kind}>`,
    fill: vi.fn(async (one: Attachment) => ({ ...one, part: part(passages) })),
    systemPrompt: 'Be brief.',
    checkText: vi.fn(async () => 'Rain fell.'),
  };
}

test('passages are looked up once: those that were found are kept with the run', async () => {
  const asked = { kind: 'documents' as const, attachments: [attachment([])], question: 'Who?' };
  const first = parts();
  const resolved = await resolvePrompt(asked, first);
  expect(first.fill).toHaveBeenCalledWith(attachment([]), 'Who?');
  expect(resolved).toMatchObject({ material: '<1>', title: 'Who?', asked: { attachments: [attachment(passages)] } });
  const [system, user] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: '<1>Who?' },
  ];
  expect(resolved.prompt).toEqual({ messages: [system, user] });
  const again = parts();
  expect(await resolvePrompt(resolved.asked, again)).toEqual(resolved);
  expect(again.fill).not.toHaveBeenCalled();
});

test('a text as it is has neither system prompt nor template', async () => {
  const asked = { kind: 'text' as const, text: 'Once upon a time', asIs: true };
  expect(await resolvePrompt(asked, parts())).toEqual({
    ...{ prompt: { text: 'Once upon a time' }, material: 'Once upon a time', title: 'Once upon a time', asked },
  });
});
