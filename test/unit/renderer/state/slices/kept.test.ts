/** What is kept on disk beside the chats: saved sessions of the engine and texts of documents. */
import { expect, it } from 'vitest';
import { openWindow } from '@/test/fixtures/renderer/window';
import { savedSession } from '@/test/fixtures/samples';
import { attach } from '@/test/fixtures/services';

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
