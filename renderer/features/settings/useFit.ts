/** Keeps what fits into the memory current while the context settings are being edited. */
import { useEffect } from 'react';
import type { ErrorPayload } from '../../../electron/contract/errors';
import type { ContextFit } from '../../../electron/contract/fit';
import type { ContextSettings } from '../../../electron/contract/settings';
import { fitKey } from '../../state/lib/fit';
import { selectCanAsk, selectLoadedModelId } from '../../state/slices/engine';
import { selectFit } from '../../state/slices/settings';
import { useActions, useApp } from '../../state/useApp';
import { useDebounced } from '../../ui/hooks';

const restMs = 200;

export interface CurrentFit {
  /** null: not known yet, or the engine cannot tell */
  fit: ContextFit | null;
  /** why the engine cannot tell; null: it can, or has not been asked yet */
  problem: ErrorPayload | null;
  /** it belongs to older settings */
  stale: boolean;
}

/** Asks; one component does. `longest`: how far the slider goes. */
export function useAskFit(context: ContextSettings | null, longest: number): void {
  const modelId = useApp(selectLoadedModelId);
  const able = useApp(selectCanAsk);
  const { settings } = useActions();
  const rested = useDebounced(context, restMs);

  useEffect(() => {
    if (rested && able) void settings.askFit(rested, modelId, longest);
  }, [rested, able, modelId, longest, settings]);
}

export function useFit(context: ContextSettings | null): CurrentFit {
  const modelId = useApp(selectLoadedModelId);
  const found = useApp(selectFit);
  return {
    fit: found?.outcome.ok ? found.outcome.value : null,
    problem: found && !found.outcome.ok ? found.outcome.error : null,
    stale: !context || found?.key !== fitKey(context, modelId),
  };
}
