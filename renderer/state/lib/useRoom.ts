/** Offers of a longer context, or of smaller cache types, for a draft that does not fit. */
import { useEffect, useState } from 'react';
import type { PromptBudget } from '../../../electron/contract/chats';
import { neededLength, type Room, roomOffers } from '../slices/budget';
import { selectLoadedContext, selectLoadedModel, selectLoadedModelId } from '../slices/engine';
import { selectSettings } from '../slices/settings';
import { useActions, useApp } from '../useApp';
import { fitKey } from './fit';

/** null: being asked. */
export function useRoom(budget: Pick<PromptBudget, 'total'>): Room | null {
  const { settings } = useActions();
  const saved = useApp(selectSettings);
  const modelId = useApp(selectLoadedModelId);
  const stretched = useApp(selectLoadedContext)?.rope.kind !== 'model';
  const trained = useApp(selectLoadedModel)?.nCtxTrain || null;
  const nCtx = saved ? neededLength(budget, saved.documents.reserve, stretched ? null : trained) : null;
  const context = saved && nCtx !== null ? { ...saved.context, nCtx } : null;
  const key = context ? fitKey(context, modelId) : 'none';
  const [found, setFound] = useState<{ key: string; room: Room } | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the context
  useEffect(() => {
    if (!context) return;
    let dropped = false;
    void settings.askRoom(context, modelId, 'room').then((fit) => {
      if (dropped) return;
      const room = { nCtx, offers: fit ? roomOffers(fit, context.nCtx) : [], longest: fit?.marks[0]?.nCtx ?? null };
      setFound({ key, room });
    });
    return () => {
      dropped = true;
    };
  }, [key, modelId, settings]);

  if (saved && nCtx === null) return { nCtx, offers: [], longest: null };
  return found?.key === key ? found.room : null;
}
