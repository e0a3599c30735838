/** Offers in place of settings that do not fit into the memory. */
import { useEffect, useState } from 'react';
import type { Offer } from '../../../electron/contract/fit';
import type { ContextSettings } from '../../../electron/contract/settings';
import { useActions } from '../useApp';
import { fitKey } from './fit';

/** null: being asked. `context` null: nothing is asked. `asker`: the part of the window, one question each. */
export function useOffers(context: ContextSettings | null, modelId: string | null, asker: string): Offer[] | null {
  const { settings } = useActions();
  const [found, setFound] = useState<{ key: string; offers: Offer[] } | null>(null);
  const key = context ? fitKey(context, modelId) : '';

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the context
  useEffect(() => {
    if (!context) return;
    let dropped = false;
    void settings.askOffers(context, modelId, asker).then((offers) => {
      if (!dropped) setFound({ key, offers });
    });
    return () => {
      dropped = true;
    };
  }, [key, modelId, asker, settings]);

  return found?.key === key ? found.offers : null;
}
