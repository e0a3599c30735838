/** What is offered when a question does not fit into the context. */
import { describe, expect, it } from 'vitest';
import type { Message } from '@/electron/contract/chats';
import type { CacheType } from '@/electron/contract/settings';
import type { AppState } from '@/renderer/state/appState';
import { neededLength, roomOffers, selectOffersLetGo } from '@/renderer/state/slices/budget';
import { fitOf, message, promptBudget } from '@/test/fixtures/samples';

describe('leaving out the oldest messages', () => {
  const last = message({ id: 'a', stopReason: 'end-of-turn' });
  function stateWith(change: { leaveOut?: boolean; stopReason?: Message['stopReason'] }): AppState {
    const remedies = { leaveOut: change.leaveOut ?? true, newChat: false };
    return {
      budget: { key: '', budget: promptBudget({ fits: false, over: 50, remedies }), error: null },
      conversation: { chat: { messages: [{ ...last, ...change }], leafId: 'a' } },
    } as unknown as AppState;
  }

  it('is offered once: by the last answer where that ended for want of room, else by the composer', () => {
    expect(selectOffersLetGo(stateWith({}))).toBe(true);
    expect(selectOffersLetGo(stateWith({ stopReason: 'context-full' }))).toBe(false);
  });

  it('is offered only where it would do', () => {
    expect(selectOffersLetGo(stateWith({ leaveOut: false }))).toBe(false);
    const fitting = { ...stateWith({}), budget: { key: '', budget: promptBudget(), error: null } };
    expect(selectOffersLetGo(fitting)).toBe(false);
  });
});

describe('a longer context', () => {
  it('says how long a context has to be, up to what the model was trained for', () => {
    const budget = promptBudget({ documents: 9000 });
    expect(neededLength(budget, 1024, null)).toBe(10_240);
    expect(neededLength(budget, 1024, 131_072)).toBe(10_240);
    expect(neededLength(budget, 1024, 10_100)).toBe(10_100);
    expect(neededLength(budget, 1024, 8192)).toBeNull();
  });

  it('offers the chosen types first, and only smaller ones below', () => {
    const offers = (type: CacheType, values: number) => {
      const context = { nCtx: 16_384, typeK: type, typeV: type };
      return roomOffers(fitOf(context, { weights: 48e6, values, longest: 16_384 }), 16_384).map(({ typeK }) => typeK);
    };
    expect(offers('f16', 2048)).toEqual(['f16', 'turbo4', 'turbo3']);
    expect(offers('turbo4', 2048)).toEqual(['turbo4', 'turbo3']);
    expect(offers('turbo3', 2048)).toEqual(['turbo3']);
    expect(offers('f16', 512_000)).toEqual(['turbo3']);
    expect(offers('turbo4', 100_000_000)).toEqual([]);
  });
});
