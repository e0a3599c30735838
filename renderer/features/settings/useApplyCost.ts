import { useShallow } from 'zustand/shallow';
import { selectChat } from '../../state/conversation/selectors';
import { selectContextUsed, selectLoadedContext, selectLoadedModel } from '../../state/engine/selectors';
import { selectEditedContext, selectSavedContext } from '../../state/settings/selectors';
import { selectLastStats } from '../../state/stream/selectors';
import { useApp } from '../../state/useApp';
import { type ApplyCost, applyCost, measuredRate } from './applyText';

/** null until the services have answered */
export function useApplyCost(): ApplyCost | null {
  const edited = useApp(useShallow(selectEditedContext));
  const saved = useApp(selectSavedContext);
  const loaded = useApp(selectLoadedContext);
  const model = useApp(selectLoadedModel);
  const used = useApp(selectContextUsed);
  const messages = useApp(selectChat)?.messages ?? [];
  const rate = measuredRate(messages, useApp(selectLastStats), model?.name ?? '');
  return edited && saved && applyCost({ loaded, saved, edited, used, trained: model?.nCtxTrain ?? 0, rate });
}
