import { expect, onTestFinished, test, vi } from 'vitest';
import { engineArguments, inspectorArguments, isInspector, selfTestFolder } from '@/electron/contract/engineContract';
import { ConcertinaError } from '@/electron/contract/errors';
import type { Engine } from '@/electron/engine/native/types';
import { serveEngine } from '@/electron/engine/server';
import { openParentPort, type ParentPort } from '@/electron/workers/parentPort';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { Gate } from '@/test/fixtures/gate';
import { capabilities } from '@/test/fixtures/samples';

function start(engine: Engine): unknown[] {
  const sent: unknown[] = [];
  const parent: ParentPort = {
    send: (message) => void sent.push(message),
    onMessage: () => undefined,
    onPort: () => undefined,
  };
  serveEngine(parent, () => engine, '/data');
  return sent;
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

test('the kernels are tested before the engine is ready, and what was disabled is in its first message', async () => {
  const testing = new Gate().hold();
  const selfTest = vi.fn(() => testing.pass());
  const warnings: string[] = [];
  const sent = start({ ...createFakeEngine(), selfTest, capabilities: () => ({ ...capabilities, warnings }) });
  await settled();
  expect(selfTest).toHaveBeenCalledWith('/data');
  expect(sent).toEqual([]);
  warnings.push('Disabled by the self-test: k.');
  testing.open();
  await settled();
  const payload = { capabilities: { ...capabilities, warnings }, problem: null };
  expect(sent).toEqual([{ type: 'event', name: 'onReady', payload }]);
});

test('a self-test that fails as a whole makes the engine unavailable, with its reason', async () => {
  const sent = start({
    ...createFakeEngine(),
    selfTest: () => Promise.reject(new ConcertinaError('internal', 'No memory on the GPU.')),
  });
  await settled();
  const payload = { capabilities: null, problem: 'No memory on the GPU.' };
  expect(sent).toEqual([{ type: 'event', name: 'onReady', payload }]);
});

test('the engine process reads what its parent wrote', () => {
  const argv = ['node', 'engine.cjs', ...engineArguments('/home/a b/data=1')];
  expect([selfTestFolder(argv), isInspector(argv)]).toEqual(['/home/a b/data=1', false]);
  expect(selfTestFolder(['node', 'engine.cjs'])).toBe('');
  const inspecting = ['node', 'engine.cjs', ...inspectorArguments('/data')];
  expect([selfTestFolder(inspecting), isInspector(inspecting)]).toEqual(['/data', true]);
});

test('Ctrl-C in a terminal does not end a forked engine before its parent does', () => {
  const on = vi.spyOn(process, 'on').mockReturnThis();
  onTestFinished(() => on.mockRestore());
  openParentPort();
  // without a listener of its own Node ends at SIGINT
  expect(on).toHaveBeenCalledWith('SIGINT', expect.any(Function));
});
