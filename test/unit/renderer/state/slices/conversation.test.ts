/** Chats over the real services: what a person does, and what the window then holds. */
import { describe, expect, it, vi } from 'vitest';
import type { Turn } from '@/electron/contract/chatOperations';
import { pathTo } from '@/renderer/state/lib/messageTree';
import { selectActiveStats } from '@/renderer/state/slices/live';
import { selectProblem } from '@/renderer/state/slices/ui';
import { openWindow, type TestWindow, windowOf } from '@/test/fixtures/renderer/window';
import { attach, holding, long, waiting } from '@/test/fixtures/services';

const busy = { code: 'busy', message: 'Not now.', hint: 'Later.' } as const;

const shown = ({ get }: TestWindow) => {
  const { chat } = get().conversation;
  return chat ? pathTo(chat.messages, chat.leafId) : [];
};

/** An answer that has begun and stands still. */
async function answering() {
  const { engine, words } = holding();
  const opened = await openWindow({ engine });
  opened.conversation.setDraftText(long);
  await opened.conversation.send();
  await begun(opened);
  return { ...opened, words };
}

const begun = ({ get }: TestWindow) =>
  vi.waitFor(() => expect(selectActiveStats(get())?.phase).toBe('decode'), waiting);

describe('a chat', () => {
  it('is made by its first question and named after it', async () => {
    const opened = await openWindow();
    await opened.ask('From which platform?');
    const { conversation, stream } = opened.get();
    expect(conversation).toMatchObject({ chat: { title: 'From which platform?' }, drafts: {} });
    expect(shown(opened)).toMatchObject([
      { role: 'user', text: 'From which platform?' },
      { role: 'assistant', text: 'From which platform?', stopReason: 'end-of-turn' },
    ]);
    expect(stream.last?.stats.answerTokens).toBe(3);
  });

  it('keeps the draft when the services refuse the question, or when no chat can be made', async () => {
    const opened = await openWindow();
    opened.bridge.refuse('chats.create', busy);
    await opened.ask('Hello?');
    expect(opened.get().conversation).toMatchObject({
      chat: null,
      sending: false,
      drafts: { new: { text: 'Hello?' } },
    });
    expect(selectProblem(opened.get())).toEqual(busy);
    opened.bridge.refuse('chats.create', null);
    opened.bridge.refuse('turns.send', busy);
    await opened.conversation.send();
    const { chat, drafts, sending } = opened.get().conversation;
    expect(drafts[chat?.id ?? '']?.text).toBe('Hello?');
    expect(sending).toBe(false);
    expect(selectProblem(opened.get())).toEqual(busy);
  });

  it('shows a failure in the chat that it belongs to, and there until its draft changes', async () => {
    const { ask, conversation, get, bridge } = await openWindow();
    await ask('Hello?');
    const first = get().conversation.chat?.id ?? '';
    bridge.refuse('turns.send', busy);
    await ask('And then?');
    expect(selectProblem(get())).toEqual(busy);
    conversation.startNew();
    expect(selectProblem(get())).toBeNull();
    conversation.setDraftText('Something else');
    await conversation.open(first);
    expect(selectProblem(get())).toEqual(busy);
    conversation.setDraftText('And then, in short?');
    expect(selectProblem(get())).toBeNull();
  });

  it('shows a failure of no chat in every one; an answer in another chat leaves one of a chat alone', async () => {
    const { ask, actions, conversation, get, bridge } = await openWindow();
    await ask('Hello?');
    const first = get().conversation.chat?.id ?? '';
    actions.ui.report(new Error('The list could not be read.'));
    conversation.startNew();
    expect(selectProblem(get())?.message).toBe('The list could not be read.');
    await ask('Hello again?');
    expect(selectProblem(get())).toBeNull();

    // refused while another chat is shown already
    await conversation.open(first);
    bridge.refuse('turns.send', busy);
    conversation.setDraftText('And then?');
    const refused = conversation.send();
    conversation.startNew();
    await refused;
    expect(selectProblem(get())).toBeNull();
    bridge.refuse('turns.send', null);
    await ask('A third chat?');
    await conversation.open(first);
    expect(selectProblem(get())).toEqual(busy);
  });

  it('goes on in a new chat with what is written, behind what was written there', async () => {
    const { ask, actions, conversation, get, bridge, idle, call } = await openWindow();
    const { documentId } = await attach(call, 'a.txt', 'words of a document');
    await ask('Hello?');
    const { id = '' } = get().conversation.chat ?? {};
    conversation.startNew();
    conversation.setDraftText('From before');
    await conversation.open(id);
    await actions.documents.attachStored(documentId, { kind: 'sections', sections: [0] });
    conversation.setDraftText('And then?');
    conversation.takeToNewChat();
    const joined = { text: 'From before\n\nAnd then?', part: { kind: 'sections', sections: [0] } };
    expect(get().conversation.chat).toBeNull();
    expect(get().conversation.drafts).toMatchObject({
      new: { text: joined.text, documents: [{ info: { id: documentId }, part: joined.part }] },
    });
    expect(Object.keys(get().conversation.drafts)).toEqual(['new']);
    await conversation.send();
    await idle();
    expect(get().conversation.chat?.id).not.toBe(id);
    expect(bridge.inputs('turns.send').at(-1)).toMatchObject({
      ...{ parentId: null, text: joined.text, attachments: [{ documentId, part: joined.part }] },
    });
  });

  it('keeps what left the prompt for an answer, when that is reported before the answer of the call', async () => {
    const opened = await answering();
    await opened.conversation.stop();
    await opened.idle();
    const { call } = opened.bridge;
    opened.bridge.call = async (name, input) => {
      const envelope = await call(name, input);
      if (name === 'turns.send' && envelope.ok) {
        const { chatId } = input as { chatId: string };
        const { assistantMessage } = envelope.value as Turn;
        opened.bridge.emit('onMessage', { chatId, message: { ...assistantMessage, released: 2 } });
      }
      return envelope;
    };
    opened.conversation.setDraftText(long);
    await opened.conversation.send();
    expect(shown(opened).at(-1)).toMatchObject({ role: 'assistant', released: 2 });
  });

  it('branches by a second answer and by an edited question, and switches back', async () => {
    const opened = await openWindow();
    await opened.ask('One?');
    const [question, first] = shown(opened);
    await opened.conversation.regenerate(first?.id ?? '');
    await opened.idle();
    expect(shown(opened)[1]?.id).not.toBe(first?.id);
    await opened.conversation.edit(question?.id ?? '', 'Two?');
    await opened.idle();
    expect(shown(opened)[0]?.text).toBe('Two?');
    await opened.conversation.selectBranch(first?.id ?? '');
    expect(shown(opened).map(({ id }) => id)).toEqual([question?.id, first?.id]);
  });

  it('stops an answer that goes on, before it is known by which request', async () => {
    const opened = await answering();
    await opened.conversation.stop();
    await opened.idle();
    const [, half] = shown(opened);
    if (!half) throw new Error('no answer');
    const services = opened.bridge.hold('turns.continue');
    const on = opened.conversation.goOn(half);
    await services.reached();
    await opened.conversation.stop();
    services.open();
    await on;
    await opened.idle();
    expect(shown(opened)[1]).toMatchObject({ text: half.text, stopReason: 'cancelled' });
  });

  it('is followed by another window: its questions, and an answer that had ended and goes on', async () => {
    const { engine, words } = holding();
    const opened = await openWindow({ engine });
    const other = await windowOf(opened);
    const { id } = await opened.call('chats.create', { title: 'Both' });
    for (const { conversation } of [opened, other]) await conversation.open(id);
    opened.conversation.setDraftText(long);
    await opened.conversation.send();
    await begun(other);
    expect(shown(other).map(({ text }) => text)).toEqual([long, '']);
    await opened.conversation.stop();
    await Promise.all([opened.idle(), other.idle()]);
    const half = shown(other)[1];
    expect(half?.stopReason).toBe('cancelled');
    words.hold(3);
    if (half) void opened.conversation.goOn(half);
    await vi.waitFor(
      () => expect(other.get().stream.live[half?.id ?? '']?.text).toBe(`${half?.text}word word word `),
      waiting,
    );
    words.open();
    await Promise.all([opened.idle(), other.idle()]);
    expect(shown(other)).toEqual(shown(opened));
    expect(shown(other)[1]).toMatchObject({ text: long, stopReason: 'end-of-turn' });
  });

  it('keeps the system prompt of its first question, until it is given another', async () => {
    const { ask, actions, conversation, get, call } = await openWindow();
    await actions.settings.update({ systemPrompt: 'Be brief.' });
    await ask('Why?');
    const prompt = () => get().conversation.chat?.systemPrompt;
    expect(prompt()).toBe('Be brief.');
    await actions.settings.update({ systemPrompt: 'Be long.' });
    expect(prompt()).toBe('Be brief.');
    const chatId = get().conversation.chat?.id ?? '';
    await conversation.setSystemPrompt(chatId, 'Be kind.');
    expect([prompt(), (await call('chats.open', { chatId })).systemPrompt]).toEqual(['Be kind.', 'Be kind.']);
  });

  it('shows the chat that was clicked last, in whatever order they arrive', async () => {
    const { call, bridge, conversation, get } = await openWindow({ start: false });
    const [slow, quick] = [
      await call('chats.create', { title: 'slow' }),
      await call('chats.create', { title: 'quick' }),
    ];
    const reading = bridge.hold('chats.open');
    const first = conversation.open(slow.id);
    const second = conversation.open(quick.id);
    reading.open();
    await Promise.all([first, second]);
    expect(get().conversation.chat?.id).toBe(quick.id);
  });
});

describe('showMessage', () => {
  /** A question with two answers, of which the second is shown; no chat is open. */
  async function start() {
    const opened = await openWindow();
    await opened.ask('Which platform?');
    const [, first] = shown(opened);
    await opened.conversation.regenerate(first?.id ?? '');
    await opened.idle();
    const [, second] = shown(opened);
    const chatId = opened.get().conversation.chat?.id ?? '';
    opened.conversation.startNew();
    return { ...opened, opened, chatId, first: first?.id ?? '', second: second?.id ?? '' };
  }

  it('opens the chat on a branch with the message', async () => {
    const { conversation, opened, chatId, first, get, call } = await start();
    expect(await conversation.showMessage(chatId, first, 'platform')).toBe(true);
    expect(shown(opened).map(({ id }) => id)).toContain(first);
    expect(get().conversation.target).toEqual({ messageId: first, words: ['platform'] });
    await vi.waitFor(async () => expect((await call('chats.open', { chatId })).leafId).toBe(first), waiting);
  });

  it('leaves the branch alone when it holds the message, and makes a new target each time', async () => {
    const { conversation, chatId, second, get, bridge } = await start();
    await conversation.showMessage(chatId, second);
    const before = get().conversation.target;
    await conversation.showMessage(chatId, second);
    expect(get().conversation.target).not.toBe(before);
    expect(bridge.inputs('chats.selectBranch')).toEqual([]);
  });

  it('says when the message is not there, and forgets the target with the chat', async () => {
    const { conversation, chatId, second, get } = await start();
    expect(await conversation.showMessage(chatId, 'gone')).toBe(false);
    expect(await conversation.showMessage('no-such-chat', second)).toBe(false);
    await conversation.showMessage(chatId, second, ['nine']);
    conversation.startNew();
    expect(get().conversation.target).toBeNull();
  });
});
