/** The form of a comparison, and below it those that were made. */

import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Plus, RotateCw, Trash2 } from 'lucide-react';
import { type ReactNode, useEffect, useId, useMemo, useState } from 'react';
import {
  type ComparePlan,
  type ComparePrompt,
  type CompareSummary,
  maxConfigurations,
} from '../../../electron/contract/compare/compare';
import { i18n } from '../../language';
import type { CompareForm } from '../../state/appState';
import { missingOf, missingOfPrompt, otherModelsOf, planKey, promptOf } from '../../state/lib/compareForm';
import {
  selectCompareDocuments,
  selectCompareModelId,
  selectComparing,
  selectHasOtherModels,
  selectLongestContext,
  selectPlan,
  selectRuns,
  selectStarting,
} from '../../state/slices/compare';
import { selectCanAnswer, selectLoadedModelId } from '../../state/slices/engine';
import { canChat, selectModels } from '../../state/slices/models';
import { selectSettings } from '../../state/slices/settings';
import { useActions, useApp } from '../../state/useApp';
import { Button, IconButton } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { Confirm } from '../../ui/Dialog';
import { formatMoment, typesText } from '../../ui/format';
import { useDebounced } from '../../ui/hooks';
import { Menu, MenuItem } from '../../ui/Menu';
import { Select } from '../../ui/Select';
import { CheckModel } from './CheckModel';
import { Configurations, modelLabel } from './Configurations';
import { runStateNames } from './columnText';
import { Options } from './Options';
import { PromptField } from './PromptField';
import { type PromptRoom, promptRoom } from './promptRoom';

export function SetUp({ form }: { form: CompareForm }) {
  const models = useApp(selectModels)?.filter(canChat);
  const modelId = useApp(selectCompareModelId);
  const several = useApp(selectHasOtherModels);
  const longest = useApp(selectLongestContext);
  const tokens = usePromptTokens(form);
  const room = tokens === null ? null : promptRoom(form, tokens, longest);
  const { compare } = useActions();

  return (
    <div className="min-h-0 flex-1 overflow-y-auto" data-testid="compare-setup">
      <div className={cx('mx-auto grid grid-cols-1 gap-5 px-5 pt-1 pb-10', several ? 'max-w-5xl' : 'max-w-4xl')}>
        <p className="text-sm text-ink-2">
          <Trans>
            One prompt, a cache of each type, on one model or several: what each saves, and what it costs. Everything is
            measured on this machine.
          </Trans>
        </p>
        <Part title={t`Model`}>
          {(id) => (
            <div className="flex flex-wrap items-center gap-2">
              <Select
                aria-labelledby={id}
                data-testid="compare-model"
                value={modelId ?? ''}
                onChange={(event) => compare.setModel(event.target.value)}
                className="w-full max-w-md"
              >
                {modelId === null && (
                  <option value="" disabled>
                    {models?.length === 0 ? t`No model is here yet` : t`Choose a model`}
                  </option>
                )}
                {models?.map((model) => (
                  <option key={model.id} value={model.id} disabled={model.problem !== null}>
                    {modelLabel(model)}
                  </option>
                ))}
              </Select>
              <AddModel form={form} />
            </div>
          )}
        </Part>
        <Part title={t`Types that keep what it can do`}>{() => <CheckModel />}</Part>
        <Part title={t`Prompt`}>{() => <PromptField form={form} />}</Part>
        <Part title={t`Configurations`}>{() => <Configurations form={form} room={room} />}</Part>
        <Options form={form} />
        <Start form={form} room={room} />
        <RunList />
      </div>
    </div>
  );
}

/** Another model, or another quant of this one, under the types of the reference. */
function AddModel({ form }: { form: CompareForm }) {
  const models = useApp(selectModels)?.filter(canChat);
  const modelId = useApp(selectCompareModelId);
  const others = otherModelsOf(form, modelId);
  const { compare } = useActions();
  const offered = models?.filter(({ id, problem }) => problem === null && id !== modelId && !others.includes(id)) ?? [];
  if (modelId === null || offered.length === 0 || form.rows.length >= maxConfigurations) return null;
  return (
    <Menu
      align="start"
      trigger={
        <Button size="small" data-testid="compare-add-model">
          <Plus className="size-3.5" aria-hidden="true" />
          <Trans>Another model beside it</Trans>
        </Button>
      }
    >
      {offered.map((model) => (
        <MenuItem key={model.id} onSelect={() => compare.addModel(model.id)}>
          {modelLabel(model)}
        </MenuItem>
      ))}
    </Menu>
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
  const missing = modelId === null ? t`Choose a model first.` : missingOf(form, documents);
  const why = comparing ? t`Another comparison is running.` : missing;
  const several = useApp(selectHasOtherModels);
  const warning = startWarning({ ...form, together: form.together && !several }, known, room);

  return (
    <div className="flex flex-wrap items-center gap-3">
      <Button
        tone="primary"
        data-testid="compare-start"
        disabled={why !== null || starting}
        onClick={() => void compare.start()}
      >
        {starting ? t`Starting` : t`Compare`}
      </Button>
      {comparing && (
        <Button size="small" onClick={() => void compare.openRun(comparing)}>
          <Trans>Show it</Trans>
        </Button>
      )}
      <p
        role="status"
        className={cx('text-xs', why === null && warning ? 'text-warn' : 'text-ink-2')}
        data-testid="compare-missing"
      >
        {why ?? warning ?? t`Answers of chats wait until it has ended.`}
      </p>
    </div>
  );
}

// All comparisons that were made, newest first.

function RunList() {
  const runs = useApp(selectRuns);
  const { compare } = useActions();
  const [asked, setAsked] = useState<CompareSummary | null>(null);
  if (!runs || runs.length === 0) return null;

  return (
    <section aria-labelledby="compare-runs">
      <h2 id="compare-runs" className="mb-2 text-sm font-medium text-ink">
        <Trans>Earlier comparisons</Trans>
      </h2>
      <ul className="rounded-lg border border-line bg-raised" data-testid="compare-runs">
        {runs.map((run) => (
          <Item key={run.id} run={run} onRemove={() => setAsked(run)} />
        ))}
      </ul>
      <Confirm
        title={t`Remove “${asked?.name ?? ''}”?`}
        description={t`Its figures and answers are deleted from this computer. Export it first to keep them.`}
        action={t`Remove`}
        open={asked !== null}
        onOpenChange={(open) => !open && setAsked(null)}
        onConfirm={() => asked && void compare.remove(asked.id)}
      />
    </section>
  );
}

function Item({ run, onRemove }: { run: CompareSummary; onRemove: () => void }) {
  const busy = useApp(selectComparing) !== null;
  const { compare } = useActions();
  const types = [...new Set(run.configurations.map(({ typeK, typeV }) => typesText(typeK, typeV)))].join(', ');
  const facts = [
    formatMoment(run.createdAt),
    run.modelName,
    types,
    run.state === 'done' ? '' : i18n._(runStateNames[run.state]),
  ];
  return (
    <li className="flex items-center gap-1 border-line pe-2 not-first:border-t" data-testid="compare-run-item">
      <button
        type="button"
        className="min-w-0 flex-1 px-4 py-2 text-start hover:bg-hover"
        onClick={() => void compare.openRun(run.id)}
      >
        <span dir="auto" className="block truncate text-start text-sm text-ink">
          {run.name}
        </span>
        <span className="block truncate text-xs text-ink-3">{facts.filter(Boolean).join(' · ')}</span>
      </button>
      <IconButton
        label={t`Run ${run.name} again`}
        icon={<RotateCw />}
        size="small"
        disabled={busy}
        onClick={() => void compare.rerun(run.id)}
      />
      <IconButton label={t`Remove ${run.name}`} icon={<Trash2 />} size="small" onClick={onRemove} />
    </li>
  );
}

/** What would go wrong if it were started as it is, as a sentence; null: nothing that is known. */
export function startWarning(form: CompareForm, plan: ComparePlan | null, room: PromptRoom | null): string | null {
  const large = plan?.columns.filter(({ fits }) => !fits).length ?? 0;
  if (large > 0) {
    return plural(large, {
      one: 'One configuration does not fit into the memory.',
      other: '# configurations do not fit into the memory.',
    });
  }
  if (form.together && plan && !plan.together.fits) return t`All contexts at once do not fit into the memory.`;
  const short = room?.problems.filter((problem) => problem === 'too-short').length ?? 0;
  if (short === 0) return null;
  return plural(short, {
    one: 'One configuration is too short for the prompt.',
    other: '# configurations are too short for the prompt.',
  });
}

// Keeps the length of the prompt current while it is written, where the model that counts it is loaded.

const restMs = 400;

/** Tokens; null: not counted. */
function usePromptTokens(form: CompareForm): number | null {
  const modelId = useApp(selectCompareModelId);
  const loadedId = useApp(selectLoadedModelId);
  const able = useApp(selectCanAnswer) && modelId !== null && modelId === loadedId;
  const systemPrompt = useApp(selectSettings)?.systemPrompt;
  const documents = useApp(selectCompareDocuments);
  const { compare } = useActions();
  const { kind, text, asIs, question, chat } = form;
  // biome-ignore lint/correctness/useExhaustiveDependencies: these are all that a prompt is made of
  const prompt = useMemo(
    () => (missingOfPrompt(form, documents) === null ? promptOf(form, documents) : null),
    [kind, text, asIs, question, chat, documents],
  );
  const rested = useDebounced(prompt, restMs);
  const [counted, setCounted] = useState<{ prompt: ComparePrompt; tokens: number | null } | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another system prompt makes another length
  useEffect(() => {
    if (!able || rested === null) return;
    let dropped = false;
    void compare.count(modelId, rested).then((tokens) => !dropped && setCounted({ prompt: rested, tokens }));
    return () => {
      dropped = true;
    };
  }, [able, modelId, rested, systemPrompt, compare]);

  return able && counted?.prompt === prompt ? counted.tokens : null;
}
