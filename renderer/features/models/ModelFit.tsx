/** Whether a model fits into the memory now, asked when the list is opened. */
import { useEffect, useState } from 'react';
import type { ContextFit } from '../../../electron/contract/fit';
import type { ModelEntry } from '../../../electron/contract/models';
import { shortBudget } from '../../../electron/contract/offers';
import { selectCanAsk } from '../../state/engine/selectors';
import { selectSavedContext } from '../../state/settings/selectors';
import { useActions, useApp } from '../../state/useApp';
import { cx } from '../../ui/cx';
import { modelFitText } from './modelFitText';

export function ModelFit({ model }: { model: ModelEntry }) {
  const fit = useModelFit(model);
  if (!fit) return null;
  const short = shortBudget(fit.budgets);
  return (
    <span
      className={cx('mt-0.5 block text-xs tabular-nums', short ? 'text-warn' : 'text-ink-3')}
      data-testid="model-fit"
      data-fits={fit.fits}
    >
      {modelFitText(fit)}
    </span>
  );
}

/** null: being asked, or the engine cannot tell */
function useModelFit({ id, problem, defaults }: ModelEntry): ContextFit | null {
  const context = useApp(selectSavedContext);
  const able = useApp(selectCanAsk) && problem === null;
  const { settings } = useActions();
  const [fit, setFit] = useState<ContextFit | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: other settings are another question
  useEffect(() => {
    if (!able) return;
    let dropped = false;
    void settings
      .askModel(id, () => !dropped)
      .then((answer) => {
        if (!dropped) setFit(answer);
      });
    return () => {
      dropped = true;
    };
  }, [id, able, context, defaults, settings]);

  return fit;
}
