import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import {
  type ModelDefaults,
  modelSamplingSchema,
  replaceSampling,
  samplingOf,
  samplingSettingsSchema,
  settingsSchema,
} from '@/electron/contract/settings';
import { ModelDefaultsStore } from '@/electron/services/settings/perModelSettings';
import { SettingsService, SettingsStore } from '@/electron/services/settings/settingsStore';
import { setUpServices } from '@/test/fixtures/services';
import { temporaryFolder } from '@/test/fixtures/temporary';

const defaults = settingsSchema.parse({});

test('a patch changes the named keys of the defaults only, is announced, and survives a restart', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'settings.json');
  const store = new SettingsStore(path);
  await store.load();
  expect(store.get()).toEqual(defaults);
  expect(await readdir(folder)).toEqual([]);
  const listener = vi.fn();
  store.changed.on(listener);
  await store.update({ context: { typeV: 'turbo3' }, theme: 'dark' });
  const expected = { ...defaults, theme: 'dark', context: { ...defaults.context, typeV: 'turbo3' } };
  expect(listener.mock.calls).toEqual([[expected]]);
  const again = new SettingsStore(path);
  await again.load();
  expect(again.get()).toEqual(expected);
});

describe('sampling', () => {
  const model = { temperature: 0.6, topK: 20, minP: null };

  test('a value of the person goes before that of the model, and that before the default', () => {
    const { temperature, topK, topP, minP } = samplingOf({ topK: 7 }, model);
    expect([temperature, topK, topP, minP]).toEqual([0.6, 7, 0.95, 0.05]);
    // also where it is the default
    expect(samplingOf({ temperature: 0.7 }, model).temperature).toBe(0.7);
    expect(samplingOf({ temperature: undefined }, model).temperature).toBe(0.6);
    expect(samplingOf({}, null)).toEqual(samplingSettingsSchema.parse({}));
  });

  test('null takes a value back, on disk too; others stay', async () => {
    const path = join(await temporaryFolder(), 'settings.json');
    const store = new SettingsStore(path);
    await store.load();
    await store.update({ sampling: { temperature: 0.7, topK: 3, seed: 5 } });
    expect(store.get().sampling).toEqual({ temperature: 0.7, topK: 3, seed: 5 });
    await store.update({ sampling: { temperature: null, seed: null } });
    expect(JSON.parse(await readFile(path, 'utf8')).sampling).toEqual({ topK: 3 });
    await store.update({ sampling: replaceSampling({ dryBase: 2 }) });
    expect(store.get().sampling).toEqual({ dryBase: 2 });
  });

  test('a model recommends only what is within the bounds', () => {
    const wild = { temperature: Number.NaN, topK: 2.5, topP: 7, minP: 0.1, repeatPenalty: Number.POSITIVE_INFINITY };
    const rest = { penaltyTokens: -1, xtcProbability: null, xtcThreshold: 0.5 };
    const kept = Object.entries(modelSamplingSchema.parse({ ...wild, ...rest })).filter(([, value]) => value !== null);
    expect(Object.fromEntries(kept)).toEqual({ minP: 0.1, xtcThreshold: 0.5 });
  });
});

describe('the service', () => {
  const context = { nCtx: 4096, typeK: 'q8_0', typeV: 'turbo3', gpuLayers: 3 } as const;
  const sampling = { temperature: 0.1 };
  const own: ModelDefaults = { context, sampling, systemPrompt: 'Rhyme.' };

  test('a change goes to where the value stands; the rest, and what is meant for all, to all models', async () => {
    const data = await temporaryFolder();
    const store = new SettingsStore(join(data, 'settings.json'));
    const defaults = new ModelDefaultsStore(join(data, 'model-settings.json'));
    await Promise.all([store.load(), defaults.load()]);
    const settings = new SettingsService(store, defaults);
    await settings.setDefaults('a', { ...own, sampling: null });
    settings.follow('a');
    const forAll = { theme: 'dark', sampling: { topK: 3 } } as const;
    const patch = { ...forAll, systemPrompt: 'Count.', context: { nCtx: 512, batch: 64 } };
    expect(await settings.update(patch)).toMatchObject(patch);
    expect(store.get()).toMatchObject({ ...forAll, systemPrompt: '', context: { nCtx: 8192, batch: 64 } });
    await settings.update({ systemPrompt: 'For all.' }, 'all');
    expect([settings.get().systemPrompt, store.get().systemPrompt]).toEqual(['Count.', 'For all.']);
    await settings.update({ systemPrompt: 'From afar.' }, { modelId: 'b' });
    expect([settings.get().systemPrompt, store.get().systemPrompt]).toEqual(['Count.', 'From afar.']);
  });

  test('two changes at once of what a model has of its own are both kept', async () => {
    const data = await temporaryFolder();
    const store = new SettingsStore(join(data, 'settings.json'));
    const defaults = new ModelDefaultsStore(join(data, 'model-settings.json'));
    await Promise.all([store.load(), defaults.load()]);
    const settings = new SettingsService(store, defaults);
    await settings.setDefaults('a', own);
    settings.follow('a');
    const changes = [{ context: { nCtx: 2048 } }, { sampling: { topK: 5 } }, { systemPrompt: 'Count.' }];
    await Promise.all(changes.map((change) => settings.update(change)));
    expect(defaults.of('a')).toMatchObject({ context: { nCtx: 2048 }, sampling: { topK: 5 }, systemPrompt: 'Count.' });
  });

  test('options of a command go before what is set, for one model too, and are never written down', async () => {
    const data = await temporaryFolder();
    const store = new SettingsStore(join(data, 'settings.json'));
    const defaults = new ModelDefaultsStore(join(data, 'model-settings.json'));
    await Promise.all([store.load(), defaults.load()]);
    const settings = new SettingsService(store, defaults);
    await settings.setDefaults('a', own);
    settings.override({ modelId: 'a', context: { nCtx: 2048 } });
    expect(settings.get()).toMatchObject({ modelId: 'a', context: { nCtx: 2048, typeK: 'turbo4' } });
    expect(settings.of('a').context).toEqual({ ...settings.get().context, ...context, nCtx: 2048 });
    await settings.update({ theme: 'dark' });
    expect(store.get()).toMatchObject({ theme: 'dark', modelId: null, context: { nCtx: 8192 } });
    expect(defaults.of('a')).toEqual(own);
  });

  test('a model is loaded with its own settings; taking them away loads it with those of all; both are sent to the window', async () => {
    const { call, payloads, services, addModel } = await setUpServices();
    const modelId = await addModel();
    await call('models.setDefaults', { modelId, defaults: { ...own, sampling: null } });
    expect((await call('settings.get', undefined)).context.nCtx).toBe(8192);
    const loads = services.engine.loads();
    const status = await call('models.select', { modelId });
    expect(status.context?.nCtx).toBe(4096);
    expect(services.engine.loads()).toBe(loads + 1);
    expect(await call('settings.get', undefined)).toMatchObject({ context, systemPrompt: 'Rhyme.' });
    expect(payloads('onSettings').at(-1)).toMatchObject({
      context: { ...context, batch: 512 },
      systemPrompt: 'Rhyme.',
    });
    expect(await call('settings.get', { scope: 'all' })).toMatchObject({ context: { nCtx: 8192 }, systemPrompt: '' });
    const listed = (await call('models.list', undefined)).find(({ id }) => id === modelId);
    expect(listed?.defaults).toEqual({ ...own, sampling: null });
    await call('models.setDefaults', { modelId, defaults: null });
    await vi.waitFor(() => expect(services.engine.status().context?.nCtx).toBe(8192), 5000);
    expect(payloads('onSettings').at(-1)).toMatchObject({ systemPrompt: '' });
    await call('models.setDefaults', { modelId, defaults: own });
    const embedded = (await call('models.list', undefined)).find(({ source }) => source === 'embedded');
    await call('models.select', { modelId: embedded?.id ?? '' });
    expect((await call('settings.get', undefined)).context.nCtx).toBe(8192);
    // no report has what was written for one model
    expect((await call('app.diagnostics', undefined)).text).not.toContain('Rhyme');
  });
});
