/** Keeps the estimates current while the context settings are being edited. */
import { useEffect } from 'react';
import { useShallow } from 'zustand/shallow';
import type { ContextSettings } from '../../../electron/contract/settings';
import { selectCanAsk, selectLoadedModelId } from '../../state/engine/selectors';
import { estimateKey } from '../../state/settings/draft';
import { selectEditedContext, selectEstimates } from '../../state/settings/selectors';
import type { Estimates } from '../../state/settings/state';
import { useActions, useApp } from '../../state/useApp';
import { useDebounced } from '../../ui/useDebounced';
import { offeredTypes } from './cacheTypeText';

const restMs = 200;

export interface EditedContext {
  context: ContextSettings | null;
  estimates: Estimates | null;
  /** the figures belong to older settings; new ones are on their way */
  stale: boolean;
}

export function useEditedContext(): EditedContext {
  const context = useApp(useShallow(selectEditedContext));
  const modelId = useApp(selectLoadedModelId);
  const estimates = useApp(selectEstimates);
  const able = useApp(selectCanAsk);
  const { settings } = useActions();
  const rested = useDebounced(context, restMs);

  useEffect(() => {
    if (rested && able) void settings.estimate(rested, offeredTypes, modelId);
  }, [rested, able, modelId, settings]);

  return { context, estimates, stale: !context || estimates?.key !== estimateKey(context, modelId) };
}
