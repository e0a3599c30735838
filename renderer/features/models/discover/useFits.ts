/** Verdicts for the files of a page: the chosen one first. Asked again whenever the context changes. */
import { useEffect, useMemo } from 'react';
import type { HubFile, HubModelPage } from '../../../../electron/contract/hub';
import { type ContextSettings, usualContext } from '../../../../electron/contract/settings';
import { selectCanAsk } from '../../../state/slices/engine';
import { filesOf, fitKey, isUsable, selectHubFits, selectRequestedContext } from '../../../state/slices/hub';
import { selectSavedContext } from '../../../state/slices/settings';
import { useActions, useApp } from '../../../state/useApp';
import { useDebounced } from '../../../ui/hooks';
import { needsOwnAnswer, type Verdict, verdictOf } from './verdict';

const restMs = 200;

/** Settings as saved, in place of Auto the usual length, with what was changed for the verdicts. Null until the services have answered. */
export function useRequestedContext(): ContextSettings | null {
  const saved = useApp(selectSavedContext);
  const asked = useApp(selectRequestedContext);
  return useMemo(() => saved && { ...saved, nCtx: saved.nCtx || usualContext, ...asked }, [saved, asked]);
}

export function useAskFits(page: HubModelPage, chosen: HubFile | null, context: ContextSettings | null): void {
  const able = useApp(selectCanAsk);
  const fits = useApp(selectHubFits);
  const rested = useDebounced(context, restMs);
  const { hub } = useActions();
  const first = rested && chosen ? fits[fitKey(page, chosen.file, rested)] : undefined;
  const eachAlone = first?.ok === true && needsOwnAnswer(first.value);

  useEffect(() => {
    if (able && rested && chosen && isUsable(chosen)) void hub.askFit(page, chosen, rested);
  }, [able, rested, chosen, page, hub]);

  // one after the other: a newer question would end the older one
  useEffect(() => {
    if (!able || !rested || !eachAlone) return;
    let dropped = false;
    void (async () => {
      for (const file of filesOf(page).filter(isUsable)) {
        if (dropped) return;
        await hub.askFit(page, file, rested);
      }
    })();
    return () => {
      dropped = true;
    };
  }, [able, rested, eachAlone, page, hub]);
}

/** Null: not known yet. */
export function useVerdicts(
  page: HubModelPage,
  chosen: HubFile | null,
  context: ContextSettings | null,
): (file: HubFile) => Verdict | null {
  const fits = useApp(selectHubFits);
  return (file) => {
    if (!context) return null;
    const own = fits[fitKey(page, file.file, context)] ?? null;
    const other = chosen ? (fits[fitKey(page, chosen.file, context)] ?? null) : null;
    return verdictOf(file, own, chosen, other, context);
  };
}
