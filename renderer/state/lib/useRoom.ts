/** Offers of a longer context, or of smaller cache types, for a draft that does not fit. */
import { useEffect, useState } from 'react';
import type { PromptBudget } from '../../../electron/contract/chats';
import { keepsCache } from '../../../electron/contract/fit';
import { allocatedBytes } from '../../../electron/contract/lib/memory';
import { autoContext, type ContextSettings } from '../../../electron/contract/settings';
import { grownLength, neededLength, type Room, type RoomOffer, roomOffers } from '../slices/budget';
import { selectLoadedContext, selectLoadedModel, selectLoadedModelId, selectMemory } from '../slices/engine';
import { readingRate, selectChatTokensRead } from '../slices/live';
import { selectSettings } from '../slices/settings';
import { useActions, useApp } from '../useApp';
import { fitKey } from './fit';
import { selectChat } from './openChat';

/** An offer beside what is there now. */
export interface Growth extends RoomOffer {
  /** bytes that are allocated now; null: not known */
  before: number | null;
  /** the cache gets types that it does not have now */
  otherTypes: boolean;
  /** of the open chat, what has been read; null: nothing */
  read: { tokens: number; kept: boolean; perSecond: number } | null;
}

/** What each offer changes, in order. */
export function useGrowth(room: Room | null): Growth[] {
  const saved = useApp(selectSettings)?.context;
  const memory = useApp(selectMemory);
  const loaded = useApp(selectLoadedContext);
  const trained = useApp(selectLoadedModel)?.nCtxTrain ?? 0;
  const tokens = useApp(selectChatTokensRead) ?? 0;
  const perSecond = readingRate(useApp(selectChat)?.messages ?? []);
  if (!saved || !room) return [];
  return room.offers.map((offer) => {
    // layers that were placed so that they fit go elsewhere for another length
    const stays = loaded !== null && loaded.placement === null;
    const kept = stays && keepsCache(loaded, { ...saved, ...offer }, tokens, trained);
    return {
      ...offer,
      before: memory && allocatedBytes(memory),
      otherTypes: offer.typeK !== saved.typeK || offer.typeV !== saved.typeV,
      read: tokens > 0 ? { tokens, kept, perSecond } : null,
    };
  });
}

/** null: being asked. */
export function useRoom(budget: Pick<PromptBudget, 'total'>): Room | null {
  const { settings } = useActions();
  const saved = useApp(selectSettings);
  const modelId = useApp(selectLoadedModelId);
  const stretched = useApp(selectLoadedContext)?.rope.kind !== 'model';
  const trained = useApp(selectLoadedModel)?.nCtxTrain || null;
  const known = stretched ? null : trained;
  const nCtx = saved ? neededLength(budget, saved.documents.reserve, known) : null;
  const context = saved && nCtx !== null ? { ...saved.context, nCtx } : null;
  const grows = saved?.context.nCtx === autoContext;
  const key = context ? `${grows} ${fitKey(context, modelId)}` : 'none';
  const [found, setFound] = useState<{ key: string; room: Room } | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the context
  useEffect(() => {
    if (!context) return;
    let dropped = false;
    async function ask(asked: ContextSettings): Promise<Room> {
      const fit = await settings.askRoom(asked, modelId, 'room');
      return { nCtx, offers: fit ? roomOffers(fit, asked.nCtx) : [], longest: fit?.marks[0]?.nCtx ?? null };
    }
    async function askAll(asked: ContextSettings): Promise<void> {
      const grown = grows ? await ask({ ...asked, nCtx: grownLength(asked.nCtx, known) }) : null;
      // what reads least again: the types that are in use, at the length that is needed if not at a longer one
      const isSame = ({ typeK, typeV }: RoomOffer) => typeK === asked.typeK && typeV === asked.typeV;
      const room = grown?.offers.some(isSame) ? grown : await ask(asked);
      if (!dropped) setFound({ key, room });
    }
    void askAll(context);
    return () => {
      dropped = true;
    };
  }, [key, modelId, settings]);

  if (saved && nCtx === null) return { nCtx, offers: [], longest: null };
  return found?.key === key ? found.room : null;
}
