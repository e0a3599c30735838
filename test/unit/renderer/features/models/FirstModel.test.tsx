// @vitest-environment happy-dom
/** The first screen's way to a real model; the hub and the measured machine are played by the test. */
import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import type { CatalogEntry, Download } from '@/electron/contract/hub';
import { settingsSchema } from '@/electron/contract/settings';
import { FirstModel } from '@/renderer/features/models/FirstModel';
import { rendered } from '@/test/fixtures/renderer/rendered';
import type { TestWindow } from '@/test/fixtures/renderer/window';
import { download, fitOf, hubPage, machineFacts, modelInfo } from '@/test/fixtures/samples';

const { context } = settingsSchema.parse({});
const repo = 'qwen/small-GGUF';
const entry: CatalogEntry = {
  ...{
    repo,
    title: 'Small 4B',
    about: 'A good first model.',
    quant: 'Q4_K_M',
    billions: 4,
    active: null,
    trained: 8192,
  },
  ...{ license: 'mit', file: null, bytes: null, sha256: null, verifiedHere: false, first: true },
};

/** A machine with 7.54 GiB free, and a hub that has the model. */
function played({ bridge, engineIs }: TestWindow, facts: typeof machineFacts | null = machineFacts): void {
  bridge.answer('hub.catalog', () => [entry]);
  bridge.answer('machine.profile', () => facts && { facts, choice: null });
  bridge.answer('engine.plan', () => fitOf(context));
  bridge.answer('hub.model', () => hubPage(repo));
  bridge.answer('hub.fit', () => ({
    ...{ grade: 'full', gpuLayers: -1, fit: fitOf(context), info: modelInfo, bytesPerToken: 2e9, fetched: 0 },
  }));
  bridge.answer('downloads.start', () => download({ repo }));
  engineIs();
}

const shown = (facts?: typeof machineFacts | null) =>
  rendered(<FirstModel />, { start: false }, (opened) => played(opened, facts));
const getIt = () => screen.findByTestId('first-model-get');
const facts = async () => (await screen.findByTestId('first-model-facts')).textContent;

describe('the offer', () => {
  it('tells size, memory and speed, and asks nothing of the hub', async () => {
    const { bridge } = await shown();
    expect(await facts()).toBe(
      'A good first model. Takes at least 2.28 GiB of memory; 7.54 GiB are free. Writes at most about 6 words a second: as fast as one reads (an estimate).',
    );
    expect((await getIt()).textContent).toBe('Download, about 2.28 GiB');
    expect(bridge.calls.filter(({ name }) => /^hub\.(search|model|fit)$/.test(name))).toEqual([]);
  });

  it('tells no speed of a machine that was not measured', async () => {
    await shown(null);
    expect(await facts()).toBe('A good first model. Takes at least 2.28 GiB of memory; 7.54 GiB are free.');
  });

  it('looks for no model while the machine is measured', async () => {
    const { actions } = await shown();
    await getIt();
    act(() => actions.machine.receive({ fraction: 0.5 }));
    expect(screen.getByTestId('first-model').textContent).toContain('Looking which model fits');
    act(() => actions.machine.receive({ fraction: null }));
    await getIt();
  });

  it('is gone as soon as there is a model of the person’s own', async () => {
    const { get, actions } = await shown();
    await getIt();
    const [embedded] = get().models.list ?? [];
    if (!embedded) throw new Error('there is no built-in model');
    act(() => actions.models.receive([embedded, { ...embedded, id: 'own', source: 'file' }]));
    expect(screen.queryByTestId('first-model')).toBeNull();
  });

  it('has ways to other models and to a file', async () => {
    const { get, bridge, actions } = await shown();
    bridge.answer('hub.search', () => ({ models: [], next: null }));
    fireEvent.click(await screen.findByTestId('first-model-others'));
    expect(get().ui.modelsTab).toBe('discover');
    const { info } = get().engine;
    // a browser has no dialog that tells paths
    fireEvent.click(screen.getByTestId('first-model-file'));
    expect(get().ui).toMatchObject({ pickerOpen: true });
    act(() => info && actions.engine.receiveInfo({ ...info, headless: false }));
    bridge.answer('models.addFromDialog', () => ({ added: [], refused: [] }));
    fireEvent.click(screen.getByTestId('first-model-file'));
    expect(bridge.inputs('models.addFromDialog')).toEqual([{ kind: 'files' }]);
  });
});

describe('one click', () => {
  it('leads over the download, which can be paused and canceled there, to a chat with the model', async () => {
    const { bridge } = await shown();
    fireEvent.click(await getIt());
    await waitFor(() => expect(bridge.inputs('downloads.start')).toHaveLength(1));
    expect(bridge.inputs('downloads.start')).toMatchObject([{ repo, file: 'model-Q4_K_M.gguf' }]);
    const at = (change: Partial<Download>) => act(() => bridge.emit('onDownloads', [download({ repo, ...change })]));
    at({ state: 'active', done: 400 });
    expect(screen.getByRole('progressbar', { name: /Download of/ })).toBeTruthy();
    expect(screen.getByTestId('download-pause')).toBeTruthy();
    expect(screen.getByTestId('download-cancel')).toBeTruthy();
    expect(bridge.inputs('models.select')).toEqual([]);
    at({ state: 'done', modelId: 'fresh' });
    expect(bridge.inputs('models.select')).toEqual([{ modelId: 'fresh' }]);
  });

  it('loads nothing that was downloaded before', async () => {
    const { bridge } = await shown();
    await getIt();
    act(() => bridge.emit('onDownloads', [download({ repo, state: 'done', modelId: 'older' })]));
    expect(bridge.inputs('models.select')).toEqual([]);
  });

  it('is answered kindly where the hub cannot be reached, and can be tried again', async () => {
    const { bridge } = await shown();
    bridge.refuse('hub.model', { code: 'network-failed', message: 'There is no network.', hint: '' });
    fireEvent.click(await getIt());
    const said = (await screen.findByTestId('first-model-problem')).textContent;
    expect(said).toContain('The built-in model works without it, and so does any model file that you have.');
    bridge.refuse('hub.model', null);
    const again = await getIt();
    expect(again.textContent).toBe('Try again');
    fireEvent.click(again);
    await waitFor(() => expect(bridge.inputs('downloads.start')).toHaveLength(1));
    await waitFor(() => expect(screen.queryByTestId('first-model-problem')).toBeNull());
  });

  it('downloads nothing that the header says cannot be loaded here', async () => {
    const { bridge } = await shown();
    bridge.answer('hub.fit', () => ({
      ...{ grade: 'none', gpuLayers: -1, fit: fitOf(context, { weights: 9e9 }), info: modelInfo },
      ...{ bytesPerToken: 2e9, fetched: 0 },
    }));
    fireEvent.click(await getIt());
    const said = (await screen.findByTestId('first-model-problem')).textContent;
    expect(said).toContain('Small 4B does not fit into the memory that is free now');
    expect(bridge.inputs('downloads.start')).toEqual([]);
  });

  it('begins nothing after it was canceled', async () => {
    const { bridge, get } = await shown();
    const asking = bridge.hold('hub.model');
    fireEvent.click(await getIt());
    fireEvent.click(await screen.findByTestId('first-model-cancel'));
    await getIt();
    asking.open();
    // a later question has its answer: that of the earlier one has come
    await act(() => get().hub.catalog && bridge.call('hub.model', { repo }));
    expect(bridge.inputs('hub.fit')).toEqual([]);
    expect(bridge.inputs('downloads.start')).toEqual([]);
  });
});
