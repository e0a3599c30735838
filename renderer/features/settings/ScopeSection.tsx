/**
 * Whether the model in use has settings of its own. What it has goes before what is set for all models. Its adapters and what its
 * template is told are always its own, and not among them here.
 */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { toast } from 'sonner';
import type { ModelEntry } from '../../../electron/contract/models';
import { type ModelDefaults, ownContextSchema, type Settings } from '../../../electron/contract/settings';
import { nothingOwn } from '../../state/appState';
import { selectCurrentModel } from '../../state/slices/models';
import { selectSettings } from '../../state/slices/settings';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { Segmented } from '../../ui/Segmented';

export function ScopeSection() {
  const model = useApp(selectCurrentModel);
  const settings = useApp(selectSettings);
  const { models } = useActions();
  if (!model || !settings) return null;
  const { id, defaults } = model;
  const own = defaults !== null && sharable(defaults).some((part) => part !== null);
  const saveAll = () => void models.setDefaults(id, defaultsOf(settings, defaults));

  return (
    <div className="grid justify-items-start gap-2" data-testid="settings-scope" data-own={own}>
      <Segmented
        name="settings-scope"
        label={t`Settings of`}
        value={own ? 'model' : 'all'}
        options={[
          { value: 'all', label: t`All models` },
          { value: 'model', label: t`This model` },
        ]}
        onValue={(scope) => (scope === 'model' ? saveAll() : void reset(model))}
      />
      <p className="text-xs leading-relaxed text-ink-3" role="status" data-testid="settings-scope-text">
        {scopeText(model)}
      </p>
      {own && !isWhole(defaults) && (
        <Button size="small" onClick={saveAll} data-testid="settings-scope-whole">
          <Trans>Sampling and system prompt, too</Trans>
        </Button>
      )}
    </div>
  );

  /** Nothing is lost: what the model had can be put back. */
  async function reset({ id, defaults }: ModelEntry): Promise<void> {
    const { template, adapters } = defaults ?? nothingOwn;
    if (!(await models.setDefaults(id, (template ?? adapters) && { ...nothingOwn, template, adapters }))) return;
    toast(t`This model now uses the settings of all models`, {
      duration: 10_000,
      action: { label: t`Undo`, onClick: () => void models.setDefaults(id, defaults) },
    });
  }
}

// What a model has of its own, as data and in words.

/** The settings as they are, as those of one model. */
function defaultsOf({ context, sampling, systemPrompt }: Settings, before: ModelDefaults | null): ModelDefaults {
  const { template, adapters } = before ?? nothingOwn;
  return { context: ownContextSchema.parse(context), sampling, systemPrompt, template, adapters };
}

function sharable({ context, sampling, systemPrompt }: ModelDefaults) {
  return [context, sampling, systemPrompt];
}

function isWhole(defaults: ModelDefaults): boolean {
  return sharable(defaults).every((part) => part !== null);
}

function scopeText({ info, fileName, defaults }: Pick<ModelEntry, 'info' | 'fileName' | 'defaults'>): string {
  const name = info?.name || fileName;
  if (!defaults || sharable(defaults).every((part) => part === null)) return t`${name} has what is set for all models.`;
  const parts = [
    ...(defaults.context ? [t`context, cache types and GPU layers`] : []),
    ...(defaults.sampling ? [t`sampling`] : []),
    ...(defaults.systemPrompt === null ? [] : [t`system prompt`]),
  ];
  const [first = '', second = '', third = ''] = parts;
  const two = second === '' ? first : t`${first} and ${second}`;
  const list = third === '' ? two : t`${first}, ${second} and ${third}`;
  return t`For ${name} alone: ${list}. They count whenever it is loaded, and changes here stay with it.`;
}
