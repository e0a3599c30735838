/** The hub and downloads as the state of the window has them; the hub itself is played by the test. */
import { describe, expect, it, vi } from 'vitest';
import type { HubFile, HubModelPage } from '@/electron/contract/hub';
import { settingsSchema } from '@/electron/contract/settings';
import { newlyDone } from '@/renderer/features/models/view/ModelsView';
import { firstFile, fitKey } from '@/renderer/state/slices/hub';
import { openWindow } from '@/test/fixtures/renderer/window';
import { download, fitOf, hubFile, hubModel, hubPage, modelInfo } from '@/test/fixtures/samples';
import { waiting } from '@/test/fixtures/services';

const offline = { code: 'network-failed', message: 'hub.example: there is no network.', hint: 'Check it.' } as const;
const { context } = settingsSchema.parse({});

async function start() {
  const opened = await openWindow({ start: false });
  const { bridge, actions, get } = opened;
  const models = ['qwen/small-GGUF', 'qwen/large-GGUF'].map(hubModel);
  bridge.answer('hub.search', ({ query }: { query: string }) => ({
    models: models.filter(({ repo }) => repo.includes(query)),
    next: null,
  }));
  bridge.answer('hub.model', ({ repo }: { repo: string }) => hubPage(repo));
  bridge.answer('hub.fit', () => {
    return { grade: 'full', gpuLayers: -1, fit: fitOf(context), info: modelInfo, bytesPerToken: 5e9, fetched: 0 };
  });
  return { bridge, hub: actions.hub, downloads: actions.downloads, state: get };
}

describe('the search of the hub', () => {
  it('asks once when the typing rests', async () => {
    const { hub, state, bridge } = await start();
    for (const query of ['s', 'sm', ' small ']) hub.type(query);
    await vi.waitFor(() => expect(state().hub.results?.models).toMatchObject([{ repo: 'qwen/small-GGUF' }]), waiting);
    expect(bridge.inputs('hub.search')).toMatchObject([{ query: 'small' }]);
  });

  it('drops the answer of an older question, and of one that was given up', async () => {
    const { hub, state, bridge } = await start();
    const searching = bridge.hold('hub.search');
    const older = hub.search();
    hub.type('large');
    const newer = hub.search();
    searching.open();
    await Promise.all([older, newer]);
    expect(state().hub.results).toMatchObject({ query: 'large', models: [{ repo: 'qwen/large-GGUF' }] });
    searching.hold();
    hub.type('small');
    const given = hub.search();
    hub.cancel();
    searching.open();
    await given;
    expect(state().hub).toMatchObject({ searching: false, results: { query: 'large' } });
  });

  it('gives up with Escape: the search first, then what is typed, then nothing', async () => {
    const { hub, state } = await start();
    hub.type('small');
    void hub.search();
    expect([hub.giveUp(), state().hub.searching, state().hub.query]).toEqual([true, false, 'small']);
    expect([hub.giveUp(), state().hub.query]).toEqual([true, '']);
    expect(hub.giveUp()).toBe(false);
    hub.cancel();
  });

  it('says why there is no answer where the search stands, and takes that back with the next one', async () => {
    const { bridge, hub, state } = await start();
    bridge.refuse('hub.search', offline);
    await hub.search();
    expect(state().hub).toMatchObject({ searching: false, results: null, problem: offline });
    expect(state().ui.problem).toBeNull();
    bridge.refuse('hub.search', null);
    await hub.search();
    expect(state().hub.problem).toBeNull();
  });
});

describe('the page of a model', () => {
  it('begins with the usual file, and keeps no answer for a page that was left', async () => {
    const { hub, state, bridge } = await start();
    await hub.openPage('qwen/small-GGUF');
    expect(state().hub.page).toMatchObject({ file: 'model-Q4_K_M.gguf', outcome: { ok: true } });
    const reading = bridge.hold('hub.model');
    const left = hub.openPage('qwen/large-GGUF');
    const shown = hub.openPage('qwen/small-GGUF');
    reading.open();
    await Promise.all([left, shown]);
    expect(state().hub.page).toMatchObject({
      repo: 'qwen/small-GGUF',
      outcome: { value: { repo: 'qwen/small-GGUF' } },
    });
  });

  it('asks each verdict once, and a failed one again', async () => {
    const { bridge, hub, state } = await start();
    const page = hubPage('qwen/small-GGUF');
    const file = hubFile();
    const of = (settings = context) => state().hub.fits[fitKey(page, file.file, settings)];
    bridge.refuse('hub.fit', offline);
    await hub.askFit(page, file, context);
    expect(of()).toEqual({ ok: false, error: offline });
    bridge.refuse('hub.fit', null);
    await hub.askFit(page, file, context);
    await hub.askFit(page, file, context);
    expect(bridge.inputs('hub.fit')).toHaveLength(2);
    expect(of()?.ok).toBe(true);
    expect(of({ ...context, typeK: 'f16' })).toBeUndefined();
  });

  it('begins with the file of the suggestion, then the usual one, and never one that cannot be used', () => {
    const page = (...files: HubFile[]) => ({ quants: [{ quant: null, files }] }) as unknown as HubModelPage;
    const [small, usual, large] = [hubFile({ quant: 'Q2_K' }), hubFile(), hubFile({ quant: 'Q8_0' })];
    expect(firstFile(page(small, usual, large), 'Q8_0')).toBe(large);
    expect(firstFile(page(small, usual, large))).toBe(usual);
    expect(firstFile(page({ ...usual, missingParts: 1 }, small))).toBe(small);
    expect(firstFile(page({ ...small, kind: 'projector' }))).toBeNull();
  });
});

describe('downloads', () => {
  it('are started once, and a refusal stands beside them', async () => {
    const { bridge, downloads, state } = await start();
    const request = { repo: 'qwen/small-GGUF', file: 'model-Q4_K_M.gguf' };
    bridge.answer('downloads.start', () => {
      const started = download({ ...request, state: 'active' });
      bridge.emit('onDownloads', [started]);
      return started;
    });
    const started = downloads.start(request);
    expect(state().downloads.starting).toHaveLength(1);
    await started;
    expect(state().downloads).toMatchObject({ starting: [], list: [{ ...request, state: 'active' }], problem: null });
    bridge.refuse('downloads.pause', offline);
    await downloads.pause('download');
    expect(state().downloads.problem).toEqual(offline);
    expect(state().ui.problem).toBeNull();
  });

  it('are news only when they were going on', () => {
    const going = download({ id: 'a', state: 'checking' });
    const done = download({ id: 'b', state: 'done' });
    const both = [{ ...going, state: 'done' as const }, done];
    expect(newlyDone([going, done], both).map(({ id }) => id)).toEqual(['a']);
    expect(newlyDone(null, both)).toEqual([]);
  });
});
