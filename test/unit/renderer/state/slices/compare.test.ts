/** Comparisons as the state of the window has them; the runs are samples, given by the test. */

import { expect, it, vi } from 'vitest';
import { autoContext } from '@/electron/contract/settings';
import {
  selectCheckedDepth,
  selectCompareDocuments,
  selectLastCheck,
  selectLiveColumn,
} from '@/renderer/state/slices/compare';
import { checkColumn, checkRun, comparisonColumn, comparisonRun } from '@/test/fixtures/renderer/comparison';
import { openWindow } from '@/test/fixtures/renderer/window';
import { liveStats } from '@/test/fixtures/samples';
import { attach, waiting } from '@/test/fixtures/services';

const begun = [0, 1, 2].map((index) =>
  comparisonColumn(index, { state: 'waiting', memory: null, quality: null, speed: null, context: null }),
);

async function start({ engine = false } = {}) {
  const opened = await openWindow({ start: engine });
  const { bridge, actions } = opened;
  bridge.answer('compare.start', () => ({ runId: 'run' }));
  bridge.answer('compare.get', () => comparisonRun(begun, { state: 'running', endedAt: null }));
  return { ...opened, compare: actions.compare, state: () => opened.get().compare };
}

it('shows the run that was started, and every change of it', async () => {
  const { bridge, compare, state, get } = await start();
  compare.show();
  compare.edit({ text: 'Who lit the lamp?' });
  await compare.start();
  expect(bridge.inputs('compare.start')).toMatchObject([{ modelId: get().models.list?.[0]?.id }]);
  expect(state()).toMatchObject({ open: true, starting: false, run: { id: 'run', state: 'running' } });
  const { request: _, ...progress } = comparisonRun();
  bridge.emit('onCompare', { ...progress, id: 'another' });
  expect(state().run?.state).toBe('running');
  bridge.emit('onCompare', progress);
  expect(state().run).toEqual(comparisonRun());
});

it('gathers the text of each column, and drops that of an older run', async () => {
  const { bridge, get } = await start();
  const frame = { runId: 'run', index: 1, text: 'Tom', thinking: '', stats: liveStats };
  bridge.emit('onCompareFrame', frame);
  bridge.emit('onCompareFrame', { ...frame, text: ' lit it', thinking: 'hm' });
  expect(selectLiveColumn('run', 1)(get())).toMatchObject({ text: 'Tom lit it', thinking: 'hm' });
  expect(selectLiveColumn('run', 0)(get())).toBeNull();
  bridge.emit('onCompareFrame', { ...frame, runId: 'next', index: 0 });
  expect(selectLiveColumn('run', 1)(get())).toBeNull();
});

it('says why a start was refused, and stays with the form', async () => {
  const { bridge, compare, state } = await start();
  bridge.refuse('compare.start', { code: 'busy', message: 'A comparison is running already.', hint: 'Wait.' });
  compare.show();
  await compare.start();
  expect(state()).toMatchObject({ run: null, starting: false, problem: { code: 'busy' } });
});

it('takes a chat of the list as the prompt, and files that come meanwhile as documents', async () => {
  const { actions, compare, get, call } = await start();
  const { documentId } = await attach(call, 'a.txt', 'words');
  compare.show({ chatId: 'c', leafId: null, title: 'Talk' });
  expect(get().compare.form).toMatchObject({ kind: 'chat', chat: { chatId: 'c' } });
  await actions.documents.attachStored(documentId);
  expect(selectCompareDocuments(get())).toHaveLength(1);
  compare.close();
  await actions.documents.attachStored(documentId);
  expect(selectCompareDocuments(get())).toHaveLength(1);
});

it('takes a column over for the model of the run alone, and loads it at once where that was asked for', async () => {
  const { services, compare, state, get } = await start({ engine: true });
  const [{ id: modelId = '' } = {}] = get().models.list ?? [];
  const run = comparisonRun();
  const ofModel = { ...run, request: { ...run.request, modelId } };
  compare.show();
  expect(await compare.use(ofModel, 2, false)).toBe(true);
  expect(services.settings.of(modelId).context).toMatchObject({ typeK: 'turbo3', typeV: 'turbo3', nCtx: 4096 });
  expect(services.settings.of(null).context.nCtx).toBe(autoContext);
  expect([state().open, services.engine.status().context?.nCtx]).toEqual([true, 8192]);
  await compare.use(ofModel, 1, true);
  await vi.waitFor(
    () => expect(get().engine.status).toMatchObject({ state: 'ready', context: { nCtx: 4096 } }),
    waiting,
  );
  expect(services.settings.of(modelId).context.typeK).toBe('turbo4');
  expect(state().open).toBe(false);
});

it('takes over the pair of a check and leaves the length as it is', async () => {
  const { services, compare, get } = await start({ engine: true });
  const [{ id: modelId = '' } = {}] = get().models.list ?? [];
  const run = checkRun([checkColumn(0, 13, 12), checkColumn(1, 13, 12), checkColumn(2, 13, 12)]);
  const ofModel = { ...run, request: { ...run.request, modelId } };
  expect(await compare.use(ofModel, 2, false)).toBe(true);
  expect(services.settings.of(modelId).context).toMatchObject({ typeK: 'turbo3', typeV: 'turbo3', nCtx: autoContext });
});

it('knows the last check of a model by its content or its place, and how deep the types in use were checked', async () => {
  const { bridge, engineIs, get } = await start();
  const [{ id: modelId = '' } = {}] = get().models.list ?? [];
  const pairs = [{ typeK: 'turbo4', typeV: 'turbo4', keeps: true, calls: 13 }] as const;
  const calls = { all: 14, right: 13 };
  const check = { fingerprint: 'f1', modelId: 'elsewhere', depth: 4096, pairs: [...pairs], calls, pick: 1 };
  const summary = (id: string, change: Partial<typeof check>) => ({
    ...{ id, name: id, createdAt: 1, state: 'done' as const, modelName: 'Tiny', configurations: [] },
    check: { ...check, ...change },
  });
  const depth = () => selectCheckedDepth(get());
  engineIs();
  expect([depth(), selectLastCheck(modelId)(get())]).toEqual([null, null]);
  bridge.emit('onCompareRuns', [summary('other', { fingerprint: 'f2' })]);
  expect([depth(), selectLastCheck(modelId)(get())]).toEqual([null, null]);
  bridge.emit('onCompareRuns', [summary('new', {}), summary('deep', { depth: 8192 }), summary('old', { depth: 512 })]);
  expect([depth(), selectLastCheck(modelId)(get())?.id]).toEqual([8192, 'new']);
  bridge.emit('onCompareRuns', [summary('here', { fingerprint: 'f2', modelId })]);
  expect([depth(), selectLastCheck(modelId)(get())?.id]).toEqual([null, 'here']);
  // types that were not in it
  bridge.emit('onCompareRuns', [summary('new', { pairs: [] })]);
  expect(depth()).toBeNull();
});

it('shows the comparison that runs when the view is opened', async () => {
  const { engineIs, compare, state } = await start();
  engineIs({ comparing: 'run' });
  compare.show();
  await vi.waitFor(() => expect(state().run?.id).toBe('run'), waiting);
});
