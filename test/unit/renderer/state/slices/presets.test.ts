/** Presets over the real services: what is set, and what a new chat begins with. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { samplingSettingsSchema } from '@/electron/contract/settings';
import { isSame, selectPresetInUse } from '@/renderer/state/slices/presets';
import { openWindow } from '@/test/fixtures/renderer/window';
import { waiting } from '@/test/fixtures/services';

async function start(engine = false) {
  const opened = await openWindow({ start: engine });
  const { get, services, actions } = opened;
  const inUse = () => selectPresetInUse(get())?.name ?? null;
  const saved = (name: string) => get().presets.presets.find((preset) => preset.name === name);
  async function save(name: string, withEngine = false) {
    expect(await actions.presets.save(null, name, withEngine)).toBeNull();
    const preset = saved(name);
    if (!preset) throw new Error('not saved');
    return preset;
  }
  /** what is set for all models */
  const forAll = () => services.settings.of(null);
  const prompt = (text: string) => vi.waitFor(() => expect(forAll().systemPrompt).toBe(text), waiting);
  return { ...opened, inUse, save, forAll, prompt, presets: actions.presets, settings: actions.settings };
}

it('a preset is what was set when it was saved, and comes back when it is chosen', async () => {
  const { inUse, save, bridge, forAll, presets, settings } = await start();
  await settings.update({ systemPrompt: 'Be brief.', sampling: { temperature: 0.1 } });
  const reader = await save('Reader');
  expect(inUse()).toBe('Reader');
  await settings.update({ sampling: { temperature: 1 } });
  expect(inUse()).toBeNull();
  await presets.apply(reader);
  expect(inUse()).toBe('Reader');
  // a value that it says nothing of is not set any more
  await settings.update({ sampling: { dryMultiplier: 0.8 } });
  expect(inUse()).toBeNull();
  await presets.apply(reader);
  expect(forAll().sampling).toEqual({ temperature: 0.1 });
  expect(bridge.inputs('settings.update')).not.toContainEqual(expect.objectContaining({ apply: {} }));
});

it('a preset with a context loads it, one with another model loads that', async () => {
  const { save, get, call, dataFolder, presets, settings } = await start(true);
  const path = join(dataFolder, 'other.gguf');
  await writeFile(path, 'GGUF and more');
  const { added } = await call('models.addPaths', { paths: [path] });
  const other = added[0]?.id ?? '';
  const long = await save('Long', true);
  await settings.update({ context: { nCtx: 1024 } });
  await presets.apply(long);
  await vi.waitFor(
    () => expect(get().engine.status).toMatchObject({ state: 'ready', context: { nCtx: 8192 } }),
    waiting,
  );
  if (long.engine) await presets.apply({ ...long, engine: { ...long.engine, modelId: other } });
  await vi.waitFor(() => expect(get().engine.status).toMatchObject({ state: 'ready', modelId: other }), waiting);
});

it('a refusal is shown where the name is typed', async () => {
  const { get, save, presets } = await start();
  await save('Reader');
  expect(await presets.save(null, 'Reader', false)).toEqual(expect.any(String));
  expect(get().ui.problem).toBeNull();
});

it('values of another preset are not shown when a new chat begins with the default one', async () => {
  const { get, conversation, presets, settings, save, prompt, bridge } = await start();
  for (const name of ['Brief', 'Long']) {
    await settings.update({ systemPrompt: `Be ${name}.` });
    await save(name);
  }
  await presets.setDefault(get().presets.presets.find(({ name }) => name === 'Brief')?.id ?? '');
  const reading = bridge.hold('settings.get');
  conversation.startNew();
  await prompt('Be Brief.');
  reading.open();
  await vi.waitFor(() => expect(get().settings.saved?.systemPrompt).toBe('Be Brief.'), waiting);
  expect(get().presets.replaced).toBeNull();
});

it('a new chat begins with the default preset; undo brings back what was in no preset, and leaves what a model has of its own', async () => {
  const { get, conversation, presets, settings, save, forAll, call } = await start(true);
  const { id } = await save('Reader');
  await settings.update({ systemPrompt: 'Be long.', sampling: { temperature: 0.5 } });
  conversation.startNew();
  expect(get().settings.saved?.systemPrompt).toBe('Be long.');
  await presets.setDefault(id);
  const { sampling } = forAll();
  const modelId = get().models.list?.[0]?.id ?? '';
  const own = { ...sampling, temperature: 0 };
  await call('models.setDefaults', { modelId, defaults: { context: null, sampling: own, systemPrompt: null } });
  await vi.waitFor(() => expect(get().settings.saved?.sampling).toEqual(own), waiting);
  conversation.startNew();
  await vi.waitFor(() => expect(get().presets.replaced?.by).toBe('Reader'), waiting);
  expect(forAll().systemPrompt).toBe('');
  await presets.restoreReplaced();
  expect(get().presets.replaced).toBeNull();
  expect(forAll()).toMatchObject({ systemPrompt: 'Be long.', sampling });
  expect(get().settings.saved?.sampling).toEqual(own);
});

it('settings are distinguished from changed ones', () => {
  const sampling = samplingSettingsSchema.parse({});
  expect(isSame({ ...sampling, stop: [] }, sampling)).toBe(true);
  expect(isSame({ ...sampling, stop: ['x'] }, sampling)).toBe(false);
  expect(isSame({ ...sampling, seed: 1 }, sampling)).toBe(false);
});
