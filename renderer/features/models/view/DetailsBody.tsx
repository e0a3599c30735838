/** What a model is made of, why it would run with other cache types than asked, how long a context fits, where it lies. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { X } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import type { MemoryEstimate } from '../../../../electron/contract/engine';
import type { ErrorPayload } from '../../../../electron/contract/errors';
import { typeFallbacks } from '../../../../electron/contract/fallbacks';
import type { ContextFit } from '../../../../electron/contract/fit';
import type { ModelDetails, ModelEntry, ModelInfo } from '../../../../electron/contract/models';
import type { ContextSettings } from '../../../../electron/contract/settings';
import type { Outcome } from '../../../state/appState';
import { selectCanAsk } from '../../../state/slices/engine';
import { canChat } from '../../../state/slices/models';
import { selectSavedContext } from '../../../state/slices/settings';
import { useActions, useApp } from '../../../state/useApp';
import { Button } from '../../../ui/Button';
import { formatBytes, formatCount, formatParameters } from '../../../ui/format';
import { DeleteModel } from '../DeleteModel';
import { LongestPicture } from '../discover/LongestPicture';

export function DetailsBody({ model }: { model: ModelEntry }) {
  const { details, fit, problem } = useDetails(model);
  const told = details?.ok ? details.value : null;

  return (
    <div className="min-h-0 flex-1 overflow-y-auto px-5 py-4">
      {model.problem !== null && (
        <p className="mb-4 text-sm text-warn">
          {model.problem.message} {model.problem.hint}
        </p>
      )}
      {problem && (
        <p role="alert" className="mb-4 text-xs text-warn">
          <Trans>
            Some details are missing: {problem.message} {problem.hint}
          </Trans>
        </p>
      )}
      <div className="grid gap-x-8 gap-y-6 md:grid-cols-2">
        {model.info && (
          <Part title={t`The model`}>
            <dl
              className="grid h-fit grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-xs tabular-nums"
              data-testid="model-facts"
            >
              {modelFacts(model, told).map(({ name, value }) => (
                <div key={name} className="contents">
                  <dt className="text-ink-3">{name}</dt>
                  <dd className="select-text text-ink [overflow-wrap:anywhere]">{value}</dd>
                </div>
              ))}
            </dl>
          </Part>
        )}
        <div className="grid h-fit min-w-0 gap-6">
          {told && fit?.ok && <CacheTypes estimate={fit.value.estimate} context={told.context} />}
          {told && fit?.ok && (
            // the picture stands on this ground
            <div className="rounded-lg border border-line bg-panel p-3">
              <LongestPicture fit={fit.value} context={told.context} />
            </div>
          )}
        </div>
      </div>
      <Places model={model} />
      {told?.template && (
        <details className="mt-6 text-xs" data-testid="model-template">
          <summary className="w-fit rounded-sm font-medium text-ink-2 hover:text-ink">
            <Trans>Chat template ({formatCount(told.template.length)} characters)</Trans>
          </summary>
          <pre className="mt-2 max-h-64 select-text overflow-auto rounded-md bg-sunken p-3 whitespace-pre-wrap text-ink-2">
            {told.template.text}
            {told.template.length > told.template.text.length && '…'}
          </pre>
        </details>
      )}
    </div>
  );
}

/** What was asked for, and why it would be something else. */
function CacheTypes({ estimate, context }: { estimate: MemoryEstimate; context: ContextSettings }) {
  const { typeK, typeV } = estimate;
  const changes = typeFallbacks(estimate, context.flashAttention);
  return (
    <Part title={t`Types of its cache`}>
      <p className="text-xs text-ink-2" data-testid="model-types">
        {changes.length === 0 ? (
          <Trans>
            Asked for: K {typeK.asked}, V {typeV.asked}. It runs with K {typeK.effective}, V {typeV.effective}, as
            asked.
          </Trans>
        ) : (
          <Trans>
            Asked for: K {typeK.asked}, V {typeV.asked}. It runs with K {typeK.effective}, V {typeV.effective}.
          </Trans>
        )}
      </p>
      {changes.length > 0 && (
        <ul className="mt-2 grid gap-2 rounded-md bg-warn-soft p-3 text-xs" data-testid="model-changes">
          {changes.map(({ id, what, why, advice }) => (
            <li key={id}>
              <p className="font-medium text-warn">{what}</p>
              <p className="text-ink-2">
                {why} {advice}
              </p>
            </li>
          ))}
        </ul>
      )}
    </Part>
  );
}

interface Fact {
  name: string;
  value: string;
}

/** What the header of a model says, one line each. `details` null: not read yet. */
function modelFacts({ info, fileBytes }: Pick<ModelEntry, 'info' | 'fileBytes'>, details: ModelDetails | null): Fact[] {
  if (!info) return [];
  const facts: FactPair[] = [
    [t`Architecture`, info.architecture],
    [t`Parameters`, formatParameters(info.parameters)],
    [t`Weights`, `${info.quantization}, ${formatBytes(fileBytes)}`],
    ...(info.adapter ? adapterFacts(info.adapter) : wholeFacts(info, details)),
    details?.author ? [t`Author`, details.author] : null,
    details?.baseModel ? [t`Made from`, details.baseModel] : null,
    [t`License`, info.license ?? details?.licenseLink ?? t`not stated`],
    details?.sha256 ? ['SHA-256', details.sha256] : null,
  ];
  return facts.flatMap((fact) => (fact ? [{ name: fact[0], value: fact[1] }] : []));
}

type FactPair = readonly [name: string, value: string] | null;

function adapterFacts({ rank, alpha, base }: NonNullable<ModelInfo['adapter']>): FactPair[] {
  return [[t`Kind`, t`LoRA adapter, rank ${rank}, alpha ${alpha}`], base === null ? null : [t`Made for`, base]];
}

function wholeFacts(info: ModelInfo, details: ModelDetails | null): FactPair[] {
  const { headCount, headCountKv, headDimK, headDimV } = info;
  return [
    [t`Layers`, formatCount(info.layers)],
    [
      t`Heads`,
      headCount === headCountKv ? formatCount(headCount) : t`${headCount}, of them ${headCountKv} for K and V`,
    ],
    [t`Head size`, headDimK === headDimV ? t`${headDimK} values` : t`K ${headDimK}, V ${headDimV} values`],
    details?.experts ? [t`Experts`, expertsText(details.experts)] : null,
    [t`Trained context`, info.nCtxTrain > 0 ? t`${formatCount(info.nCtxTrain)} tokens` : t`not stated`],
    details?.slidingWindow
      ? [t`Sliding window`, t`${formatCount(details.slidingWindow)} tokens, in some layers`]
      : null,
    [t`Vocabulary`, t`${formatCount(info.vocabSize)} tokens`],
    info.pooling === null
      ? [t`Chat template`, info.hasChatTemplate ? t`its own` : t`none: ChatML stands in`]
      : [t`Pooling`, info.pooling],
    [t`K projection`, info.hasKBias ? t`with a bias` : t`without a bias`],
  ];
}

function expertsText({ count, used }: NonNullable<ModelDetails['experts']>): string {
  return used === null ? formatCount(count) : t`${formatCount(count)}, of which ${formatCount(used)} work on a token`;
}

export function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="min-w-0">
      <h3 className="mb-2 text-sm font-semibold text-ink">{title}</h3>
      {children}
    </section>
  );
}

// Every file of a model with its ways out: off the list, or deleted.

function Places({ model }: { model: ModelEntry }) {
  const { models } = useActions();
  if (model.source === 'embedded') return null;
  const several = model.places.length > 1;

  return (
    <div className="mt-6">
      <Part title={several ? t`The same file in ${model.places.length} places` : t`Where it lies`}>
        <ul className="grid gap-1.5">
          {model.places.map((place) => (
            <li
              key={place.id}
              className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs"
              data-testid="model-place"
            >
              <span className="min-w-40 flex-1 select-text text-ink-2 [overflow-wrap:anywhere]">
                <Trans>
                  {place.fileName} in {place.location}
                </Trans>
                {place.app && (
                  <span className="text-ink-3">
                    {' '}
                    <Trans>(of {place.app})</Trans>
                  </span>
                )}
              </span>
              <Button size="small" tone="quiet" onClick={() => void models.removePlace(place.id)}>
                <X className="size-3.5" aria-hidden="true" />
                <Trans>Take off the list (the file stays)</Trans>
              </Button>
              <DeleteModel model={model} place={place} />
            </li>
          ))}
        </ul>
        {several && (
          <p className="mt-1.5 text-xs text-ink-3">
            <Trans>
              Each takes {formatBytes(model.fileBytes)}, unless one is a link to another. The first is used.
            </Trans>
          </p>
        )}
      </Part>
    </div>
  );
}

// What is asked about a model when its dialog is opened.

interface Asked {
  /** null: being asked */
  details: Outcome<ModelDetails> | null;
  /** null: being asked, or the engine cannot tell now */
  fit: Outcome<ContextFit> | null;
  problem: ErrorPayload | null;
}

function useDetails(model: ModelEntry): Asked {
  const { id, problem, defaults } = model;
  // of a model that does not chat no context is planned
  const able = useApp(selectCanAsk) && canChat(model);
  const context = useApp(selectSavedContext);
  const { models, settings } = useActions();
  const [details, setDetails] = useState<Outcome<ModelDetails> | null>(null);
  const [fit, setFit] = useState<Outcome<ContextFit> | null>(null);
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
