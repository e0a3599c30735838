/** What fits, asked through the state: for the edited settings, as offers, and for the models of the list. */
import { describe, expect, it, vi } from 'vitest';
import { createElectronClient } from '@/renderer/bridge/createClient';
import { connect } from '@/renderer/state/connect';
import { fitKey } from '@/renderer/state/lib/fit';
import { createApp } from '@/renderer/state/store';
import { fakeSettings, otherModel, readyStatus } from './fakeData';
import { FakeServices } from './fakeServices';

/** 8 GB weights and 128K tokens at f16 are more than the 8.1 GB that the fake machine has. */
const large = { ...fakeSettings().context, nCtx: 131_072, typeK: 'f16' as const, typeV: 'f16' as const };

async function start() {
  const fake = new FakeServices({ frameMs: 0 });
  fake.settings = { ...fake.settings, context: large };
  fake.status = readyStatus(fake.settings.context, otherModel);
  const client = createElectronClient(fake);
  const app = createApp(client);
  connect(client, app, () => undefined);
  const get = app.store.getState;
  await vi.waitFor(() => expect(get().settings.saved).not.toBeNull());
  await vi.waitFor(() => expect(get().engine.status).not.toBeNull());
  const callsOf = (name: string) => fake.calls.filter((call) => call.name === name).map(({ input }) => input);
  return { fake, get, actions: app.actions, callsOf };
}

describe('what fits', () => {
  it('is kept with the question it answers', async () => {
    const { actions, get } = await start();
    await actions.settings.askFit(large, 'other', 131_072);
    const { fit } = get().settings;
    expect(fit?.key).toBe(fitKey(large, 'other'));
    expect(fit?.outcome).toMatchObject({ ok: true, value: { fits: false, trained: 131_072 } });
  });

  it('keeps the last answer when a newer question took the place of this one', async () => {
    const { actions, get, fake } = await start();
    await actions.settings.askFit(large, 'other', 131_072);
    fake.failures.set('engine.plan', { code: 'cancelled', message: 'Newer.', hint: '' });
    await actions.settings.askFit({ ...large, nCtx: 512 }, 'other', 131_072);
    expect(get().settings.fit?.key).toBe(fitKey(large, 'other'));
    fake.failures.set('engine.plan', { code: 'internal', message: 'Broken.', hint: '' });
    await actions.settings.askFit({ ...large, nCtx: 512 }, 'other', 131_072);
    expect(get().settings.fit?.outcome).toMatchObject({ ok: false, error: { message: 'Broken.' } });
  });

  it('makes offers at the asked length and no further', async () => {
    const { actions, callsOf } = await start();
    const asked = { ...large, nCtx: 40_000 };
    const offers = await actions.settings.askOffers(asked, 'other', 'test');
    expect(callsOf('engine.plan').at(-1)).toMatchObject({ longest: 40_192, asker: 'test' });
    expect(offers.map(({ gives, typeK }) => [gives, typeK])).toEqual([
      ['types', 'turbo4'],
      ['types', 'turbo3'],
      ['length', 'f16'],
    ]);
    expect(offers.every(({ nCtx, bytes }) => nCtx <= 40_000 && bytes > 0 && bytes <= 8_100_000_000)).toBe(true);
  });

  it('an offer that is taken is written down and loaded', async () => {
    const { actions, callsOf, get } = await start();
    await actions.settings.takeOffer({ typeK: 'turbo4', typeV: 'turbo4' });
    expect(callsOf('settings.update')).toEqual([{ context: { typeK: 'turbo4', typeV: 'turbo4' } }]);
    expect(callsOf('engine.reload')).toEqual([undefined]);
    expect(get().settings.draft).toEqual({});
  });

  it('loading anyway says so to the services', async () => {
    const { actions, callsOf } = await start();
    actions.settings.editContext({ nCtx: 65_536 });
    await actions.settings.applyContext(true);
    await actions.engine.reload(true);
    expect(callsOf('engine.reload')).toEqual([{ force: true }, { force: true }]);
  });

  it('asks about models one after the other, and not about those that nobody looks at', async () => {
    const { actions, callsOf } = await start();
    const [first, second, third] = await Promise.all([
      actions.settings.askModel('embedded', () => true),
      actions.settings.askModel('other', () => false),
      actions.settings.askModel('other', () => true),
    ]);
    expect([first?.fits, second, third?.fits]).toEqual([true, null, false]);
    expect(callsOf('engine.plan')).toHaveLength(2);
  });
});
