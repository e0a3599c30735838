// @vitest-environment happy-dom
/** When the banner is there, and which ways out it offers. */
import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import { expect, it } from 'vitest';
import { ConnectionBanner, EngineBanner } from '@/renderer/features/engine/EngineBanner';
import { rendered } from '@/test/fixtures/renderer/rendered';
import { fitOf } from '@/test/fixtures/samples';

const tooLarge = { code: 'out-of-memory', message: 'Too large.', hint: 'Lower the context.' } as const;

const banner = () => screen.queryByTestId('engine-banner');
const buttons = () =>
  screen.queryAllByRole('button').map((button) => button.textContent || button.getAttribute('aria-label'));

async function start() {
  return rendered(<EngineBanner />, { start: false }, ({ bridge, engineIs }) => {
    bridge.answer('engine.plan', () => fitOf({ nCtx: 131_072, typeK: 'f16', typeV: 'f16' }));
    engineIs();
  });
}

it('is silent while the engine is ready or at work', async () => {
  const { engineIs } = await start();
  for (const state of ['ready', 'generating'] as const) {
    act(() => engineIs({ state }));
    expect(banner()).toBeNull();
  }
});

it('says why a load failed, with the ways out that fit the cause', async () => {
  const { engineIs, get, actions, bridge } = await start();
  act(() => engineIs({ state: 'failed', error: tooLarge, modelId: 'large' }));
  expect(screen.getByRole('alert').textContent).toContain('Too large.Lower the context.');
  await waitFor(() => expect(buttons()).toContain('Load anyway'));
  expect(buttons()).toEqual(expect.arrayContaining(['Open settings', 'Use the built-in model', 'Try again']));
  expect(buttons()).not.toContain('Choose a model');
  fireEvent.click(screen.getByRole('button', { name: 'Load anyway' }));
  expect(bridge.inputs('engine.reload')).toEqual([{ force: true }]);

  act(() => engineIs({ state: 'failed', error: { ...tooLarge, code: 'model-missing' }, modelId: 'large' }));
  expect(buttons()).toEqual(['Choose a model', 'Use the built-in model', 'Try again']);
  fireEvent.click(screen.getByRole('button', { name: 'Choose a model' }));
  expect(get().ui.pickerOpen).toBe(true);
  act(() => actions.ui.setPicker(false));
});

it('says what is loaded only when that takes a while, and that it can be canceled', async () => {
  const { engineIs, bridge } = await start();
  act(() => engineIs({ state: 'loading', loadStep: 'weights', loadProgress: 0.3 }));
  expect(banner()).toBeNull();
  await screen.findByRole('progressbar', { name: 'Loading the model' });
  expect(banner()?.textContent).toContain('Tiny');
  act(() => engineIs({ state: 'loading', loadStep: 'calibration', loadProgress: 0.3 }));
  expect(buttons()).toEqual(['Skip']);
  fireEvent.click(screen.getByRole('button', { name: 'Skip' }));
  expect(bridge.inputs('engine.cancelLoad')).toHaveLength(1);
});

it('offers to restart an engine that does not answer, whatever it was doing', async () => {
  const { engineIs } = await start();
  for (const state of ['starting', 'loading', 'generating'] as const) {
    act(() => engineIs({ state, stalled: 'silent' }));
    expect(banner()?.dataset.tone).toBe('warn');
    expect(buttons()).toEqual(['Restart the engine']);
  }
});

it('says that another model could not be had and which one is in use, until that is closed', async () => {
  const { engineIs } = await start();
  const refused = { modelId: 'large', error: { ...tooLarge, code: 'model-invalid' as const } };
  act(() => engineIs({ refused }));
  expect(screen.getByRole('alert').textContent).toMatch(/Too large\..*Tiny/);
  expect(buttons()).toEqual(['Choose a model', 'Try again', 'Dismiss']);
  fireEvent.click(screen.getByRole('button', { name: 'Dismiss' }));
  expect(banner()).toBeNull();
});

it('says after a crash what was kept, until that is closed', async () => {
  const { engineIs } = await start();
  act(() => engineIs({ state: 'restarting', error: tooLarge }));
  expect(banner()?.textContent).toContain('Too large.');
  expect(buttons()).toEqual(['Try again']);
  act(() => engineIs({ restarts: 1 }));
  expect(banner()?.dataset.tone).toBe('warn');
  fireEvent.click(screen.getByRole('button', { name: 'Dismiss' }));
  expect(banner()).toBeNull();
});

it('has another one for a connection that was lost, which tries again at once', async () => {
  const { actions } = await rendered(<ConnectionBanner />, { start: false });
  expect(screen.queryByRole('button')).toBeNull();
  act(() => actions.engine.receiveConnection({ phase: 'lost', retryAt: Date.now() + 5000 }));
  const lost = screen.getByRole('status').textContent;
  act(() => actions.engine.receiveConnection({ phase: 'refused', retryAt: null }));
  expect(screen.getByRole('status').textContent).not.toBe(lost);
  expect(screen.getByRole('button', { name: 'Try now' })).toBeDefined();
});
