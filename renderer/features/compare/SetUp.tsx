/** The form of a comparison, and below it those that were made. */
import { type ReactNode, useId } from 'react';
import {
  selectCompareDocuments,
  selectCompareModelId,
  selectComparing,
  selectLongestContext,
  selectPlan,
  selectStarting,
} from '../../state/compare/selectors';
import type { CompareForm } from '../../state/compare/state';
import { missingOf, planKey } from '../../state/lib/compareForm';
import { selectModels } from '../../state/models/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { Select } from '../../ui/Select';
import { Configurations } from './Configurations';
import { Options } from './Options';
import { PromptField } from './PromptField';
import { type PromptRoom, promptRoom } from './promptRoom';
import { RunList } from './RunList';
import { startWarning } from './startWarning';
import { usePromptTokens } from './usePromptTokens';

export function SetUp({ form }: { form: CompareForm }) {
  const models = useApp(selectModels);
  const modelId = useApp(selectCompareModelId);
  const longest = useApp(selectLongestContext);
  const tokens = usePromptTokens(form);
  const room = tokens === null ? null : promptRoom(form, tokens, longest);
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
              {modelId === null && (
                <option value="" disabled>
                  {models?.length === 0 ? 'No model is here yet' : 'Choose a model'}
                </option>
              )}
              {models?.map((model) => (
                <option key={model.id} value={model.id} disabled={model.problem !== null}>
                  {model.info?.name || model.fileName} {model.info?.quantization}
                </option>
              ))}
            </Select>
          )}
        </Part>
        <Part title="Prompt">{() => <PromptField form={form} />}</Part>
        <Part title="Configurations">{() => <Configurations form={form} room={room} />}</Part>
        <Options form={form} />
        <Start form={form} room={room} />
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

function Start({ form, room }: { form: CompareForm; room: PromptRoom | null }) {
  const documents = useApp(selectCompareDocuments);
  const modelId = useApp(selectCompareModelId);
  const comparing = useApp(selectComparing);
  const starting = useApp(selectStarting);
  const plan = useApp(selectPlan);
  const { compare } = useActions();
  // figures of other rows, or of another model, warn of nothing
  const known =
    plan?.outcome.ok && modelId !== null && plan.key === planKey(modelId, form.rows) ? plan.outcome.value : null;
  const missing = modelId === null ? 'Choose a model first.' : missingOf(form, documents);
  const why = comparing ? 'Another comparison is running.' : missing;
  const warning = startWarning(form, known, room);

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
      <p
        role="status"
        className={cx('text-xs', why === null && warning ? 'text-warn' : 'text-ink-2')}
        data-testid="compare-missing"
      >
        {why ?? warning ?? 'Answers of chats wait until it has ended.'}
      </p>
    </div>
  );
}
