/** The form of a comparison, and below it those that were made. */
import { type ReactNode, useId } from 'react';
import { missingOf } from '../../state/compare/form';
import {
  selectCompareDocuments,
  selectCompareModelId,
  selectComparing,
  selectPlan,
  selectStarting,
} from '../../state/compare/selectors';
import type { CompareForm } from '../../state/compare/state';
import { selectModels } from '../../state/models/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { Select } from '../../ui/Select';
import { Configurations } from './Configurations';
import { Options } from './Options';
import { PromptField } from './PromptField';
import { RunList } from './RunList';

export function SetUp({ form }: { form: CompareForm }) {
  const models = useApp(selectModels);
  const modelId = useApp(selectCompareModelId);
  const { compare } = useActions();

  return (
    <div className="min-h-0 flex-1 overflow-y-auto" data-testid="compare-setup">
      <div className="mx-auto grid max-w-4xl grid-cols-1 gap-5 px-5 pt-1 pb-10">
        <p className="text-sm text-ink-2">
          One model, one prompt, a cache of each type: what it saves, and what it costs. Everything is measured on this
          machine.
        </p>
        <Part title="Model">
          {(id) => (
            <Select
              aria-labelledby={id}
              data-testid="compare-model"
              value={modelId ?? ''}
              onChange={(event) => compare.edit({ modelId: event.target.value })}
              className="w-full max-w-md"
            >
              {models?.map((model) => (
                <option key={model.id} value={model.id} disabled={model.problem !== null}>
                  {model.info?.name || model.fileName} {model.info?.quantization}
                </option>
              ))}
            </Select>
          )}
        </Part>
        <Part title="Prompt">{() => <PromptField form={form} />}</Part>
        <Part title="Configurations">{() => <Configurations form={form} />}</Part>
        <Options form={form} />
        <Start form={form} />
        <RunList />
      </div>
    </div>
  );
}

function Part({ title, children }: { title: string; children: (titleId: string) => ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h2 id={id} className="mb-2 text-sm font-medium text-ink">
        {title}
      </h2>
      {children(id)}
    </section>
  );
}

function Start({ form }: { form: CompareForm }) {
  const documents = useApp(selectCompareDocuments);
  const modelId = useApp(selectCompareModelId);
  const comparing = useApp(selectComparing);
  const starting = useApp(selectStarting);
  const plan = useApp(selectPlan);
  const { compare } = useActions();
  const together = plan?.outcome.ok ? plan.outcome.value.together : null;
  const missing = modelId === null ? 'Choose a model first.' : missingOf(form, documents);
  const why = comparing ? 'Another comparison is running.' : missing;
  const warning = form.together && together && !together.fits ? 'All contexts at once do not fit into the memory.' : '';

  return (
    <div className="flex flex-wrap items-center gap-3">
      <Button
        tone="primary"
        data-testid="compare-start"
        disabled={why !== null || starting}
        onClick={() => void compare.start()}
      >
        {starting ? 'Starting' : 'Compare'}
      </Button>
      {comparing && (
        <Button size="small" onClick={() => void compare.openRun(comparing)}>
          Show it
        </Button>
      )}
      <p role="status" className="text-xs text-ink-2" data-testid="compare-missing">
        {why ?? (warning || 'Answers of chats wait until it has ended.')}
      </p>
    </div>
  );
}
