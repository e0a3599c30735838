/** What is asked about a model when its dialog is opened. */
import { useEffect, useState } from 'react';
import type { ErrorPayload } from '../../../../electron/contract/errors';
import type { ModelEntry } from '../../../../electron/contract/models';
import { selectCanAsk } from '../../../state/engine/selectors';
import type { DetailsOutcome } from '../../../state/models/state';
import { selectSavedContext } from '../../../state/settings/selectors';
import type { FitOutcome } from '../../../state/settings/state';
import { useActions, useApp } from '../../../state/useApp';

interface Asked {
  /** null: being asked */
  details: DetailsOutcome | null;
  /** null: being asked, or the engine cannot tell now */
  fit: FitOutcome | null;
  problem: ErrorPayload | null;
}

export function useDetails({ id, problem, defaults }: ModelEntry): Asked {
  const able = useApp(selectCanAsk);
  const context = useApp(selectSavedContext);
  const { models, settings } = useActions();
  const [details, setDetails] = useState<DetailsOutcome | null>(null);
  const [fit, setFit] = useState<FitOutcome | null>(null);
  const whole = problem === null;

  // biome-ignore lint/correctness/useExhaustiveDependencies: other settings are another question
  useEffect(() => {
    if (!whole) return;
    let dropped = false;
    void models.askDetails(id).then((answer) => !dropped && setDetails(answer));
    if (able) void settings.askDetails(id).then((answer) => answer && !dropped && setFit(answer));
    return () => {
      dropped = true;
    };
  }, [id, able, whole, context, defaults, models, settings]);

  const failed = [details, fit].find((outcome) => outcome?.ok === false);
  return { details, fit, problem: failed?.ok === false ? failed.error : null };
}
