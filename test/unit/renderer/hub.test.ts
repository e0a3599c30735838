/** The hub and downloads as the state of the window has them. */
import { describe, expect, it, vi } from 'vitest';
import { createElectronClient } from '@/renderer/bridge/createClient';
import { newlyDone } from '@/renderer/features/models/view/ModelsView';
import { connect } from '@/renderer/state/connect';
import { fitKey } from '@/renderer/state/slices/hub';
import { createApp } from '@/renderer/state/store';
import { fakeDownload, fakeHubFile, fakeHubPage, fakeSettings } from './fakeData';
import { FakeServices } from './fakeServices';

const offline = { code: 'network-failed', message: 'hub.example: there is no network.', hint: 'Check it.' } as const;

function start() {
  const fake = new FakeServices({ frameMs: 0 });
  const client = createElectronClient(fake);
  const app = createApp(client);
  connect(client, app, () => undefined);
  const state = () => app.store.getState();
  const calls = (name: string) => fake.calls.filter((call) => call.name === name).map((call) => call.input);
  /** the next answer to this operation waits until it is let go */
  function hold(name: string): () => void {
    const handle = fake.call;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    fake.call = async (asked, input) => {
      if (asked === name) {
        fake.call = handle;
        await held;
      }
      return handle(asked, input);
    };
    return () => release();
  }
  return { fake, hub: app.actions.hub, downloads: app.actions.downloads, state, calls, hold };
}

describe('the search of the hub', () => {
  it('asks once when the typing rests', async () => {
    const { hub, state, calls } = start();
    for (const query of ['s', 'sm', ' small ']) hub.type(query);
    await vi.waitFor(() => expect(state().hub.results?.models.map(({ repo }) => repo)).toEqual(['qwen/small-GGUF']));
    expect(calls('hub.search')).toMatchObject([{ query: 'small' }]);
  });

  it('drops the answer of an older question, and of one that was given up', async () => {
    const { hub, state, hold } = start();
    const release = hold('hub.search');
    const older = hub.search();
    hub.type('large');
    await hub.search();
    release();
    await older;
    expect(state().hub.results).toMatchObject({ query: 'large', models: [{ repo: 'qwen/large-GGUF' }] });

    const again = hold('hub.search');
    hub.type('small');
    const given = hub.search();
    hub.cancel();
    again();
    await given;
    expect(state().hub).toMatchObject({ searching: false, results: { query: 'large' } });
  });

  it('gives up with Escape: the search first, then what is typed, then nothing', async () => {
    const { hub, state } = start();
    hub.type('small');
    void hub.search();
    expect([hub.giveUp(), state().hub.searching, state().hub.query]).toEqual([true, false, 'small']);
    expect([hub.giveUp(), state().hub.query]).toEqual([true, '']);
    expect(hub.giveUp()).toBe(false);
  });

  it('says why there is no answer, and takes that back with the next one', async () => {
    const { fake, hub, state } = start();
    fake.failures.set('hub.search', offline);
    await hub.search();
    expect(state().hub).toMatchObject({ searching: false, results: null, problem: offline });
    // it is told where the search stands, not above the composer
    expect(state().ui.problem).toBeNull();
    fake.failures.clear();
    await hub.search();
    expect(state().hub.problem).toBeNull();
  });
});

describe('the page of a model', () => {
  it('begins with the usual file, and keeps no answer for a page that was left', async () => {
    const { hub, state, hold } = start();
    await hub.openPage('qwen/small-GGUF');
    expect(state().hub.page).toMatchObject({ file: 'model-Q4_K_M.gguf', outcome: { ok: true } });
    const release = hold('hub.model');
    const left = hub.openPage('qwen/large-GGUF');
    await hub.openPage('qwen/small-GGUF');
    release();
    await left;
    expect(state().hub.page?.repo).toBe('qwen/small-GGUF');
  });

  it('asks each verdict once, and a failed one again', async () => {
    const { fake, hub, state, calls } = start();
    const page = fakeHubPage('qwen/small-GGUF');
    const file = fakeHubFile();
    const { context } = fakeSettings();
    fake.failures.set('hub.fit', offline);
    await hub.askFit(page, file, context);
    expect(state().hub.fits[fitKey(page, file.file, context)]).toEqual({ ok: false, error: offline });
    fake.failures.clear();
    await hub.askFit(page, file, context);
    await hub.askFit(page, file, context);
    expect(calls('hub.fit')).toHaveLength(2);
    expect(state().hub.fits[fitKey(page, file.file, context)]?.ok).toBe(true);
    const f16 = { ...context, typeK: 'f16' as const };
    expect(state().hub.fits[fitKey(page, file.file, f16)]).toBeUndefined();
  });
});

describe('downloads', () => {
  it('are started once, and a refusal stands beside them', async () => {
    const { fake, downloads, state } = start();
    await vi.waitFor(() => expect(state().downloads.list).toEqual([]));
    const request = { repo: 'qwen/small-GGUF', file: 'model-Q4_K_M.gguf' };
    const started = downloads.start(request);
    expect(state().downloads.starting).toHaveLength(1);
    await started;
    expect(state().downloads).toMatchObject({ starting: [], list: [{ ...request, state: 'active' }], problem: null });
    fake.failures.set('downloads.pause', offline);
    await downloads.pause('download');
    expect(state().downloads.problem).toEqual(offline);
    expect(state().ui.problem).toBeNull();
  });

  it('are news only when they were going on', () => {
    const going = fakeDownload({ id: 'a', state: 'checking' });
    const done = fakeDownload({ id: 'b', state: 'done' });
    const both = [{ ...going, state: 'done' as const }, done];
    expect(newlyDone([going, done], both).map(({ id }) => id)).toEqual(['a']);
    expect(newlyDone(null, both)).toEqual([]);
  });
});
