import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { replaceSampling } from '@/electron/contract/lib/settingsPatch';
import {
  autoContext,
  contextSettingsSchema,
  type ModelDefaults,
  modelSamplingSchema,
  ownContextSchema,
  samplingOf,
  samplingSettingsSchema,
  settingsSchema,
} from '@/electron/contract/settings';
import type { GenerateOptions } from '@/electron/engine/native/types';
import { ModelDefaultsStore } from '@/electron/services/settings/perModelSettings';
import { SettingsService, SettingsStore } from '@/electron/services/settings/settingsStore';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
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

describe('the length of the context', () => {
  const read = async (context: unknown, version = 2) => {
    const path = join(await temporaryFolder(), 'settings.json');
    await writeFile(path, JSON.stringify({ version, theme: 'dark', ...(context !== undefined && { context }) }));
    const store = new SettingsStore(path);
    await store.load();
    expect([store.notices, store.get().theme]).toEqual([[], 'dark']);
    return store.get().context;
  };

  test('the default of older versions becomes Auto, whichever wrote it; every other length was chosen', async () => {
    const old = { nCtx: 8192, typeK: 'f16', threads: 3 };
    expect(await read(old)).toEqual({ ...defaults.context, typeK: 'f16', threads: 3 });
    expect(await read(old, 1)).toMatchObject({ nCtx: autoContext, typeK: 'f16' });
    for (const nCtx of [4096, 8448, 131_072]) expect((await read({ ...old, nCtx })).nCtx).toBe(nCtx);
    expect((await read({ typeV: 'q8_0' })).nCtx).toBe(autoContext);
    expect((await read(undefined)).nCtx).toBe(autoContext);
    // since Auto is the default, 8,192 is a choice like any other
    expect((await read(old, 3)).nCtx).toBe(8192);
  });

  test('is Auto, or no shorter than the engine makes one', () => {
    const length = (nCtx: number) => settingsSchema.safeParse({ context: { nCtx } }).success;
    expect([0, 512, 16_777_216].map(length)).toEqual([true, true, true]);
    expect([1, 511, -1, 16_777_217, 600.5].map(length)).toEqual([false, false, false, false, false]);
  });
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

describe('what a chat template is told', () => {
  test('stands with the model in use, and is in its answers and in every count', async () => {
    const prompts: GenerateOptions[] = [];
    const engine = createFakeEngine({ onPrompt: (_, options) => prompts.push(options) });
    const { call, final, send, addModel, state, services } = await setUpServices({ engine });
    const other = await addModel();
    const tokens = async () => {
      const asked = { chatId: null, leafId: null, draft: 'x', attachments: [] };
      return (await call('turns.budget', asked)).total;
    };
    const before = await tokens();
    const template = { thinking: false, thinkingBudget: 9, effort: 'low', variables: { a: 1 } } as const;
    expect((await call('settings.update', { template })).template).toEqual(template);
    // "at once", and the variables
    expect(await tokens()).toBe(before + 3);
    await final((await send('one')).turn);
    const said = { thinking: false, templateVariables: '{"reasoning_effort":"low","a":1}' };
    expect(prompts.at(-1)).toMatchObject({ ...said, sampling: { thinkingBudget: 9 } });

    await call('models.select', { modelId: other });
    await state('ready');
    expect(services.settings.get().template).toMatchObject({ thinking: true, variables: {} });
    expect(await tokens()).toBe(before);
    await final((await send('two')).turn);
    expect(prompts.at(-1)?.thinking).toBeUndefined();
    expect(prompts.at(-1)?.sampling.thinkingBudget).toBeUndefined();
    const listed = await call('models.list', undefined);
    expect(listed.map(({ defaults }) => defaults?.template?.effort)).toEqual(['low', undefined]);
  });

  test('is in a count that is asked for while it is written down', async () => {
    const { call, services } = await setUpServices();
    const messages = [{ role: 'user' as const, content: 'one two' }];
    const { tokens: before } = await services.engine.countTokens(messages, { now: 0 });
    const writing = call('settings.update', { template: { thinking: false } });
    const counting = services.engine.countTokens(messages, { now: 0 });
    await writing;
    // "at once"
    expect((await counting).tokens).toBe(before + 2);
  });

  test('what it cannot be told is refused with the reason', async () => {
    const { call } = await setUpServices({ start: false });
    const set = (variables: Record<string, string>) => call('settings.update', { template: { variables } });
    await expect(set({ messages: 'none' })).rejects.toThrow(/messages is given by the app/);
    await expect(set({ enable_thinking: 'no' })).rejects.toThrow(/switch/);
    await expect(set({ 'a b': 'x' })).rejects.toThrow(/no name/);
    await expect(set({ a: 'x'.repeat(4000) })).rejects.toThrow(/4000/);
    expect((await set({ a: 'x' })).template.variables).toEqual({ a: 'x' });
  });
});

describe('the service', () => {
  const context = ownContextSchema.parse({ nCtx: 4096, typeK: 'q8_0', typeV: 'turbo3', gpuLayers: 3 });
  const sampling = { temperature: 0.1 };
  const own: ModelDefaults = { context, sampling, systemPrompt: 'Rhyme.', template: null, adapters: null };

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
    expect(store.get()).toMatchObject({ ...forAll, systemPrompt: '', context: { nCtx: autoContext, batch: 64 } });
    await settings.update({ systemPrompt: 'For all.' }, 'all');
    expect([settings.get().systemPrompt, store.get().systemPrompt]).toEqual(['Count.', 'For all.']);
    await settings.update({ systemPrompt: 'From afar.' }, { modelId: 'b' });
    expect([settings.get().systemPrompt, store.get().systemPrompt]).toEqual(['Count.', 'From afar.']);
  });

  test('adapters are always those of one model', async () => {
    const data = await temporaryFolder();
    const store = new SettingsStore(join(data, 'settings.json'));
    const defaults = new ModelDefaultsStore(join(data, 'model-settings.json'));
    await Promise.all([store.load(), defaults.load()]);
    const settings = new SettingsService(store, defaults);
    settings.follow('a');
    const adapters = [{ model: 'tuned', scale: 0.5 }];
    const now = await settings.update({ context: { adapters, batch: 64 } });
    expect(now.context).toMatchObject({ adapters, batch: 64 });
    expect(store.get().context).toMatchObject({ adapters: [], batch: 64 });
    expect(settings.of('b').context.adapters).toEqual([]);
    await settings.update({ systemPrompt: 'For all.' });
    expect(defaults.of('a')).toEqual({ context: null, sampling: null, systemPrompt: null, template: null, adapters });
    await settings.update({ context: { adapters: [] } });
    expect(defaults.of('a')).toBeNull();
    for (const wrong of [
      { model: '', scale: 1 },
      { model: 'tuned', scale: 2.1 },
      { model: 'tuned', scale: -1 },
    ])
      expect(contextSettingsSchema.safeParse({ adapters: [wrong] }).success).toBe(false);
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
    expect(store.get()).toMatchObject({ theme: 'dark', modelId: null, context: { nCtx: autoContext } });
    expect(defaults.of('a')).toEqual(own);
  });

  test('a model is loaded with its own settings; taking them away loads it with those of all; both are sent to the window', async () => {
    const { call, payloads, services, addModel } = await setUpServices();
    const modelId = await addModel();
    await call('models.setDefaults', { modelId, defaults: { ...own, sampling: null } });
    expect((await call('settings.get', undefined)).context.nCtx).toBe(autoContext);
    const loads = services.engine.loads();
    const status = await call('models.select', { modelId });
    expect(status.context?.nCtx).toBe(4096);
    expect(services.engine.loads()).toBe(loads + 1);
    expect(await call('settings.get', undefined)).toMatchObject({ context, systemPrompt: 'Rhyme.' });
    expect(payloads('onSettings').at(-1)).toMatchObject({
      context: { ...context, batch: 512 },
      systemPrompt: 'Rhyme.',
    });
    expect(await call('settings.get', { scope: 'all' })).toMatchObject({
      context: { nCtx: autoContext },
      systemPrompt: '',
    });
    const listed = (await call('models.list', undefined)).find(({ id }) => id === modelId);
    expect(listed?.defaults).toEqual({ ...own, sampling: null });
    await call('models.setDefaults', { modelId, defaults: null });
    await vi.waitFor(() => expect(services.engine.status().context?.nCtx).toBe(8192), 5000);
    expect(payloads('onSettings').at(-1)).toMatchObject({ systemPrompt: '' });
    await call('models.setDefaults', { modelId, defaults: own });
    const embedded = (await call('models.list', undefined)).find(({ source }) => source === 'embedded');
    await call('models.select', { modelId: embedded?.id ?? '' });
    expect((await call('settings.get', undefined)).context.nCtx).toBe(autoContext);
    // no report has what was written for one model
    expect((await call('app.diagnostics', undefined)).text).not.toContain('Rhyme');
  });
});
