/** Another model is asked for and cannot be had: the one in use stays, or is loaded again. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { ConcertinaError } from '@/electron/contract/errors';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { Gate } from '@/test/fixtures/gate';
import { plan } from '@/test/fixtures/samples';
import { setUpServices } from '@/test/fixtures/services';

const needs = { name: 'RAM', kind: 'ram' as const, weights: 9e15, mapped: 0, context: 0, compute: 0 };

/** The embedded model is in use; `other` can be chosen. */
async function setUp() {
  const loading = new Gate();
  const words = new Gate();
  const engine = createFakeEngine({ loading, words });
  const loads = vi.spyOn(engine, 'loadModel');
  const inspecting = createFakeEngine();
  const parts = await setUpServices({ engine, inspecting });
  const path = join(parts.dataFolder, 'other.gguf');
  await writeFile(path, 'GGUF');
  const { added } = await parts.call('models.addPaths', { paths: [path] });
  const other = added[0]?.id ?? '';
  const inUse = parts.services.engine.status();
  loads.mockClear();
  return { ...parts, engine, inspecting, loading, words, loads, other, inUse };
}

test('what does not fit is refused while the model in use stays as it is, and can be forced', async () => {
  const { engine, call, loads, other, inUse } = await setUp();
  vi.spyOn(engine, 'estimate').mockResolvedValueOnce({ ...plan, devices: [needs] });
  const status = await call('models.select', { modelId: other });
  expect(status).toEqual({
    ...inUse,
    memory: expect.anything(),
    refused: { modelId: other, error: expect.objectContaining({ code: 'out-of-memory' }) },
  });
  expect(loads).not.toHaveBeenCalled();
  expect((await call('settings.get', undefined)).modelId).toBeNull();
  expect(await call('models.select', { modelId: other, force: true })).toMatchObject({
    ...{ state: 'ready', modelId: other, refused: null },
  });
});

test('a file that ends the process that looks at it is refused before the model in use, and the answer it writes, hear of it', async () => {
  const { call, streaming, final, loads, other, inUse, services, transports, words, ...parts } = await setUp();
  words.hold(3);
  const { id: chatId } = await call('chats.create', { title: 'A' });
  const turn = await call('turns.send', { chatId, parentId: null, text: 'word '.repeat(200).trim() });
  await streaming(turn);
  vi.spyOn(parts.inspecting, 'estimate').mockImplementation(() => {
    parts.inspectors.at(-1)?.exit({ code: null, signal: 'SIGABRT' });
    return new Promise(() => undefined);
  });
  const error = { code: 'model-invalid', message: expect.stringContaining('other.gguf cannot be read') };
  const status = await call('models.select', { modelId: other });
  expect(status).toMatchObject({ state: 'generating', modelId: inUse.modelId, refused: { modelId: other, error } });
  expect(loads).not.toHaveBeenCalled();
  const asked = transports.flatMap(({ sent }) => sent.map((message) => (message as { name?: string }).name));
  expect(asked.filter((name) => name === 'load')).toHaveLength(1);
  await call('turns.stop', { requestId: turn.requestId });
  expect(await final(turn)).toMatchObject({ stopReason: 'cancelled', error: null });
  await vi.waitFor(() => expect(services.engine.status().state).toBe('ready'));

  // nor is one compared
  const configurations = (['f16', 'q8_0'] as const).map((type) => ({ typeK: type, typeV: type, nCtx: 2048 }));
  const prompt = { kind: 'text' as const, text: 'Some words.' };
  const started = await call('compare.start', { modelId: other, prompt, configurations });
  const run = await vi.waitFor(async () => {
    const found = await call('compare.get', { runId: started.runId });
    expect(found.state).not.toBe('running');
    return found;
  });
  expect(run).toMatchObject({ state: 'failed', error });
  expect(transports).toHaveLength(1);
  expect(transports[0]?.sent.some((message) => (message as { name?: string }).name === 'compare')).toBe(false);
});

test('settings of the model in use that were changed while the other one was tried are used', async () => {
  const { engine, call, other, inUse, services } = await setUp();
  const scope = { modelId: inUse.modelId ?? '' };
  vi.spyOn(engine, 'estimate').mockImplementationOnce(async () => {
    // they are not of the model that is being loaded
    await call('settings.update', { scope, context: { nCtx: 4096 } });
    return { ...plan, devices: [needs] };
  });
  expect(await call('models.select', { modelId: other })).toMatchObject({ modelId: inUse.modelId, refused: {} });
  await vi.waitFor(() => expect(services.engine.status().context?.nCtx).toBe(4096));
});

test('a system that ends the process while it loads: the model before it is loaded in the next process', async () => {
  const { call, state, transports, loading, other, inUse, services } = await setUp();
  loading.hold(1);
  const selected = call('models.select', { modelId: other });
  await loading.reached();
  expect(services.engine.status().loadProgress).toBe(0.25);
  transports.at(-1)?.exit({ code: null, signal: 'SIGKILL' });
  loading.open();
  await selected;
  expect(await state('ready')).toMatchObject({
    modelId: inUse.modelId,
    refused: { modelId: other, error: { code: 'out-of-memory' } },
  });
});

test('a choice that comes while another one fails still falls back to the model that was in use', async () => {
  const { engine, call, loading, other, inUse, dataFolder } = await setUp();
  const path = join(dataFolder, 'third.gguf');
  await writeFile(path, 'GGUF');
  const { added } = await call('models.addPaths', { paths: [path] });
  const third = added[0]?.id ?? '';
  loading.hold();
  void call('models.select', { modelId: other });
  await loading.reached();
  vi.spyOn(engine, 'estimate').mockImplementationOnce(async () => {
    // the first load has been ended by now; that of the model in use may come
    loading.open();
    return { ...plan, devices: [needs] };
  });
  expect(await call('models.select', { modelId: third })).toMatchObject({
    ...{ state: 'ready', modelId: inUse.modelId, refused: { modelId: third } },
  });
});

test('where neither can be had, the one that was asked for is told, and nothing is loaded', async () => {
  const { call, loads, other } = await setUp();
  loads.mockRejectedValueOnce(new ConcertinaError('model-invalid', 'Damaged.'));
  loads.mockRejectedValueOnce(new ConcertinaError('model-missing', 'Gone.'));
  expect(await call('models.select', { modelId: other })).toMatchObject({
    ...{ state: 'failed', modelId: other, model: null, refused: null, error: { code: 'model-invalid' } },
  });
});
