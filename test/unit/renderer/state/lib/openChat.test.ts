/** The open chat: its draft, the passages that left its prompt, and its tree of messages. */
import { describe, expect, it } from 'vitest';
import { type Chat, type Message, releasedAlong } from '@/electron/contract/chats';
import type { Attachment } from '@/electron/contract/lib/attachments';
import { noTools } from '@/electron/contract/tools/tools';
import { type AppState, emptyDraft } from '@/renderer/state/appState';
import { draftDocument } from '@/renderer/state/lib/attach';
import { indexChildren, leafBelow, pathTo, placeOf, withMessages } from '@/renderer/state/lib/messageTree';
import { isEmptyDraft, lookedUp, selectCanRelease, withDraft } from '@/renderer/state/lib/openChat';
import { partsSent, sectionsIn } from '@/renderer/state/lib/partText';
import { message, pages } from '@/test/fixtures/samples';

describe('the draft of a question', () => {
  it('is empty with blanks only, and takes no room once it is sent', () => {
    const blank = { text: ' \n', documents: [] };
    expect(isEmptyDraft(blank)).toBe(true);
    expect(isEmptyDraft({ ...blank, documents: [draftDocument({ name: 'a', origin: { kind: 'stored' } })] })).toBe(
      false,
    );
    expect(withDraft({ a: { text: 'x', documents: [] } }, 'a', emptyDraft)).toEqual({});
    expect(withDraft({}, 'a', blank)).toEqual({ a: blank });
  });

  it('has again what the last question had looked up', () => {
    const passages = { kind: 'passages' as const, passages: [{ start: 3, end: 9, label: 'Page 1' }] };
    const attachments = [
      { documentId: 'd1', name: 'a.pdf', part: passages },
      { documentId: 'd2', name: 'b.pdf', part: { kind: 'whole' as const } },
    ];
    const question = message({ attachments });
    expect(lookedUp([question])).toEqual([
      { documentId: 'd1', name: 'a.pdf', part: { kind: 'passages', passages: [] } },
    ]);
    expect(lookedUp([])).toEqual([]);
  });
});

describe('passages that left the prompt', () => {
  const passages = (start: number) => ({ start, end: start + 100, label: '' });
  const ask = (start: number, more: Attachment[] = []) =>
    message({
      id: `question ${start}`,
      attachments: [
        { documentId: 'd1', name: 'a.pdf', part: { kind: 'passages', passages: [passages(start)] } },
        ...more,
      ],
    });
  const answer = (released?: number) => message({ id: 'answer', role: 'assistant', ...(released && { released }) });
  const whole: Attachment = { documentId: 'd1', name: 'a.pdf', part: { kind: 'sections', sections: [2] } };
  const byParts = { ...ask(5), summary: { kind: 'summary' as const, parts: [] } };
  const branch = [ask(0, [whole]), answer(), byParts, answer(), ask(2000), answer(1), ask(10), answer(1)];

  it('are marked at their question, and said once, by the answer that they left for', () => {
    const shown = (messages: Message[]) => releasedAlong(messages).map(({ gone, fresh }) => (gone ? 1 : fresh));
    expect(shown(branch)).toEqual([1, 0, 0, 0, 0, 1, 0, 0]);
    expect(shown([...branch, answer(3)])).toEqual([1, 0, 0, 0, 1, 1, 1, 0, 2]);
    expect(shown(branch.slice(0, 5))).toEqual([0, 0, 0, 0, 0]);
  });

  it('are not what the model has of a document; pages that were chosen stay', () => {
    expect(partsSent(branch, 'd1')).toEqual([whole.part, ask(2000).attachments[0]?.part, ask(10).attachments[0]?.part]);
    expect([...sectionsIn(partsSent(branch.slice(0, 6), 'd1'), pages)]).toEqual([2, 1]);
  });

  it('can be let go for an answer that filled the context, while some are left', () => {
    const state = (messages: Message[]) => {
      const linked = messages.map((one, i) => ({ ...one, parentId: messages[i - 1]?.id ?? null }));
      return { conversation: { chat: { messages: linked } } } as unknown as AppState;
    };
    const last = (messages: Message[]) => selectCanRelease(messages.at(-1)?.id ?? '')(state(messages));
    expect(last([ask(0), answer(), ask(10), answer()])).toBe(true);
    expect(last([ask(0), answer(), ask(10), answer(1)])).toBe(false);
    // those of its own question stay
    expect(last([ask(0), answer()])).toBe(false);
  });
});

const node = (id: string, parentId: string | null) => message({ id, parentId, text: id });

// a ─ b ─ c
//   └ d ─ e
//       └ f
const tree = [node('a', null), node('b', 'a'), node('c', 'b'), node('d', 'a'), node('e', 'd'), node('f', 'd')];
const ids = (path: Message[]) => path.map((one) => one.id).join('');

describe('pathTo', () => {
  it('runs from the root to the leaf, or to the newest message where that is unknown', () => {
    expect(ids(pathTo(tree, 'c'))).toBe('abc');
    expect(ids(pathTo(tree, 'f'))).toBe('adf');
    expect(ids(pathTo(tree, 'gone'))).toBe('adf');
    expect(ids(pathTo(tree, null))).toBe('adf');
  });

  it('starts where a parent is missing, and ends in a ring and in an empty chat', () => {
    expect(ids(pathTo([node('x', 'lost'), node('y', 'x')], 'y'))).toBe('xy');
    expect(pathTo([node('x', 'y'), node('y', 'x')], 'x')).toHaveLength(2);
    expect(pathTo([], 'x')).toEqual([]);
  });
});

describe('branches', () => {
  const children = indexChildren(tree);

  it('knows the place of a message among its siblings', () => {
    expect(placeOf(children, node('d', 'a'))).toEqual({ index: 1, count: 2, previousId: 'b', nextId: null });
    expect(placeOf(children, node('a', null))).toEqual({ index: 0, count: 1, previousId: null, nextId: null });
  });

  it('goes down to the newest leaf, and leaves a ring', () => {
    expect(leafBelow(children, 'a')).toBe('f');
    expect(leafBelow(children, 'b')).toBe('c');
    expect(leafBelow(children, 'e')).toBe('e');
    expect(leafBelow(indexChildren([node('x', 'y'), node('y', 'x')]), 'x')).toBe('y');
  });
});

it('withMessages replaces, adds, and keeps the other objects', () => {
  const chat: Chat = {
    ...{ id: '1', title: '', createdAt: 0, updatedAt: 0, pinned: false, folder: null },
    ...{ messages: tree, leafId: 'f', systemPrompt: null, briefs: [], tools: noTools, damagedLines: 0 },
  };
  const changed = { ...node('b', 'a'), text: 'new' };
  const next = withMessages(chat, [changed, node('g', 'f')]);
  expect(ids(next.messages)).toBe('abcdefg');
  expect(next.messages[1]).toBe(changed);
  expect(next.messages[2]).toBe(tree[2]);
});
