/** Briefs in the window: what is told of one that is written, and where it stands afterwards. */
import { expect, test, vi } from 'vitest';
import type { BriefProgress } from '@/electron/contract/lib/brief';
import { selectIsUnfolded, selectMaking, shownBrief } from '@/renderer/state/slices/briefs';
import { budgetKey } from '@/renderer/state/slices/budget';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { Gate } from '@/test/fixtures/gate';
import { openWindow } from '@/test/fixtures/renderer/window';
import { waiting } from '@/test/fixtures/services';

const text = 'The keeper counts the stones of four walls, and is done.';
const question = (i: number) => `Question ${i}: ${`lamp${i} stands by wall${i} and `.repeat(16)}`;

async function setUp(brief = text) {
  const words = new Gate();
  const engine = createFakeEngine({
    words,
    answerTo: (messages) => {
      const last = messages.at(-1)?.content ?? '';
      return last.startsWith('Write a brief') ? brief : last;
    },
  });
  const opened = await openWindow({ engine });
  for (let i = 0; i < 4; i++) await opened.ask(question(i));
  const chat = () => {
    const { chat: open } = opened.get().conversation;
    if (!open) throw new Error('no chat is open');
    return open;
  };
  const making = () => selectMaking(chat().id)(opened.get());
  return { ...opened, words, chat, making };
}

test('a brief that is written is no answer; when it is done it stands in the chat, and the budget is old', async () => {
  const { actions, get, chat, making, words } = await setUp();
  const plan = await actions.briefs.plan();
  expect(plan?.messages).toBe(4);
  const key = budgetKey(get());
  words.hold(3);
  await actions.briefs.make();
  await vi.waitFor(() => expect(making()?.text).toBe('The keeper counts '), waiting);
  expect(making()).toMatchObject({ plan: { messages: 4 }, read: 1, end: null });
  expect(get().stream.live).toEqual({});
  words.open();
  await vi.waitFor(() => expect(making()).toBeNull(), waiting);
  const brief = shownBrief(chat());
  expect(brief).toMatchObject({ text, messages: 4 });
  expect(budgetKey(get())).not.toBe(key);

  expect(await actions.briefs.edit(brief?.id ?? '', 'Only this, in the words of a person.')).toBe(true);
  expect(shownBrief(chat())).toMatchObject({ edited: true, text: 'Only this, in the words of a person.' });
  actions.briefs.unfold(brief?.id ?? null);
  expect(selectIsUnfolded(brief?.id)(get())).toBe(true);
  expect(selectIsUnfolded(undefined)(get())).toBe(false);
  if (brief) await actions.briefs.remove(brief);
  expect(shownBrief(chat())).toBeNull();
});

test('one that is canceled leaves nothing, and why one is not used stays until it is read', async () => {
  const { actions, making, chat, words } = await setUp('');
  words.hold();
  await actions.briefs.make();
  await vi.waitFor(() => expect(making()).not.toBeNull(), waiting);
  actions.briefs.cancel(chat().id);
  await vi.waitFor(() => expect(making()).toBeNull(), waiting);
  words.open();
  await actions.briefs.make();
  const problem = 'The model wrote nothing. The messages stay as they are.';
  await vi.waitFor(
    () => expect(making()?.end).toEqual({ brief: null, problem } satisfies BriefProgress['end']),
    waiting,
  );
  actions.briefs.forget(chat().id);
  expect(making()).toBeNull();
});
