import { describe, expect, it } from 'vitest';
import type { Chat, Message } from '@/electron/contract/chats';
import { indexChildren, leafBelow, pathTo, placeOf, withMessages } from '@/renderer/state/lib/messageTree';
import { message as sample } from '@/test/fixtures/samples';

const message = (id: string, parentId: string | null) => sample({ id, parentId, text: id });

// a ─ b ─ c
//   └ d ─ e
//       └ f
const messages = [
  message('a', null),
  message('b', 'a'),
  message('c', 'b'),
  message('d', 'a'),
  message('e', 'd'),
  message('f', 'd'),
];
const ids = (path: Message[]) => path.map((one) => one.id).join('');

describe('pathTo', () => {
  it('runs from the root to the leaf', () => {
    expect(ids(pathTo(messages, 'c'))).toBe('abc');
    expect(ids(pathTo(messages, 'f'))).toBe('adf');
  });

  it('falls back to the newest message when the leaf is unknown', () => {
    expect(ids(pathTo(messages, 'gone'))).toBe('adf');
    expect(ids(pathTo(messages, null))).toBe('adf');
  });

  it('starts where a parent is missing', () => {
    expect(ids(pathTo([message('x', 'lost'), message('y', 'x')], 'y'))).toBe('xy');
  });

  it('ends in a ring and in an empty chat', () => {
    expect(pathTo([message('x', 'y'), message('y', 'x')], 'x')).toHaveLength(2);
    expect(pathTo([], 'x')).toEqual([]);
  });
});

describe('branches', () => {
  const children = indexChildren(messages);

  it('knows the place of a message among its siblings', () => {
    expect(placeOf(children, message('d', 'a'))).toEqual({ index: 1, count: 2, previousId: 'b', nextId: null });
    expect(placeOf(children, message('a', null))).toEqual({ index: 0, count: 1, previousId: null, nextId: null });
  });

  it('goes down to the newest leaf', () => {
    expect(leafBelow(children, 'a')).toBe('f');
    expect(leafBelow(children, 'b')).toBe('c');
    expect(leafBelow(children, 'e')).toBe('e');
  });

  it('leaves a ring', () => {
    expect(leafBelow(indexChildren([message('x', 'y'), message('y', 'x')]), 'x')).toBe('y');
  });
});

describe('withMessages', () => {
  it('replaces, adds, and keeps the other objects', () => {
    const times = { createdAt: 0, updatedAt: 0 };
    const chat: Chat = {
      id: '1',
      title: '',
      ...times,
      pinned: false,
      folder: null,
      messages,
      leafId: 'f',
      systemPrompt: null,
      damagedLines: 0,
    };
    const changed = { ...message('b', 'a'), text: 'new' };
    const next = withMessages(chat, [changed, message('g', 'f')]);
    expect(ids(next.messages)).toBe('abcdefg');
    expect(next.messages[1]).toBe(changed);
    expect(next.messages[2]).toBe(messages[2]);
  });
});
