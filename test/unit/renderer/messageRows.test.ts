/** The list of messages without a window: which rows there are, what is marked in them, where a search leads. */
import { describe, expect, it, vi } from 'vitest';
import { createElectronClient } from '@/renderer/bridge/createClient';
import { messagesWith, occurrences, stepTo } from '@/renderer/features/chat/found';
import { estimateRow, rowsBetween, withKept } from '@/renderer/features/chat/useMessageScroll';
import { connect } from '@/renderer/state/connect';
import { pathTo } from '@/renderer/state/lib/messageTree';
import { createApp } from '@/renderer/state/store';
import { FakeServices } from './fakeServices';

describe('rows', () => {
  it('keep what has the focus, once and in order, and nothing that is not there any more', () => {
    expect(withKept([4, 5, 6], [5, 1], 10)).toEqual([1, 4, 5, 6]);
    expect(withKept([0, 1], [12, -1], 10)).toEqual([0, 1]);
  });

  it('keep a selection without holes, and of a huge one only the ends', () => {
    expect(rowsBetween([7, 3])).toEqual([3, 4, 5, 6, 7]);
    expect(rowsBetween([5000, 2])).toEqual([2, 5000]);
    expect(rowsBetween([])).toEqual([]);
  });

  it('are guessed higher for more text, and a folded question never very high', () => {
    const long = 'word '.repeat(4000);
    expect(estimateRow({ role: 'assistant', text: long })).toBeGreaterThan(1000);
    expect(estimateRow({ role: 'user', text: long })).toBeLessThan(500);
    expect(estimateRow({ role: 'user', text: 'Short?' })).toBeLessThan(100);
  });
});

describe('occurrences', () => {
  it('finds words in any case, the longer of two first', () => {
    expect(occurrences('Train, trains, TRAIN', ['train', 'trains'])).toEqual([
      { start: 0, end: 5 },
      { start: 7, end: 13 },
      { start: 15, end: 20 },
    ]);
  });

  it('takes signs as signs and any white space as one', () => {
    expect(occurrences('costs 3.50 (net), not 3x50', ['3.50 (net)'])).toEqual([{ start: 6, end: 16 }]);
    expect(occurrences('the old\n  bridge', ['old bridge'])).toEqual([{ start: 4, end: 16 }]);
    expect(occurrences('text', ['', ' '])).toEqual([]);
  });
});

describe('find in a chat', () => {
  const messages = ['The train.', 'No word of it.', 'Two TRAINS', 'a+b'].map((text, i) => ({ id: `m${i}`, text }));

  it('names the messages with the words, in any case', () => {
    expect(messagesWith(messages, 'train')).toEqual(['m0', 'm2']);
    expect(messagesWith(messages, 'a+b')).toEqual(['m3']);
    expect(messagesWith(messages, ' ')).toEqual([]);
  });

  it('goes round in both directions', () => {
    const ids = ['a', 'b', 'c'];
    expect([stepTo(ids, -1, 1), stepTo(ids, 2, 1), stepTo(ids, 0, -1), stepTo(ids, -1, -1)]).toEqual([
      'a',
      'a',
      'c',
      'c',
    ]);
    expect(stepTo([], -1, 1)).toBeNull();
  });
});

describe('showMessage', () => {
  async function start() {
    const fake = new FakeServices({ frameMs: 0 });
    const app = createApp(createElectronClient(fake));
    connect(createElectronClient(fake), app, vi.fn());
    const chat = fake.create('Stations');
    const question = fake.message({ parentId: null, role: 'user', text: 'Which platform?' });
    const first = fake.message({
      parentId: question.id,
      role: 'assistant',
      text: 'Platform 18.',
      stopReason: 'end-of-turn',
    });
    const second = fake.message({ parentId: question.id, role: 'assistant', text: 'Nine.', stopReason: 'end-of-turn' });
    fake.chats.set(chat.id, { ...chat, messages: [question, first, second], leafId: second.id });
    await vi.waitFor(() => expect(app.store.getState().chats.list).not.toBeNull());
    return { fake, chat, first, second, ...app.actions, get: () => app.store.getState().conversation };
  }

  it('opens the chat on a branch with the message', async () => {
    const { conversation, chat, first, get, fake } = await start();
    expect(await conversation.showMessage(chat.id, first.id, 'platform')).toBe(true);
    const { chat: open, target } = get();
    expect(pathTo(open?.messages ?? [], open?.leafId ?? null).map(({ id }) => id)).toContain(first.id);
    expect(target).toEqual({ messageId: first.id, words: ['platform'] });
    await vi.waitFor(() => expect(fake.chats.get(chat.id)?.leafId).toBe(first.id));
  });

  it('leaves the branch alone when it holds the message, and makes a new target each time', async () => {
    const { conversation, chat, second, get, fake } = await start();
    await conversation.showMessage(chat.id, second.id);
    const before = get().target;
    await conversation.showMessage(chat.id, second.id);
    expect(get().target).not.toBe(before);
    expect(fake.calls.filter(({ name }) => name === 'chats.selectBranch')).toEqual([]);
  });

  it('says when the message is not there, and forgets the target with the chat', async () => {
    const { conversation, chat, second, get } = await start();
    expect(await conversation.showMessage(chat.id, 'gone')).toBe(false);
    expect(await conversation.showMessage('no-such-chat', second.id)).toBe(false);
    await conversation.showMessage(chat.id, second.id, ['nine']);
    conversation.startNew();
    expect(get().target).toBeNull();
  });
});
