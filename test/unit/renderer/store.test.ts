/** The state with services behind it: what a person does, and what the window then holds. */
import { describe, expect, it, vi } from 'vitest';
import type { Turn } from '@/electron/contract/contract';
import { createElectronClient } from '@/renderer/bridge/createClient';
import { connect } from '@/renderer/state/connect';
import { pathTo } from '@/renderer/state/lib/messageTree';
import { selectActiveStats, selectIsAnswering } from '@/renderer/state/slices/live';
import { selectProblem } from '@/renderer/state/slices/ui';
import { createApp } from '@/renderer/state/store';
import { Gate } from '@/test/fixtures/gate';
import { FakeServices } from './fakeServices';

async function start(options: ConstructorParameters<typeof FakeServices>[0] = { frameMs: 0 }) {
  return windowOf(new FakeServices(options));
}

async function windowOf(fake: FakeServices) {
  const client = createElectronClient(fake);
  const app = createApp(client);
  const commands = vi.fn();
  connect(client, app, commands);
  const get = app.store.getState;
  await vi.waitFor(() => expect(get().chats.list).not.toBeNull());
  const idle = () => vi.waitFor(() => expect(Object.keys(get().stream.live)).toEqual([]));
  return { fake, app, get, actions: app.actions, commands, idle };
}

type Started = Awaited<ReturnType<typeof start>>;

async function ask({ actions, idle }: Started, text: string) {
  actions.conversation.setDraftText(text);
  await actions.conversation.send();
  await idle();
}

const shown = ({ get }: Started) => {
  const { chat } = get().conversation;
  return chat ? pathTo(chat.messages, chat.leafId) : [];
};

describe('a chat', () => {
  it('is made by its first question and named after it', async () => {
    const started = await start();
    await ask(started, 'From which platform?');
    expect(started.get().conversation.chat?.title).toBe('From which platform?');
    expect(shown(started).map((message) => message.role)).toEqual(['user', 'assistant']);
    expect(shown(started)[1]).toMatchObject({ text: 'It leaves from platform **18**.', stopReason: 'end-of-turn' });
    expect(started.get().conversation.drafts).toEqual({});
    expect(started.get().stream.last?.tokensPerSecond).toBe(42.3);
  });

  it('keeps the draft when the services refuse the question', async () => {
    const started = await start();
    started.fake.failures.set('turns.send', { code: 'busy', message: 'Not now.', hint: 'Later.' });
    await ask(started, 'Hello?');
    const { conversation } = started.get();
    expect(selectProblem(started.get())).toEqual({ code: 'busy', message: 'Not now.', hint: 'Later.' });
    expect(conversation.drafts[conversation.chat?.id ?? '']?.text).toBe('Hello?');
    expect(conversation.sending).toBe(false);
  });

  it('shows a failure in the chat that it belongs to, and there until its draft changes', async () => {
    const started = await start();
    await ask(started, 'Hello?');
    const first = started.get().conversation.chat?.id ?? '';
    const full = { code: 'context-full', message: 'This chat is full.', hint: '' } as const;
    started.fake.failures.set('turns.send', full);
    await ask(started, 'And then?');
    const shownProblem = () => selectProblem(started.get());
    expect(shownProblem()).toEqual(full);

    started.actions.conversation.startNew();
    expect(shownProblem()).toBeNull();
    started.actions.conversation.setDraftText('Something else');
    await started.actions.conversation.open(first);
    expect(shownProblem()).toEqual(full);
    started.actions.conversation.setDraftText('And then, in short?');
    expect(shownProblem()).toBeNull();
  });

  it('of no chat is shown in every one; an answer that is taken in another chat leaves one of a chat alone', async () => {
    const started = await start();
    await ask(started, 'Hello?');
    const first = started.get().conversation.chat?.id ?? '';
    started.actions.ui.report(new Error('The list could not be read.'));
    started.actions.conversation.startNew();
    expect(selectProblem(started.get())?.message).toBe('The list could not be read.');
    await ask(started, 'Hello again?');
    expect(selectProblem(started.get())).toBeNull();

    // refused while another chat is shown already
    await started.actions.conversation.open(first);
    started.fake.failures.set('turns.send', { code: 'busy', message: 'Not now.', hint: '' });
    started.actions.conversation.setDraftText('And then?');
    const refused = started.actions.conversation.send();
    started.actions.conversation.startNew();
    await refused;
    expect(selectProblem(started.get())).toBeNull();
    started.fake.failures.clear();
    await ask(started, 'A third chat?');
    await started.actions.conversation.open(first);
    expect(selectProblem(started.get())?.message).toBe('Not now.');
  });

  it('goes on in a new chat with what is written, behind what was written there', async () => {
    const started = await start();
    await ask(started, 'Hello?');
    const { id = '' } = started.get().conversation.chat ?? {};
    const { conversation, documents } = started.actions;
    conversation.startNew();
    conversation.setDraftText('From before');
    await conversation.open(id);
    await documents.attachStored('d1', { kind: 'passages', passages: [] });
    conversation.setDraftText('And then?');
    conversation.takeToNewChat();
    expect(started.get().conversation).toMatchObject({ chat: null });
    expect(Object.keys(started.get().conversation.drafts)).toEqual(['new']);
    expect(started.get().conversation.drafts.new).toMatchObject({
      text: 'From before\n\nAnd then?',
      documents: [{ info: { id: 'd1' }, part: { kind: 'passages', passages: [] } }],
    });
    await conversation.send();
    await started.idle();
    expect(started.get().conversation.chat?.id).not.toBe(id);
    expect(started.fake.calls.findLast(({ name }) => name === 'turns.send')?.input).toMatchObject({
      ...{ parentId: null, text: 'From before\n\nAnd then?' },
      attachments: [{ documentId: 'd1', part: { kind: 'passages', passages: [] } }],
    });
  });

  it('keeps what left the prompt for an answer, when that is told before the answer of the call', async () => {
    const started = await start();
    await ask(started, 'Hello?');
    const { call } = started.fake;
    started.fake.call = async (name, input) => {
      const envelope = await call(name, input);
      if (name === 'turns.send' && envelope.ok) {
        const { chatId } = input as { chatId: string };
        const { assistantMessage } = envelope.value as Turn;
        started.fake.emit('onMessage', { chatId, message: { ...assistantMessage, released: 2 } });
      }
      return envelope;
    };
    started.actions.conversation.setDraftText('And then?');
    await started.actions.conversation.send();
    expect(shown(started).at(-1)).toMatchObject({ role: 'assistant', released: 2 });
    await started.idle();
  });

  it('keeps the draft when no chat can be made', async () => {
    const started = await start();
    started.fake.failures.set('chats.create', { code: 'storage-failed', message: 'The disk is full.', hint: '' });
    await ask(started, 'Hello?');
    expect(started.get().conversation.drafts.new?.text).toBe('Hello?');
    expect(selectProblem(started.get())?.message).toBe('The disk is full.');
  });

  it('branches by a second answer and by an edited question, and switches back', async () => {
    const started = await start();
    await ask(started, 'One?');
    const [question, first] = shown(started);
    await started.actions.conversation.regenerate(first?.id ?? '');
    await started.idle();
    expect(shown(started)[1]?.id).not.toBe(first?.id);
    await started.actions.conversation.edit(question?.id ?? '', 'Two?');
    await started.idle();
    expect(shown(started)[0]?.text).toBe('Two?');
    await started.actions.conversation.selectBranch(first?.id ?? '');
    expect(shown(started).map((message) => message.id)).toEqual([question?.id, first?.id]);
  });

  it('stops, and says so', async () => {
    const frames = new Gate().hold(10);
    const started = await start({ frameMs: 0, frames, answer: () => 'word '.repeat(500) });
    started.actions.conversation.setDraftText('Go');
    await started.actions.conversation.send();
    await vi.waitFor(() => expect(selectActiveStats(started.get())?.phase).toBe('decode'));
    expect(selectIsAnswering(started.get().conversation.chat?.id ?? null)(started.get())).toBe(true);
    await started.actions.conversation.stop();
    frames.open();
    await started.idle();
    expect(shown(started)[1]?.stopReason).toBe('cancelled');
  });

  it('stops an answer that goes on, before it is known by which request', async () => {
    const frames = new Gate().hold(10);
    const started = await start({ frameMs: 0, frames, answer: () => 'word '.repeat(60) });
    started.actions.conversation.setDraftText('Go');
    await started.actions.conversation.send();
    await vi.waitFor(() => expect(selectActiveStats(started.get())?.phase).toBe('decode'));
    await started.actions.conversation.stop();
    frames.open();
    await started.idle();
    const half = shown(started)[1];
    if (!half) throw new Error('no answer');
    frames.hold();
    const call = started.fake.call;
    const services = new Gate().hold();
    started.fake.call = async (name, input) => {
      if (name === 'turns.continue') await services.pass();
      return call(name, input);
    };
    const on = started.actions.conversation.goOn(half);
    await services.reached();
    await started.actions.conversation.stop();
    services.open();
    await on;
    frames.open();
    await started.idle();
    expect(shown(started)[1]).toMatchObject({ text: half.text, stopReason: 'cancelled' });
  });

  it('is followed by another window: its questions, and an answer that had ended and goes on', async () => {
    const frames = new Gate().hold(10);
    const started = await start({ frameMs: 0, frames, answer: () => 'word '.repeat(60) });
    const other = await windowOf(started.fake);
    started.fake.create('Both');
    const [chat] = started.fake.summaries();
    for (const { actions } of [started, other]) await actions.conversation.open(chat?.id ?? '');
    started.actions.conversation.setDraftText('Go');
    await started.actions.conversation.send();
    await vi.waitFor(() => expect(selectActiveStats(other.get())?.phase).toBe('decode'));
    expect(shown(other).map(({ text }) => text)).toEqual(['Go', '']);
    await started.actions.conversation.stop();
    frames.open();
    await Promise.all([started.idle(), other.idle()]);
    const half = shown(other)[1];
    expect(half?.stopReason).toBe('cancelled');
    frames.hold(10);
    if (half) void started.actions.conversation.goOn(half);
    const live = () => other.get().stream.live[half?.id ?? ''];
    await vi.waitFor(() => expect(live()?.text.length).toBeGreaterThan((half?.text.length ?? 0) + 10));
    expect(live()?.text.startsWith(half?.text ?? '?')).toBe(true);
    frames.open();
    await Promise.all([started.idle(), other.idle()]);
    expect(shown(other)).toEqual(shown(started));
    expect(shown(other)[1]?.stopReason).toBe('end-of-turn');
  });

  it('shows the chat that was clicked last, in whatever order they arrive', async () => {
    const started = await start();
    const slow = started.fake.create('slow');
    const quick = started.fake.create('quick');
    const call = started.fake.call;
    const reading = new Gate().hold();
    started.fake.call = async (name, input) => {
      if ((input as { chatId?: string })?.chatId === slow.id) await reading.pass();
      return call(name, input);
    };
    const first = started.actions.conversation.open(slow.id);
    await started.actions.conversation.open(quick.id);
    reading.open();
    await first;
    expect(started.get().conversation.chat?.id).toBe(quick.id);
  });
});

describe('the list of chats', () => {
  it('forgets and brings back, and undoes a refused removal', async () => {
    const started = await start();
    const chat = started.fake.create('Kept');
    expect(await started.actions.chats.remove(chat.id)).toBe(true);
    expect(started.get().chats.list).toEqual([]);
    await started.actions.chats.restore(chat.id);
    expect(started.get().chats.list).toHaveLength(1);
    started.fake.failures.set('chats.remove', { code: 'storage-failed', message: 'No.', hint: '' });
    expect(await started.actions.chats.remove(chat.id)).toBe(false);
    expect(started.get().chats.list).toHaveLength(1);
  });

  it('renames at once, in the open chat too', async () => {
    const started = await start();
    await ask(started, 'Old');
    const id = started.get().conversation.chat?.id ?? '';
    await started.actions.chats.rename(id, '  New  ');
    expect(started.get().conversation.chat?.title).toBe('New');
    await started.actions.chats.rename(id, '   ');
    expect(started.get().conversation.chat?.title).toBe('New');
  });
});

describe('settings', () => {
  it('wait for Apply when they cost a reload, and then reload once', async () => {
    const started = await start();
    started.actions.settings.editContext({ nCtx: 4096 });
    expect(started.fake.settings.context.nCtx).toBe(8192);
    await started.actions.settings.applyContext();
    expect(started.fake.settings.context.nCtx).toBe(4096);
    expect(started.get().settings).toMatchObject({ draft: {}, applying: false });
    expect(started.get().engine.status?.context?.nCtx).toBe(4096);
    expect(started.fake.calls.filter((call) => call.name === 'engine.reload')).toHaveLength(1);
  });

  it('go back when they are refused', async () => {
    const started = await start();
    started.fake.failures.set('settings.update', { code: 'storage-failed', message: 'No.', hint: '' });
    await started.actions.settings.update({ theme: 'dark' });
    expect(started.get().settings.saved?.theme).toBe('system');
    expect(selectProblem(started.get())?.message).toBe('No.');
  });
});

describe('the engine', () => {
  it('is known to have been restarted until the person has seen it', async () => {
    const started = await start();
    started.fake.setStatus({ state: 'restarting' });
    expect(started.get().engine.recovered).toBe(false);
    started.fake.setStatus({ state: 'ready', restarts: 1 });
    expect(started.get().engine.recovered).toBe(true);
    started.actions.engine.closeRecovered();
    expect(started.get().engine.recovered).toBe(false);
  });

  it('tells a failed load once, by its status', async () => {
    const started = await start();
    const error = { code: 'model-invalid', message: 'Broken file.', hint: '' } as const;
    started.fake.failures.set('models.select', error);
    started.fake.setStatus({ state: 'failed', error });
    await started.actions.models.select('other');
    expect(selectProblem(started.get())).toBeNull();
    expect(started.get().models.selectingId).toBeNull();
  });

  it('hands menu commands on', async () => {
    const started = await start();
    started.fake.emit('onCommand', { command: 'search' });
    expect(started.commands).toHaveBeenCalledWith('search');
  });
});

describe('the history of the meter', () => {
  it('has a point for each second while the services have no news, and none while they are away', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    try {
      const { app, get } = await start();
      vi.advanceTimersByTime(3000);
      expect(get().meter.history).toHaveLength(3);
      app.actions.engine.receiveConnection({ phase: 'lost', retryAt: null });
      vi.advanceTimersByTime(3000);
      expect(get().meter.history).toHaveLength(3);
    } finally {
      vi.useRealTimers();
    }
  });
});
