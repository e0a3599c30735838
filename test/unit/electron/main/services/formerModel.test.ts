/** Another model is asked for and cannot be had: the one in use stays, or is loaded again. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { ConcertinaError } from '../../../../../electron/shared/errors';
import { createFakeEngine } from '../../../../fixtures/fakeEngine';
import { plan } from '../../../../fixtures/samples';
import { setUpServices } from '../../../../fixtures/services';

const needs = { name: 'RAM', kind: 'ram' as const, weights: 9e15, mapped: 0, context: 0, compute: 0 };

/** The embedded model is in use; `other` can be chosen. */
async function setUp(stepMs = 0) {
  const engine = createFakeEngine({ stepMs });
  const loads = vi.spyOn(engine, 'loadModel');
  const parts = await setUpServices({ engine });
  const path = join(parts.dataFolder, 'other.gguf');
  await writeFile(path, 'GGUF');
  const { added } = await parts.call('models.addPaths', { paths: [path] });
  const other = added[0]?.id ?? '';
  const inUse = parts.services.engine.status();
  loads.mockClear();
  return { ...parts, engine, loads, other, inUse };
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

test('settings of the model in use that were changed while the other one was tried are used', async () => {
  const { engine, call, other, inUse, services } = await setUp();
  const scope = { modelId: inUse.modelId ?? '' };
  vi.spyOn(engine, 'estimate').mockImplementationOnce(async () => {
    // they are not of the model that is being loaded
    await call('settings.update', { scope, context: { nCtx: 4096 } });
    return { ...plan, devices: [needs] };
  });
  expect(await call('models.select', { modelId: other })).toMatchObject({ modelId: inUse.modelId, refused: {} });
  await vi.waitFor(() => expect(services.engine.status().context?.nCtx).toBe(4096), 5000);
});

test('a system that ends the process while it loads: the model before it is loaded in the next process', async () => {
  const { call, state, transports, other, inUse, services } = await setUp(50);
  const selected = call('models.select', { modelId: other });
  await vi.waitFor(() => expect(services.engine.status().loadProgress).toBeGreaterThan(0));
  transports.at(-1)?.exit({ code: null, signal: 'SIGKILL' });
  await selected;
  expect(await state('ready')).toMatchObject({
    modelId: inUse.modelId,
    refused: { modelId: other, error: { code: 'out-of-memory' } },
  });
});

test('a choice that comes while another one fails still falls back to the model that was in use', async () => {
  const { engine, call, loads, other, inUse, dataFolder } = await setUp(50);
  const path = join(dataFolder, 'third.gguf');
  await writeFile(path, 'GGUF');
  const { added } = await call('models.addPaths', { paths: [path] });
  const third = added[0]?.id ?? '';
  void call('models.select', { modelId: other });
  await vi.waitFor(() => expect(loads).toHaveBeenCalled(), { interval: 1 }); // not after it has ended
  vi.spyOn(engine, 'estimate').mockResolvedValueOnce({ ...plan, devices: [needs] });
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
