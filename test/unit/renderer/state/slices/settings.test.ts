/** Settings that wait for Apply, and what fits into the memory with them. */
import { describe, expect, it } from 'vitest';
import { applyPatch } from '@/electron/contract/lib/settingsPatch';
import { settingsSchema } from '@/electron/contract/settings';
import { fitKey } from '@/renderer/state/lib/fit';
import { changeDraft } from '@/renderer/state/slices/settings';
import { selectProblem } from '@/renderer/state/slices/ui';
import { openWindow } from '@/test/fixtures/renderer/window';
import { fitOf } from '@/test/fixtures/samples';

const defaults = settingsSchema.parse({});

it('context settings are written down and loaded when an offer is taken; a draft holds only what differs from the saved ones', async () => {
  const { actions, get } = await openWindow();
  await actions.settings.takeOffer({ typeK: 'turbo3', typeV: 'turbo3' });
  expect(get().settings).toMatchObject({ draft: {}, saved: { context: { typeK: 'turbo3', typeV: 'turbo3' } } });
  expect(get().engine.status?.state).toBe('ready');
  const { context } = defaults;
  const draft = changeDraft({}, { nCtx: 4096, typeK: 'turbo3' }, context);
  expect(draft).toEqual({ nCtx: 4096, typeK: 'turbo3' });
  expect(changeDraft(draft, { nCtx: context.nCtx }, context)).toEqual({ typeK: 'turbo3' });
});

it('other settings are shown at once, and go back when they are refused', async () => {
  const { actions, get, bridge } = await openWindow({ start: false });
  const full = { code: 'storage-failed', message: 'No.', hint: '' } as const;
  bridge.refuse('settings.update', full);
  const writing = bridge.hold('settings.update');
  const updating = actions.settings.update({ theme: 'dark' });
  expect(get().settings.saved?.theme).toBe('dark');
  writing.open();
  await updating;
  expect(get().settings.saved?.theme).toBe('system');
  expect(selectProblem(get())).toEqual(full);
  expect(applyPatch(defaults, { theme: undefined }).theme).toBe('system');
});

describe('what fits', () => {
  /** 5 GB of weights and 128K tokens at f16 are more than the 8.1 GB that the sample machine has. */
  const large = { ...defaults.context, nCtx: 131_072, typeK: 'f16' as const, typeV: 'f16' as const };

  async function start() {
    const opened = await openWindow({ start: false });
    const answer = (question: { context?: typeof large; longest?: number; modelId?: string }) =>
      fitOf(question.context ?? large, {
        ...(question.modelId === 'small' && { weights: 1e6, values: 1024 }),
        ...(question.longest && { longest: question.longest }),
      });
    opened.bridge.answer('engine.plan', answer);
    return { ...opened, settings: opened.actions.settings };
  }

  it('is kept with the question it answers', async () => {
    const { settings, get } = await start();
    await settings.askFit(large, 'other', 131_072);
    expect(get().settings.fit).toMatchObject({
      key: fitKey(large, 'other'),
      outcome: { ok: true, value: { fits: false, trained: 131_072 } },
    });
  });

  it('keeps the last answer when a newer question took the place of this one', async () => {
    const { settings, get, bridge } = await start();
    await settings.askFit(large, 'other', 131_072);
    bridge.refuse('engine.plan', { code: 'cancelled', message: 'Newer.', hint: '' });
    await settings.askFit({ ...large, nCtx: 512 }, 'other', 131_072);
    expect(get().settings.fit?.key).toBe(fitKey(large, 'other'));
    bridge.refuse('engine.plan', { code: 'internal', message: 'Broken.', hint: '' });
    await settings.askFit({ ...large, nCtx: 512 }, 'other', 131_072);
    expect(get().settings.fit?.outcome).toMatchObject({ ok: false, error: { message: 'Broken.' } });
  });

  it('makes offers at the asked length and no further', async () => {
    const { settings, bridge } = await start();
    const offers = await settings.askOffers({ ...large, nCtx: 40_000 }, 'other', 'test');
    expect(bridge.inputs('engine.plan').at(-1)).toMatchObject({ longest: 40_192, asker: 'test' });
    expect(offers.map(({ gives, typeK }) => [gives, typeK])).toEqual([
      ['types', 'turbo4'],
      ['types', 'turbo3'],
      ['length', 'f16'],
    ]);
    expect(offers.every(({ nCtx, bytes }) => nCtx <= 40_000 && bytes > 0 && bytes <= 8_100_000_000)).toBe(true);
  });

  it('is asked of one model after the other, and not of those that nobody looks at', async () => {
    const { settings, bridge } = await start();
    const [first, second, third] = await Promise.all([
      settings.askModel('small', () => true),
      settings.askModel('other', () => false),
      settings.askModel('other', () => true),
    ]);
    expect([first?.fits, second, third?.fits]).toEqual([true, null, false]);
    expect(bridge.inputs('engine.plan')).toMatchObject([{ marks: false }, { marks: false }]);
  });
});
