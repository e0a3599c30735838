/** Whether the model in use has settings of its own. What it has goes before what is set for all models. */
import { toast } from 'sonner';
import type { ModelEntry } from '../../../electron/contract/models';
import { selectCurrentModel } from '../../state/models/selectors';
import { selectSettings } from '../../state/settings/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { Segmented } from '../../ui/Segmented';
import { defaultsOf, isWhole, scopeText } from './scope';

const scopes = [
  { value: 'all', label: 'All models' },
  { value: 'model', label: 'This model' },
] as const;

export function ScopeSection() {
  const model = useApp(selectCurrentModel);
  const settings = useApp(selectSettings);
  const { models } = useActions();
  if (!model || !settings) return null;
  const { id, defaults } = model;
  const saveAll = () => void models.setDefaults(id, defaultsOf(settings));

  return (
    <div className="grid justify-items-start gap-2" data-testid="settings-scope" data-own={defaults !== null}>
      <Segmented
        name="settings-scope"
        label="Settings of"
        value={defaults ? 'model' : 'all'}
        options={scopes}
        onValue={(scope) => (scope === 'model' ? saveAll() : void reset(model))}
      />
      <p className="text-xs leading-relaxed text-ink-3" role="status" data-testid="settings-scope-text">
        {scopeText(model)}
      </p>
      {defaults && !isWhole(defaults) && (
        <Button size="small" onClick={saveAll} data-testid="settings-scope-whole">
          Sampling and system prompt, too
        </Button>
      )}
    </div>
  );

  /** Nothing is lost: what the model had can be put back. */
  async function reset({ id, defaults }: ModelEntry): Promise<void> {
    if (!(await models.setDefaults(id, null))) return;
    toast('This model now uses the settings of all models', {
      duration: 10_000,
      action: { label: 'Undo', onClick: () => void models.setDefaults(id, defaults) },
    });
  }
}
