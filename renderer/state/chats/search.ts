/** Search of all chats while a person types: asked when the typing rests, and only the newest answer counts. */
import type { ChatHit } from '../../../electron/contract/chatSearch';
import type { EventPayload } from '../../../electron/contract/contract';
import type { Tools } from '../slice';

const restMs = 150;

export function createSearchActions({ client, get, patch, report }: Tools) {
  // another window may search for something else at the same time
  const asker = `search-${Math.random().toString(36).slice(2)}`;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function search(query: string): void {
    clearTimeout(timer);
    const blank = query.trim() === '';
    if (blank && get().chats.searching) void client.call('chats.cancelSearch', { asker }).catch(() => undefined);
    patch('chats', { query, searching: !blank, ...(blank ? { found: null, searched: null } : {}) });
    if (!blank) timer = setTimeout(() => void ask(query), restMs);
  }

  function receiveProgress(progress: EventPayload<'onSearch'>): void {
    if (progress.asker === asker && get().chats.searching) patch('chats', { searched: progress.fraction });
  }

  async function ask(query: string): Promise<void> {
    clearTimeout(timer);
    patch('chats', { searched: null });
    try {
      const answer = await client.call('chats.search', { query, asker });
      if (get().chats.query === query) patch('chats', { found: { query, answer }, searching: false, searched: null });
    } catch (error) {
      if (get().chats.query !== query) return;
      patch('chats', { searching: false, searched: null });
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

  return { search, firstHit, receiveProgress };
}
