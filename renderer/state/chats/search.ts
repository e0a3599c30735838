/** Search of all chats while a person types: asked when the typing rests, and only the newest answer counts. */
import type { ChatHit } from '../../../electron/shared/chatSearch';
import type { Tools } from '../tools';

const restMs = 150;

export function createSearchActions({ client, get, patch, report }: Tools) {
  // another window may search for something else at the same time
  const asker = `search-${Math.random().toString(36).slice(2)}`;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function search(query: string): void {
    clearTimeout(timer);
    const blank = query.trim() === '';
    patch('chats', { query, searching: !blank, ...(blank ? { found: null } : {}) });
    if (!blank) timer = setTimeout(() => void ask(query), restMs);
  }

  async function ask(query: string): Promise<void> {
    clearTimeout(timer);
    try {
      const answer = await client.call('chats.search', { query, asker });
      if (get().chats.query === query) patch('chats', { found: { query, answer }, searching: false });
    } catch (error) {
      if (get().chats.query !== query) return;
      patch('chats', { searching: false });
      report(error);
    }
  }

  /** The first chat that is found, without waiting for the typing to rest. */
  async function firstHit(): Promise<ChatHit | null> {
    const { query } = get().chats;
    if (get().chats.found?.query !== query) await ask(query);
    const { found } = get().chats;
    return found?.query === query ? (found.answer.hits[0] ?? null) : null;
  }

  return { search, firstHit };
}
