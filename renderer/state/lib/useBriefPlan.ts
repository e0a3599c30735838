import { useEffect, useState } from 'react';
import type { BriefPlan } from '../../../electron/contract/lib/brief';
import { selectMaking } from '../slices/briefs';
import { useActions, useApp } from '../useApp';
import { selectChat } from './openChat';

/** What a brief of the open chat would cost; null: there is nothing to shorten, or one is being written. */
export function useBriefPlan(): BriefPlan | null {
  const { briefs } = useActions();
  const chat = useApp(selectChat);
  const making = useApp(selectMaking(chat?.id ?? '')) !== null;
  const [plan, setPlan] = useState<BriefPlan | null>(null);
  const key = `${chat?.id} ${chat?.leafId} ${chat?.briefs.length} ${making}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says what it depends on
  useEffect(() => {
    let dropped = false;
    setPlan(null);
    if (!making) void briefs.plan().then((found) => dropped || setPlan(found));
    return () => {
      dropped = true;
    };
  }, [briefs, key]);
  return plan;
}
