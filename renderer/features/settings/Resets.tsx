/** The ways back to what a fresh start has. Each is there only while something differs. */
import { useShallow } from 'zustand/shallow';
import type { SamplingSettings } from '../../../electron/contract/settings';
import { selectLoadedModel } from '../../state/engine/selectors';
import { isSame } from '../../state/presets/match';
import { selectEditedContext } from '../../state/settings/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { defaultContextFor, defaultSampling } from './defaults';

/** Puts the defaults into the draft: like every edit of the context they wait for "Apply". */
export function ResetContext() {
  const context = useApp(useShallow(selectEditedContext));
  const defaults = defaultContextFor(useApp(selectLoadedModel)?.nCtxTrain ?? null);
  const { settings } = useActions();
  if (!context || isSame(context, defaults)) return null;
  return <Reset testId="settings-reset-context" onReset={() => settings.editContext(defaults)} />;
}

export function ResetSampling({ sampling }: { sampling: SamplingSettings }) {
  const { settings } = useActions();
  if (isSame(sampling, defaultSampling)) return null;
  return <Reset testId="settings-reset-sampling" onReset={() => void settings.update({ sampling: defaultSampling })} />;
}

function Reset({ testId, onReset }: { testId: string; onReset: () => void }) {
  return (
    <Button size="small" tone="quiet" className="justify-self-start" onClick={onReset} data-testid={testId}>
      Back to the defaults
    </Button>
  );
}
