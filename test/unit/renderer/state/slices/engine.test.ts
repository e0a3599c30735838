/** What the window knows of the engine, and of the connection to it. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { keptParts } from '@/renderer/state/slices/engine';
import { selectProblem } from '@/renderer/state/slices/ui';
import { openWindow } from '@/test/fixtures/renderer/window';
import { readyStatus } from '@/test/fixtures/samples';

it('is known to have been restarted until the person has seen it; commands of the menu are handed on', async () => {
  const { engineIs, get, actions, bridge, commands } = await openWindow({ start: false });
  bridge.emit('onCommand', { command: 'search' });
  expect(commands).toHaveBeenCalledWith('search');
  engineIs({ state: 'restarting' });
  expect(get().engine.recovered).toBe(false);
  engineIs({ state: 'ready', restarts: 1 });
  expect(get().engine.recovered).toBe(true);
  actions.engine.closeRecovered();
  expect(get().engine.recovered).toBe(false);
});

it('reports a failed load once, by its status', async () => {
  const { engineIs, get, actions, bridge } = await openWindow({ start: false });
  const error = { code: 'model-invalid', message: 'Broken file.', hint: '' } as const;
  bridge.refuse('models.select', error);
  engineIs({ state: 'failed', error });
  await actions.models.select('other');
  expect(selectProblem(get())).toBeNull();
  expect(get().models.selectingId).toBeNull();
});

it('is read each second while the services have no news, and not while they are away', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { actions, engineIs, get } = await openWindow({ start: false });
  engineIs();
  vi.advanceTimersByTime(3000);
  expect(get().meter.history).toHaveLength(3);
  actions.engine.receiveConnection({ phase: 'lost', retryAt: null });
  vi.advanceTimersByTime(3000);
  expect(get().meter.history).toHaveLength(3);
});

it('keeps the parts of a status that comes again, so that only what changed renders', () => {
  const again = keptParts(readyStatus, structuredClone({ ...readyStatus, contextUsed: 5 }));
  expect(again.contextUsed).toBe(5);
  expect(again.context).toBe(readyStatus.context);
  expect(again.capabilities).toBe(readyStatus.capabilities);
  const other = structuredClone(readyStatus);
  if (other.context) other.context.nCtx = 1024;
  expect(keptParts(readyStatus, other).context).toBe(other.context);
});
