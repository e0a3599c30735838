// @vitest-environment happy-dom
/** What in the settings waits for Apply, what it would cost, and what applies at once. */
import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import type { AnswerStats } from '@/electron/contract/chats';
import type { TemplateSupport } from '@/electron/contract/engine';
import { cacheTypes, settingsSchema } from '@/electron/contract/settings';
import { applyCost, measuredRate } from '@/renderer/features/settings/ApplyBar';
import { parseVariables } from '@/renderer/features/settings/advanced/VariablesSection';
import { changesText } from '@/renderer/features/settings/changesText';
import { parseStops, printStops } from '@/renderer/features/settings/chat/SamplingSection';
import { autoText } from '@/renderer/features/settings/memory/ContextField';
import { defaultContext, SettingsPanel } from '@/renderer/features/settings/SettingsPanel';
import type { SettingsTab } from '@/renderer/state/appState';
import { rendered } from '@/test/fixtures/renderer/rendered';
import { answerStats, fitOf, loadedContext, message, modelInfo, readyStatus } from '@/test/fixtures/samples';

const show = (tab: SettingsTab) => fireEvent.mouseDown(screen.getByTestId(`settings-tab-${tab}`), { button: 0 });
const changes = () => screen.queryByTestId('settings-changes');
const typeOf = (side: string) => screen.getByRole<HTMLSelectElement>('combobox', { name: new RegExp(`^${side} `) });

describe('the panel', () => {
  it('keeps changes of the cache until they are applied, and forgets them with Discard', async () => {
    const { services, get } = await rendered(<SettingsPanel />);
    expect(changes()).toBeNull();
    fireEvent.click(screen.getByTestId('memory-saving-apart'));
    expect([...typeOf('K').options].map(({ value }) => value)).toEqual([...cacheTypes]);
    fireEvent.change(typeOf('K'), { target: { value: 'q8_0' } });
    expect(changes()?.textContent).toMatch(/turbo4.*q8_0/);
    fireEvent.click(screen.getByRole('button', { name: 'Discard' }));
    expect(changes()).toBeNull();
    fireEvent.change(typeOf('V'), { target: { value: 'turbo3' } });
    expect(services.settings.get().context.typeV).toBe('turbo4');
    fireEvent.click(screen.getByTestId('settings-apply'));
    await waitFor(() => expect(changes()).toBeNull());
    expect(services.settings.get().context.typeV).toBe('turbo3');
    await waitFor(() => expect([get().engine.status?.state, get().settings.applying]).toEqual(['ready', false]));
  });

  it('sets both sides of the cache in four steps, shows what each takes, and keeps other pairs', async () => {
    const sides = { K: { f16: 1000, q8_0: 500, turbo4: 300 }, V: { f16: 1000, q8_0: 500, turbo4: null } };
    const { get, actions } = await rendered(<SettingsPanel />, { start: false }, ({ bridge, engineIs }) => {
      bridge.answer('engine.plan', ({ context }: { context: Parameters<typeof fitOf>[0] }) => ({
        ...fitOf(context),
        sides,
      }));
      bridge.answer('settings.update', () => settingsSchema.parse({}));
      engineIs();
    });
    const saving = () => screen.getByTestId('memory-saving');
    const row = (type: string) => screen.getByTestId(`memory-saving-${type}`).closest('label');
    expect(saving().dataset.step).toBe('turbo4');
    await waitFor(() => expect(row('q8_0')?.textContent).toContain('1000 B'));
    expect(row('turbo4')?.textContent).toContain('not on both sides');
    fireEvent.click(screen.getByTestId('memory-saving-q8_0'));
    expect(get().settings.draft).toEqual({ typeK: 'q8_0', typeV: 'q8_0' });
    expect(screen.queryByRole('combobox', { name: /^K / })).toBeNull();
    // a pair that is none of the steps is shown as what it is
    act(() => actions.settings.editContext({ typeK: 'q8_0', typeV: 'turbo3' }));
    expect(saving().dataset.step).toBe('apart');
    expect([typeOf('K').value, typeOf('V').value]).toEqual(['q8_0', 'turbo3']);
  });

  it('spends a budget of bits or bytes on the layers, and shows which types they would get', async () => {
    const cacheLayers = [
      { layer: 0, typeK: 'turbo4', typeV: 'turbo3', bytesK: 10, bytesV: 8 },
      { layer: 1, typeK: 'turbo3', typeV: 'turbo3', bytesK: 8, bytesV: 8 },
    ];
    const { get } = await rendered(<SettingsPanel />, { start: false }, ({ bridge, engineIs }) => {
      bridge.answer('engine.plan', ({ context }: { context: Parameters<typeof fitOf>[0] }) => {
        const fit = fitOf(context);
        const mixed = context.typeK.startsWith('auto') ? cacheLayers : [];
        return {
          ...fit,
          estimate: { ...fit.estimate, kvK: 3 * 1024 ** 2, kvV: 1024 ** 2, kvF16: 16 * 1024 ** 2, cacheLayers: mixed },
        };
      });
      engineIs();
    });
    expect(screen.queryByTestId('memory-budget-value')).toBeNull();
    fireEvent.click(screen.getByTestId('memory-saving-auto'));
    expect(get().settings.draft).toEqual({ typeK: 'auto:3.75', typeV: 'auto:3.75' });
    expect(screen.getByTestId('memory-saving').dataset.step).toBe('auto');
    await waitFor(() =>
      expect(screen.getByTestId('layer-blocks').textContent).toContain('Layer 1: K turbo4, V turbo3'),
    );
    const value = screen.getByTestId('memory-budget-value');
    fireEvent.change(value, { target: { value: '3.5' } });
    fireEvent.blur(value);
    expect(get().settings.draft).toEqual({ typeK: 'auto:3.5', typeV: 'auto:3.5' });
    // what the cache takes now, in the other unit
    fireEvent.change(screen.getByTestId('memory-budget-unit'), { target: { value: 'MiB' } });
    expect(get().settings.draft).toEqual({ typeK: 'auto:4MiB', typeV: 'auto:4MiB' });
    fireEvent.click(screen.getByTestId('memory-saving-turbo3'));
    expect(get().settings.draft).toEqual({ typeK: 'turbo3', typeV: 'turbo3' });
    expect(screen.queryByTestId('memory-budget-value')).toBeNull();
  });

  it('opens with the part that was shown last, and judges edits in each', async () => {
    const { bridge, actions, get } = await rendered(
      <SettingsPanel />,
      { start: false },
      ({ bridge: services, engineIs }) => {
        services.answer('engine.plan', ({ context }: { context: Parameters<typeof fitOf>[0] }) => fitOf(context));
        engineIs();
      },
    );
    show('advanced');
    expect(get().ui.settingsTab).toBe('advanced');
    act(() => actions.settings.editContext({ batch: 64 }));
    const planned = () =>
      (bridge.inputs('engine.plan') as { context: { batch: number } }[]).map((one) => one.context.batch);
    await waitFor(() => expect(planned()).toContain(64));
    act(() => actions.ui.setSettings(false));
    act(() => actions.ui.setSettings(true));
    expect(screen.getByTestId('settings-batch')).toBeDefined();
  });

  it('offers some numbers of recent tokens, and shows another one of a settings file', async () => {
    const { get, actions } = await rendered(<SettingsPanel />, { start: false }, ({ bridge, engineIs }) => {
      bridge.answer('engine.plan', ({ context }: { context: Parameters<typeof fitOf>[0] }) => fitOf(context));
      engineIs();
    });
    show('advanced');
    const field = screen.getByTestId<HTMLSelectElement>('settings-recent-tokens');
    const words = () => [...field.options].map(({ text }) => text);
    expect(words()).toEqual(['Off', '128', '512', '2,048']);
    fireEvent.change(field, { target: { value: '512' } });
    expect(get().settings.draft).toEqual({ recentTokens: 512 });
    act(() => actions.settings.editContext({ recentTokens: 300 }));
    expect(words()).toEqual(['Off', '128', '300', '512', '2,048']);
    expect(field.value).toBe('300');
  });

  it('says what does not fit, offers what does, and loads it only when a person insists', async () => {
    const { bridge, actions } = await rendered(
      <SettingsPanel />,
      { start: false },
      ({ bridge: services, engineIs }) => {
        services.answer('engine.plan', ({ context }: { context: Parameters<typeof fitOf>[0] }) => fitOf(context));
        services.answer('settings.update', () => settingsSchema.parse({}));
        engineIs();
      },
    );
    act(() => actions.settings.editContext({ nCtx: 40_000, typeK: 'f16', typeV: 'f16' }));
    expect(await screen.findByRole('alert')).toBeDefined();
    const [offer] = await screen.findAllByTestId('settings-offer');
    fireEvent.click(screen.getByTestId('settings-force'));
    await waitFor(() => expect(bridge.inputs('settings.update')).toMatchObject([{ apply: { force: true } }]));
    expect(offer?.textContent).toContain('turbo4');
  });

  it('speaks of the chat that is open: what the cache holds of another one is nothing that it loses', async () => {
    const { actions, engineIs, ask, get } = await rendered(<SettingsPanel />);
    await ask('Why?');
    const held = { contextChat: get().conversation.chat?.id ?? null, contextUsed: 500, context: loadedContext };
    act(() => engineIs(held));
    act(() => actions.settings.editContext({ typeK: 'f16', typeV: 'f16' }));
    const cost = () => screen.getByTestId('apply-cost').textContent;
    await waitFor(() => expect(cost()).toContain('Its 500 tokens are read again'));
    act(() => actions.conversation.startNew());
    expect(cost()).toBe('Reloads the model. The chat stays.');
  });

  it('has Apply off while an answer is written', async () => {
    const { engineIs, actions } = await rendered(<SettingsPanel />, { start: false });
    act(() => engineIs({ state: 'generating' }));
    act(() => actions.settings.editContext({ nCtx: 4096 }));
    expect(screen.getByTestId<HTMLButtonElement>('settings-apply').disabled).toBe(true);
    act(() => engineIs());
    expect(screen.getByTestId<HTMLButtonElement>('settings-apply').disabled).toBe(false);
  });

  it('applies the theme at once', async () => {
    const { services } = await rendered(<SettingsPanel />, { start: false });
    show('chat');
    fireEvent.click(screen.getByRole('radio', { name: 'Dark' }));
    await waitFor(() => expect(services.settings.get().theme).toBe('dark'));
  });
});

describe('sampling', () => {
  const author = { ...readyStatus, model: { ...modelInfo, sampling: { temperature: 0.6, topK: 20, minP: null } } };
  const field = (key: string) => screen.getByTestId<HTMLInputElement>(`settings-${key}`);
  const origin = (key: string) => screen.getByTestId(`settings-${key}-origin`);
  const shown = (key: string) => [field(key).value, origin(key).dataset.origin];

  it('says of each value whose it is, and goes back to that of the model, or the default', async () => {
    const { services, actions } = await rendered(<SettingsPanel />, { start: false }, ({ engineIs }) =>
      engineIs(author),
    );
    show('chat');
    expect([shown('temperature'), shown('minP')]).toEqual([
      ['0.6', 'model'],
      ['0.05', 'default'],
    ]);
    await act(() => actions.settings.update({ sampling: { temperature: 0.7, minP: 0.2 } }));
    expect([shown('temperature'), shown('minP')]).toEqual([
      ['0.7', 'own'],
      ['0.2', 'own'],
    ]);
    expect(origin('temperature').getAttribute('aria-label')).toMatch(/Temperature is yours.*0\.6, from the model/);
    expect(origin('minP').getAttribute('aria-label')).toMatch(/0\.05, the default/);
    fireEvent.click(origin('temperature'));
    await waitFor(() => expect(shown('temperature')).toEqual(['0.6', 'model']));
    await waitFor(() => expect(services.settings.get().sampling).toEqual({ minP: 0.2 }));
    fireEvent.click(screen.getByTestId('settings-reset-sampling'));
    await waitFor(() => expect(services.settings.get().sampling).toEqual({}));
    expect(screen.queryByTestId('settings-reset-sampling')).toBeNull();
  });

  it('has penalties, DRY and XTC behind a click, and open where one is set', async () => {
    const { services } = await rendered(<SettingsPanel />, { start: false });
    show('chat');
    expect(screen.queryByTestId('settings-dryMultiplier')).toBeNull();
    fireEvent.click(screen.getByTestId('settings-sampling-advanced'));
    fireEvent.change(field('dryMultiplier'), { target: { value: '0.8' } });
    fireEvent.blur(field('dryMultiplier'));
    await waitFor(() => expect(services.settings.get().sampling).toEqual({ dryMultiplier: 0.8 }));
    cleanup();
    const set = { xtcProbability: 0.5 };
    await rendered(<SettingsPanel />, { start: false }, ({ actions }) => actions.settings.update({ sampling: set }));
    show('chat');
    expect(shown('xtcProbability')).toEqual(['0.5', 'own']);
  });
});

describe('thinking and the chat template', () => {
  const withSupport = (templateSupport: Partial<TemplateSupport>) => ({
    context: { ...loadedContext, templateSupport: { ...loadedContext.templateSupport, ...templateSupport } },
  });
  const all = { thinking: true, thinkingSwitch: true, thinkingBudget: true, effort: true };
  const text = () => screen.getByTestId('settings-template-text').textContent;

  it('has what the template heeds, kept with the model alone', async () => {
    const { services, engineIs, get } = await rendered(<SettingsPanel />, { start: false });
    const controls = () =>
      ['thinking', 'effort', 'thinkingBudget'].filter((id) => screen.queryByTestId(`settings-${id}`));
    show('chat');
    expect(controls()).toEqual([]);
    act(() => engineIs(withSupport({})));
    expect([controls(), text()]).toEqual([[], expect.stringMatching(/^For Tiny alone\. .*no thinking/)]);
    act(() => engineIs(withSupport({ thinking: true, thinkingBudget: true })));
    expect([controls(), text()]).toEqual([['thinkingBudget'], expect.stringContaining('no switch')]);
    act(() => engineIs(withSupport(all)));
    expect(controls()).toEqual(['thinking', 'effort', 'thinkingBudget']);

    services.settings.follow(get().models.list?.[0]?.id ?? '');
    fireEvent.change(screen.getByTestId('settings-effort'), { target: { value: 'high' } });
    fireEvent.change(screen.getByTestId('settings-thinkingBudget'), { target: { value: '512' } });
    fireEvent.blur(screen.getByTestId('settings-thinkingBudget'));
    await waitFor(() =>
      expect(services.settings.get().template).toMatchObject({ effort: 'high', thinkingBudget: 512 }),
    );
    const panel = within(screen.getByTestId('settings-thinking'));
    fireEvent.click(panel.getByRole('radio', { name: 'Off' }));
    await waitFor(() => expect(services.settings.get().template.thinking).toBe(false));
    expect(controls()).toEqual(['thinking', 'effort']);
    expect(services.settings.of(null).template).toMatchObject({ thinking: true, effort: null });
    // what is its own anyway makes nothing else of it its own
    expect(screen.getByTestId('settings-scope').dataset.own).toBe('false');
  });

  it('keeps variables that cannot be used in the field, with the reason', async () => {
    const { services } = await rendered(<SettingsPanel />, { start: false });
    show('advanced');
    const field = screen.getByTestId<HTMLTextAreaElement>('settings-variables');
    const type = (value: string) => {
      fireEvent.change(field, { target: { value } });
      fireEvent.blur(field);
    };
    type('{ style: plain }');
    expect(screen.getByRole('alert').textContent).toMatch(/Not saved.*JSON/);
    expect(field.value).toBe('{ style: plain }');
    type('{ "style": "plain" }');
    expect(screen.queryByRole('alert')).toBeNull();
    await waitFor(() => expect(services.settings.get().template.variables).toEqual({ style: 'plain' }));
    type('');
    await waitFor(() => expect(services.settings.get().template.variables).toEqual({}));
  });

  it.each([
    ['[1]', /object/],
    ['"x"', /object/],
    ['null', /object/],
    ['{"a":', /no JSON/],
    ['{"messages": []}', /given by the app/],
    ['{"enable_thinking": false}', /switch/],
    ['{"a b": 1}', /no name/],
    [`{"a": "${'x'.repeat(4000)}"}`, /4000/],
  ])('refuses %s', (typed, reason) => {
    expect(parseVariables(typed)).toEqual({ problem: expect.stringMatching(reason) });
  });
});

it('the defaults are those of the contract', () => {
  expect(defaultContext).toEqual(settingsSchema.parse({}).context);
});

describe('what a change costs a chat', () => {
  const context = { ...defaultContext, nCtx: 8192 };
  const placed = { layers: 9, gpuLayers: 5, expertsInRam: 0, expertsInPart: 0, workers: false };
  const whole: Pick<Parameters<typeof applyCost>[0], 'placement'> = { placement: null };
  const rest = { used: 4000, trained: 8192, rate: 200 };
  const facts = { loaded: loadedContext, saved: context, edited: context, ...whole, ...rest };
  const cost = (change: Partial<typeof facts>) => applyCost({ ...facts, ...change });

  it('is nothing while the cache is empty, or kept', () => {
    expect(cost({ used: 0 }).kind).toBe('nothing');
    expect(applyCost({ ...facts, loaded: null }).kind).toBe('nothing');
    expect(cost({ edited: { ...context, nCtx: 6144 } }).kind).toBe('kept');
  });

  it('is reading it again where layers go elsewhere so that they fit', () => {
    const shorter = { edited: { ...context, nCtx: 6144 } };
    expect(cost({ ...shorter, placement: placed }).kind).toBe('again');
    const there = { ...loadedContext, placement: placed };
    expect(cost({ ...shorter, loaded: there, placement: placed }).kind).toBe('kept');
  });

  it.each([{ typeK: 'turbo3' as const }, { gpuLayers: 3 }, { deviceShares: [1] }])(
    'is reading it again: %j',
    (change) => {
      const edited = { ...context, ...change };
      expect(cost({ edited })).toEqual({ kind: 'again', text: expect.stringMatching(/4,000.*20 s.*200 tok/) });
      expect(applyCost({ ...facts, rate: null, edited }).text).not.toMatch(/ s\b|tok\/s/);
    },
  );

  it('is too much where the chat does not fit into the context', () =>
    expect(cost({ edited: { ...context, nCtx: 2048 } }).kind).toBe('too-short'));

  it('is given by the answer that read the most of the last ones of this model', () => {
    const stats = (promptTokens: number, promptTokensPerSecond: number, cachedTokens = 0): AnswerStats => ({
      ...answerStats,
      ...{ promptTokens, cachedTokens, promptTokensPerSecond },
    });
    const of = (one: AnswerStats, modelName = 'tiny') => message({ modelName, stats: one });
    const messages = [of(stats(5000, 300)), of(stats(6000, 20), 'large'), of(stats(5100, 900, 5090))];
    expect(measuredRate(messages, null, 'tiny')).toBe(300);
    expect(measuredRate([of(stats(20, 300))], null, 'tiny')).toBeNull();
    expect(measuredRate([], stats(400, 250), 'tiny')).toBe(250);
  });
});

it('a change is shown with the value before and after', () => {
  const changes = changesText(defaultContext, { nCtx: 16_384, typeK: 'turbo3', threads: 4 });
  expect(changes).toEqual([/auto.*16,384/, /K.*turbo4.*turbo3/, /auto.*4/].map((text) => expect.stringMatching(text)));
  const recent = (before: number, after: number) =>
    changesText({ ...defaultContext, recentTokens: before }, { recentTokens: after });
  expect(recent(0, 2048)).toEqual(['Recent tokens at 8 bits off → 2,048']);
  const drafting = { speculation: 'draft', draftModel: 'id' } as const;
  expect(changesText(defaultContext, drafting, [{ id: 'id', fileName: 'small.gguf' }])).toEqual([
    'Drafting Text → Model',
    'Draft model none → small.gguf',
  ]);
});

it('stop strings come back as they were, without empty and repeated lines, within the limits', () => {
  const stop = ['END', '\n\nUser:', 'a\\nb', '\t'];
  expect(parseStops(printStops(stop))).toEqual(stop);
  expect(parseStops('a\n\na\nb')).toEqual(['a', 'b']);
  expect(parseStops(Array.from({ length: 40 }, (_, i) => `s${i}`).join('\n'))).toHaveLength(16);
  expect(parseStops('x'.repeat(500))[0]).toHaveLength(200);
});

describe('the length Auto', () => {
  const length = () => screen.getByTestId<HTMLInputElement>('settings-context');
  const help = () => document.getElementById('settings-context-help')?.textContent;

  it('is what a new start has: its figure now, and why; any length can be chosen, and Auto again', async () => {
    const { engineIs, get } = await rendered(<SettingsPanel />, { start: false });
    const auto = { nCtx: 65_536, end: 'memory' as const, spare: 4 * 1024 ** 3 };
    act(() => engineIs({ context: { ...loadedContext, nCtx: 65_536, auto } }));
    expect([length().value, length().placeholder]).toEqual(['', 'auto']);
    expect(help()).toMatch(/Auto: 65,536 now, the longest that leaves 4\.00 GiB/);
    expect(screen.getByTestId<HTMLButtonElement>('context-auto').disabled).toBe(true);
    fireEvent.change(length(), { target: { value: '6000' } });
    expect(get().settings.draft).toEqual({ nCtx: 6000 });
    expect(help()).not.toContain('65,536');
    fireEvent.click(screen.getByTestId('context-auto'));
    expect(get().settings.draft).toEqual({});
    // an emptied field is Auto, too
    fireEvent.change(length(), { target: { value: '6500' } });
    expect(get().settings.draft).toEqual({ nCtx: 6500 });
    fireEvent.change(length(), { target: { value: '' } });
    expect(get().settings.draft).toEqual({});
  });

  it('has a reason of its own for each end', () => {
    const ends = ['trained', 'memory', 'processor', 'grown', 'tight', 'unknown'] as const;
    const said = ends.map((end) => autoText({ nCtx: 8192, end, spare: 1024 ** 3 }));
    expect(new Set(said).size).toBe(ends.length);
    expect(said.every((text) => text.startsWith('Auto: 8,192 now, '))).toBe(true);
    expect(autoText(null)).not.toContain('now');
  });
});
