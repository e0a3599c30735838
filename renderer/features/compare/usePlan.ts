/** Keeps what the configurations would take of the memory current while they are edited. */
import { useEffect } from 'react';
import { selectCompareModelId, selectPlan } from '../../state/compare/selectors';
import type { CompareForm, PlanOutcome } from '../../state/compare/state';
import { selectCanAsk } from '../../state/engine/selectors';
import { planKey } from '../../state/lib/compareForm';
import { useActions, useApp } from '../../state/useApp';
import { useDebounced } from '../../ui/useDebounced';

const restMs = 250;

/** `outcome`: null while nothing is known; `stale`: it belongs to other rows. */
export function usePlan(form: CompareForm): { outcome: PlanOutcome | null; stale: boolean } {
  const modelId = useApp(selectCompareModelId);
  const able = useApp(selectCanAsk);
  const plan = useApp(selectPlan);
  const { compare } = useActions();
  const rested = useDebounced(form.rows, restMs);

  useEffect(() => {
    if (able && modelId !== null && rested.length > 1) void compare.plan(modelId, rested);
  }, [able, modelId, rested, compare]);

  return { outcome: plan?.outcome ?? null, stale: modelId === null || plan?.key !== planKey(modelId, form.rows) };
}
