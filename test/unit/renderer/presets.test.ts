/** Presets and the system prompt of a chat, as the state of the window has them. */
import { expect, it, vi } from 'vitest';
import { createElectronClient } from '@/renderer/bridge/createClient';
import { connect } from '@/renderer/state/connect';
import { selectPresetInUse } from '@/renderer/state/slices/presets';
import { createApp } from '@/renderer/state/store';
import { FakeServices } from './fakeServices';

async function start() {
  const fake = new FakeServices({ frameMs: 0 });
  const client = createElectronClient(fake);
  const app = createApp(client);
  connect(client, app, () => undefined);
  const get = app.store.getState;
  await vi.waitFor(() => expect(get().settings.saved).not.toBeNull());
  const names = () => fake.calls.map(({ name }) => name);
  const inUse = () => selectPresetInUse(get())?.name ?? null;
  return { fake, get, names, inUse, ...app.actions };
}

it('a preset is what was set when it was saved, and comes back when it is chosen', async () => {
  const { get, inUse, names, presets, settings } = await start();
  await settings.update({ systemPrompt: 'Be brief.', sampling: { temperature: 0.1 } });
  expect(await presets.save(null, 'Reader', false)).toBeNull();
  expect(inUse()).toBe('Reader');
  await settings.update({ sampling: { temperature: 1 } });
  expect(inUse()).toBeNull();
  const [reader] = get().presets.presets;
  if (reader) await presets.apply(reader);
  expect(inUse()).toBe('Reader');
  expect(names()).not.toContain('engine.reload');
});

it('a preset with a context loads it, one with another model loads that', async () => {
  const { get, names, presets, settings } = await start();
  await presets.save(null, 'Long', true);
  const [long] = get().presets.presets;
  if (!long?.engine) throw new Error('no engine in it');
  await presets.apply(long);
  expect(names()).not.toContain('engine.reload');
  await settings.update({ context: { nCtx: 1024 } });
  await presets.apply(long);
  expect(names()).toContain('engine.reload');
  await presets.apply({ ...long, engine: { ...long.engine, modelId: 'other' } });
  expect(names()).toContain('models.select');
});

it('a refusal is told where the name is typed', async () => {
  const { fake, get, presets } = await start();
  fake.failures.set('presets.save', { code: 'bad-request', message: 'There is one.', hint: 'Choose another name.' });
  expect(await presets.save(null, 'Reader', false)).toBe('There is one. Choose another name.');
  expect(get().ui.problem).toBeNull();
});

it('a new chat begins with the default preset, and with what is set when there is none', async () => {
  const { fake, get, conversation, presets, settings } = await start();
  await settings.update({ systemPrompt: 'Be brief.' });
  await presets.save(null, 'Reader', false);
  await settings.update({ systemPrompt: 'Be long.' });
  conversation.startNew();
  expect(get().settings.saved?.systemPrompt).toBe('Be long.');
  await presets.setDefault(fake.presets.presets[0]?.id ?? '');
  conversation.startNew();
  await vi.waitFor(() => expect(fake.settings.systemPrompt).toBe('Be brief.'));
  // "Be long." was in no preset: it can be brought back
  await vi.waitFor(() => expect(get().presets.replaced).toMatchObject({ by: 'Reader' }));
  await presets.restoreReplaced();
  expect(get().presets.replaced).toBeNull();
  expect(fake.settings.systemPrompt).toBe('Be long.');
});

it('values of another preset are not told of when a new chat begins with the default one', async () => {
  const { fake, get, conversation, presets, settings } = await start();
  for (const name of ['Brief', 'Long']) {
    await settings.update({ systemPrompt: `Be ${name}.` });
    await presets.save(null, name, false);
  }
  await presets.setDefault(fake.presets.presets[0]?.id ?? '');
  conversation.startNew();
  await vi.waitFor(() => expect(fake.settings.systemPrompt).toBe('Be Brief.'));
  expect(get().presets.replaced).toBeNull();
});

it('undo leaves what a model has of its own out of what is set for all models', async () => {
  const { fake, get, conversation, presets, settings } = await start();
  await presets.save(null, 'Reader', false);
  await presets.setDefault(fake.presets.presets[0]?.id ?? '');
  await settings.update({ systemPrompt: 'Be long.', sampling: { temperature: 0.5 } });
  const forAll = fake.settings.sampling;
  const sampling = { ...forAll, temperature: 0 };
  const defaults = { context: null, sampling, systemPrompt: null };
  fake.models = fake.models.map((model) => ({ ...model, defaults }));
  settings.receive({ ...fake.settings, sampling });
  conversation.startNew();
  await vi.waitFor(() => expect(get().presets.replaced?.by).toBe('Reader'));
  expect(fake.settings).toMatchObject({ systemPrompt: '' });
  await presets.restoreReplaced();
  expect(fake.settings).toMatchObject({ systemPrompt: 'Be long.', sampling: forAll });
  expect(get().settings.saved?.sampling).toEqual(sampling);
});

it('a chat keeps the prompt of its first question', async () => {
  const { fake, get, conversation, settings } = await start();
  await settings.update({ systemPrompt: 'Be brief.' });
  conversation.setDraftText('Why?');
  await conversation.send();
  const prompt = () => get().conversation.chat?.systemPrompt;
  expect(prompt()).toBe('Be brief.');
  await settings.update({ systemPrompt: 'Be long.' });
  expect(prompt()).toBe('Be brief.');
  const id = get().conversation.chat?.id ?? '';
  await conversation.setSystemPrompt(id, 'Be kind.');
  expect([prompt(), fake.chats.get(id)?.systemPrompt]).toEqual(['Be kind.', 'Be kind.']);
});
