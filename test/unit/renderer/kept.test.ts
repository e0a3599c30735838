/** What is kept on disk beside the chats, as the settings tell it and remove it. */
import { expect, it, vi } from 'vitest';
import type { SavedSession } from '@/electron/contract/engine';
import { createElectronClient } from '@/renderer/bridge/createClient';
import {
  agoText,
  documentsText,
  sizeText,
  titleOf,
  totalText,
  unusedText,
} from '@/renderer/features/settings/KeptSection';
import { connect } from '@/renderer/state/connect';
import { createApp } from '@/renderer/state/store';
import { FakeServices } from './fakeServices';

const GiB = 1024 ** 3;

function session(change: Partial<SavedSession>): SavedSession {
  return {
    ...{ id: 'one', chatIds: ['chat-1'], modelName: 'tiny', tokens: 8192, bytes: GiB, typeK: 'turbo4' },
    ...{ typeV: 'turbo4', createdAt: 0, lastUsed: 0, problem: null, ...change },
  };
}

async function start() {
  const fake = new FakeServices({ frameMs: 0 });
  const app = createApp(createElectronClient(fake));
  connect(createElectronClient(fake), app, () => undefined);
  const get = app.store.getState;
  await vi.waitFor(() => expect(get().settings.saved).not.toBeNull());
  return { fake, get, kept: app.actions.kept };
}

it('one cache goes, then all of them; unused documents go with a sweep', async () => {
  const { fake, get, kept } = await start();
  fake.sessions = [session({}), session({ id: 'two' }), session({ id: 'three' })];
  fake.usage = { count: 3, bytes: 3000, unused: { count: 1, bytes: 1000 } };
  await kept.read();
  expect(get().kept).toMatchObject({ problem: null, removing: false, documents: { unused: { count: 1 } } });
  await kept.removeSession('two');
  expect(get().kept.sessions?.map(({ id }) => id)).toEqual(['one', 'three']);
  await kept.clearSessions();
  expect(get().kept.sessions).toEqual([]);
  await kept.sweepDocuments();
  expect(get().kept.documents?.unused.count).toBe(0);
});

it('what was not removed is still listed, and why is told', async () => {
  const { fake, get, kept } = await start();
  fake.sessions = [session({})];
  fake.failures.set('sessions.remove', { code: 'internal', message: 'It is stuck.', hint: 'Try again.' });
  await kept.removeSession('one');
  expect([get().kept.sessions?.length, get().kept.removing]).toEqual([1, false]);
  expect(get().ui.problem?.error.message).toBe('It is stuck.');
  fake.failures.set('sessions.list', { code: 'engine-crashed', message: 'No engine.', hint: 'Wait.' });
  await kept.read();
  expect(get().kept).toMatchObject({ sessions: null, problem: 'No engine. Wait.' });
});

it('the total is told against the quota, when there is nothing too', () => {
  const quota = { maxBytes: 8 * GiB };
  expect(totalText([], quota)).toBe('No caches are kept: 0 B of 8.00 GiB.');
  expect(totalText([session({})], quota)).toBe('1 cache: 1.00 GiB of 8.00 GiB.');
  expect(totalText([session({}), session({})], quota)).toBe('2 caches: 2.00 GiB of 8.00 GiB.');
});

it('a cache has the title of its chats, its size and its types', () => {
  const fake = new FakeServices();
  for (const id of ['chat-1', 'chat-2']) fake.create(`About ${id}`);
  const chats = fake.summaries();
  expect(titleOf(session({}), chats)).toBe('About chat-1');
  expect(titleOf(session({ chatIds: ['chat-1', 'chat-2'] }), chats)).toBe('About chat-1 and 1 more');
  expect(titleOf(session({ chatIds: ['gone'] }), chats)).toBe('A chat in the trash');
  expect(sizeText(session({ typeV: 'turbo3' }))).toBe('1.00 GiB · 8,192 tokens · turbo4 / turbo3');
});

it('times are told roughly', () => {
  const minute = 60_000;
  const now = 100 * 24 * 60 * minute;
  const texts = [0.5, 5, 130, 60 * 25, 60 * 24 * 12].map((minutes) => agoText(now - minutes * minute, now));
  expect(texts).toEqual(['just now', '5 minutes ago', '2 hours ago', 'yesterday', '12 days ago']);
});

it('documents are told with what a sweep would free', () => {
  const none = { count: 0, bytes: 0 };
  expect(documentsText({ ...none, unused: none })).toBe('No texts of documents are stored.');
  expect(documentsText({ count: 2, bytes: 2048, unused: none })).toBe('Texts of 2 documents: 2.00 KiB.');
  expect(unusedText({ ...none, unused: none })).toBeNull();
  expect(unusedText({ ...none, unused: { count: 1, bytes: 10 } })).toBe('1 of them is in no chat: 10.0 B.');
});
