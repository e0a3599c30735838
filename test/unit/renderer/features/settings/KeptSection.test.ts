/** What is kept on disk beside the chats, saved sessions and texts of documents: as the settings tell it and remove it. */
import { expect, it } from 'vitest';
import type { ChatSummary } from '@/electron/contract/chats';
import type { SavedSession } from '@/electron/contract/engine';
import { shelfChatId } from '@/electron/contract/lib/shelf';
import {
  agoText,
  documentsText,
  sharedText,
  sizeText,
  titleOf,
  totalText,
  unusedText,
} from '@/renderer/features/settings/memory/KeptSection';
import { openWindow } from '@/test/fixtures/renderer/window';
import { savedSession } from '@/test/fixtures/samples';
import { attach } from '@/test/fixtures/services';

const GiB = 1024 ** 3;

it('the total is shown against the quota, when there is nothing too', () => {
  const text = (...sessions: SavedSession[]) => totalText(sessions, { maxBytes: 8 * GiB });
  expect(text()).toMatch(/0 B.*8\.00 GiB/);
  expect(text(savedSession(), savedSession())).toMatch(/^2 .*2\.00 GiB.*8\.00 GiB/);
});

it('a cache has the title of its chats, its size and its types', () => {
  const chats = ['chat-1', 'chat-2'].map((id) => ({ id, title: `About ${id}` }) as ChatSummary);
  expect(titleOf(savedSession(), chats)).toBe('About chat-1');
  expect(titleOf(savedSession({ chatIds: ['chat-1', 'chat-2'] }), chats)).toMatch(/^About chat-1 .*1/);
  expect(titleOf(savedSession({ chatIds: ['gone'] }), chats)).not.toContain('About');
  const shared = savedSession({ chatIds: ['chat-1', 'chat-2'], documents: [{ id: 'd', name: 'manual.pdf' }] });
  expect(titleOf(shared, chats)).toBe('manual.pdf');
  expect([sharedText(shared), sharedText(savedSession())]).toEqual(['Document of 2 chats. ', '']);
  const ahead = { chatIds: [shelfChatId({ documentId: 'd' })] };
  expect(sharedText({ ...shared, ...ahead })).toBe('Document of the shelf, read ahead. ');
  expect(sharedText({ ...shared, chatIds: [...ahead.chatIds, 'chat-1'] })).toBe('Document of 1 chat. ');
  // its reading was stopped
  expect(titleOf(savedSession(ahead), chats)).toBe('A part of a document of the shelf');
  expect(sizeText(savedSession({ typeV: 'turbo3' }))).toMatch(/1\.00 GiB.*8,192.*turbo4.*turbo3/);
});

it('times are shown roughly', () => {
  const minute = 60_000;
  const now = 100 * 24 * 60 * minute;
  const texts = [0.5, 5, 130, 60 * 25, 60 * 24 * 12].map((minutes) => agoText(now - minutes * minute, now));
  expect(texts).toEqual(['just now', '5 minutes ago', '2 hours ago', 'yesterday', '12 days ago']);
});

it('documents are shown with what a sweep would free, where it would', () => {
  const none = { count: 0, bytes: 0 };
  expect(documentsText({ count: 2, bytes: 2048, unused: none })).toMatch(/2 .*2\.00 KiB/);
  expect(unusedText({ ...none, unused: none })).toBeNull();
  expect(unusedText({ ...none, unused: { count: 1, bytes: 10 } })).toMatch(/1 .*10\.0 B/);
});

async function start() {
  const opened = await openWindow({ start: false });
  let sessions = ['one', 'two', 'three'].map((id) => savedSession({ id }));
  const { bridge } = opened;
  // the fake engine saves none
  bridge.answer('sessions.list', () => sessions);
  bridge.answer('sessions.remove', ({ sessionId }: { sessionId: string }) => {
    sessions = sessions.filter(({ id }) => id !== sessionId);
  });
  bridge.answer('sessions.clear', () => {
    sessions = [];
  });
  return { ...opened, kept: opened.actions.kept, state: () => opened.get().kept };
}

it('one session goes, then all of them; unused documents go with a sweep', async () => {
  const { state, kept, call } = await start();
  await attach(call, 'a.txt', 'words that no chat has');
  await kept.read();
  expect(state()).toMatchObject({ problem: null, removing: false, documents: { count: 1 } });
  await kept.removeSession('two');
  expect(state().sessions?.map(({ id }) => id)).toEqual(['one', 'three']);
  await kept.clearSessions();
  expect(state().sessions).toEqual([]);
  await kept.sweepDocuments();
  expect(state().documents?.unused.count).toBe(0);
});

it('what was not removed is still listed, with the reason', async () => {
  const { bridge, state, get, kept } = await start();
  bridge.refuse('sessions.remove', { code: 'internal', message: 'It is stuck.', hint: 'Try again.' });
  await kept.removeSession('one');
  expect([state().sessions?.length, state().removing]).toEqual([3, false]);
  expect(get().ui.problem?.error.message).toBe('It is stuck.');
  bridge.refuse('sessions.list', { code: 'engine-crashed', message: 'No engine.', hint: 'Wait.' });
  await kept.read();
  expect(state()).toMatchObject({ sessions: null, problem: 'No engine. Wait.' });
});
