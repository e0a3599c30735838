/** Pure work on the tree of messages. A branch is the path from the root to one leaf. */
import type { Chat, Message } from '../../../electron/contract/chats';

export type Children = ReadonlyMap<string | null, readonly Message[]>;

/** Where a message stands among the answers to one question (or the wordings of one question). */
export interface Place {
  index: number;
  count: number;
  previousId: string | null;
  nextId: string | null;
}

export function indexChildren(messages: readonly Message[]): Children {
  const children = new Map<string | null, Message[]>();
  for (const message of messages) {
    const siblings = children.get(message.parentId);
    if (siblings) siblings.push(message);
    else children.set(message.parentId, [message]);
  }
  return children;
}

/** The path from the root to the leaf; a leaf that is unknown or missing falls back to the newest message. */
export function pathTo(messages: readonly Message[], leafId: string | null): Message[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  let at = (leafId === null ? undefined : byId.get(leafId)) ?? messages.at(-1);
  const path: Message[] = [];
  // A damaged log could hold a ring; a path is never longer than the number of messages.
  while (at && path.length < messages.length) {
    path.push(at);
    at = at.parentId === null ? undefined : byId.get(at.parentId);
  }
  return path.reverse();
}

export function placeOf(children: Children, message: Message): Place {
  const siblings = children.get(message.parentId) ?? [message];
  const index = siblings.findIndex((sibling) => sibling.id === message.id);
  return {
    index,
    count: siblings.length,
    previousId: siblings[index - 1]?.id ?? null,
    nextId: siblings[index + 1]?.id ?? null,
  };
}

/** The end of the newest branch below a message: what a switch to that message shows. */
export function leafBelow(children: Children, messageId: string): string {
  const seen = new Set([messageId]);
  let at = messageId;
  for (;;) {
    const next = children.get(at)?.at(-1);
    if (!next || seen.has(next.id)) return at;
    seen.add(next.id);
    at = next.id;
  }
}

/** Adds messages or replaces them by their new state, and keeps all others as the objects that they are. */
export function withMessages(chat: Chat, changed: readonly Message[]): Chat {
  const byId = new Map(changed.map((message) => [message.id, message]));
  const messages = chat.messages.map((message) => {
    const next = byId.get(message.id);
    byId.delete(message.id);
    return next ?? message;
  });
  return { ...chat, messages: [...messages, ...byId.values()] };
}
