import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Check, TriangleAlert, X } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { type ContextFit, shortBudget } from '../../../electron/contract/fit';
import { allocatedBytes } from '../../../electron/contract/lib/memory';
import type { ModelEntry } from '../../../electron/contract/models';
import {
  selectCanAsk,
  selectLoadedModel,
  selectLoadedModelId,
  selectLoadProgress,
  selectStatus,
} from '../../state/slices/engine';
import { canChat, selectSelectingId } from '../../state/slices/models';
import { selectSavedContext, selectSettings } from '../../state/slices/settings';
import { useActions, useApp } from '../../state/useApp';
import { Button, IconButton } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { formatBytes, formatContext, formatParameters } from '../../ui/format';
import { Progress } from '../../ui/Progress';
import { DeleteModel } from './DeleteModel';
import { modelName } from './modelText';

interface ModelRowProps {
  model: ModelEntry;
  /** below the facts */
  children?: ReactNode;
}

export function ModelRow({ model, children }: ModelRowProps) {
  const loadedId = useApp(selectLoadedModelId);
  const selecting = useApp(selectSelectingId) === model.id;
  const state = useApp(selectStatus)?.state;
  const progress = useApp(selectLoadProgress);
  const { models, engine } = useActions();
  // of several places one has to be chosen: in the details
  const only = model.places.length === 1 ? model.places[0] : undefined;
  const isLoaded = loadedId === model.id && (state === 'ready' || state === 'generating');
  const chats = canChat(model);
  const isLoading = selecting || (loadedId === model.id && state === 'loading');

  return (
    <li
      data-testid="model-item"
      data-model-id={model.id}
      data-loaded={isLoaded || undefined}
      className={cx('group relative rounded-lg', isLoaded ? 'bg-accent-soft' : 'hover:bg-hover')}
    >
      <button
        type="button"
        disabled={model.problem !== null || isLoading || !chats}
        aria-current={isLoaded || undefined}
        onClick={() => void (isLoaded ? undefined : models.select(model.id))}
        className="flex w-full items-start gap-2.5 rounded-lg px-2.5 py-2 pe-18 text-start"
      >
        <span className="mt-0.5 size-4 shrink-0 [&_svg]:size-4" aria-hidden="true">
          {isLoaded && <Check className="text-accent" />}
          {model.problem !== null && <TriangleAlert className="text-warn" />}
        </span>
        <span className="min-w-0 flex-1">
          <span className={cx('flex items-baseline gap-2', model.problem !== null && 'text-ink-3')}>
            <span className="truncate font-medium">{modelName(model)}</span>
            {!chats && (
              <span className="shrink-0 rounded border border-line-strong px-1 text-[0.6875rem] text-ink-3">
                {kindText(model)}
              </span>
            )}
            {model.defaults && (
              <span className="shrink-0 rounded border border-line-strong px-1 text-[0.6875rem] text-ink-3">
                <Trans>own settings</Trans>
              </span>
            )}
            {model.source === 'embedded' && (
              <span className="shrink-0 rounded border border-line-strong px-1 text-[0.6875rem] text-ink-3">
                <Trans>built in</Trans>
              </span>
            )}
          </span>
          <Facts model={model} />
          {!isLoaded && chats && <ModelFit model={model} />}
          {model.problem !== null && (
            <span className="mt-0.5 block text-xs text-warn">
              {model.problem.message} {model.problem.hint}
            </span>
          )}
          <span className="mt-0.5 block truncate text-xs text-ink-3" title={`${model.location}/${model.fileName}`}>
            {placeText(model)}
          </span>
        </span>
      </button>
      {isLoading && (
        <div className="flex items-center gap-3 px-9 pb-2.5">
          <Progress label={t`Loading ${modelName(model)}`} share={progress} />
          <Button size="small" tone="quiet" onClick={() => void engine.cancelLoad()}>
            <Trans>Cancel</Trans>
          </Button>
        </div>
      )}
      {!chats && (model.info?.adapter ? <AdapterUse model={model} /> : <EmbeddingUse model={model} />)}
      {children}
      {model.source !== 'embedded' && !isLoading && (
        <span className="reveal absolute top-1.5 end-1.5 flex">
          {only && <DeleteModel model={model} place={only} small />}
          <IconButton
            label={t`Take off the list (the file stays)`}
            icon={<X />}
            size="small"
            side="left"
            onClick={() => void models.remove(model)}
          />
        </span>
      )}
    </li>
  );
}

function kindText({ info }: ModelEntry): string {
  if (info?.adapter) return t`LoRA adapter`;
  return info?.pooling === 'rank' ? t`ranking model` : t`embedding model`;
}

function placeText({ source, fileName, location, places }: ModelEntry): string {
  if (source === 'embedded') return t`Small: answers direct questions about short texts`;
  return plural(places.length - 1, {
    0: `${fileName} in ${location}`,
    one: `${fileName} in ${location}, and in # more`,
    other: `${fileName} in ${location}, and in # more`,
  });
}

/** What it is for, and whether the model in use can have it. */
function AdapterUse({ model: { info } }: { model: ModelEntry }) {
  const { ui } = useActions();
  const fits = useApp(selectLoadedModel)?.architecture === info?.architecture;
  function open(): void {
    ui.showModels(null);
    ui.showSettings('advanced');
  }
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-9 pb-2 text-xs text-ink-2">
      <span>
        {info?.adapter?.base
          ? t`Made for ${info.adapter.base}, whose answers it changes: choose it in the settings of that model.`
          : t`Changes the answers of a model of its architecture: choose it in the settings of that model.`}
      </span>
      {fits && (
        <Button size="small" data-testid="adapter-settings" onClick={open}>
          <Trans>Settings of the model</Trans>
        </Button>
      )}
    </div>
  );
}

// A model that makes vectors of texts cannot chat; it can find passages of documents.

function EmbeddingUse({ model }: { model: ModelEntry }) {
  const chosen = useApp(selectSettings)?.documents.searchModel ?? null;
  const { settings } = useActions();
  if (model.info?.pooling === 'rank')
    return (
      <p className="px-9 pb-2 text-xs text-ink-2">
        <Trans>Ranks texts and cannot chat. This app has no use for it.</Trans>
      </p>
    );
  const isChosen = model.places.some(({ id }) => id === chosen);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-9 pb-2 text-xs text-ink-2">
      <span>
        {isChosen ? t`Used for searching documents.` : t`Cannot chat, but may help to find passages of documents.`}
      </span>
      <Button
        size="small"
        data-testid="use-for-search"
        disabled={model.problem !== null}
        onClick={() => void settings.update({ documents: { searchModel: isChosen ? null : model.id } })}
      >
        {isChosen ? t`Do not use` : t`Use for searching documents`}
      </Button>
    </div>
  );
}

function Facts({ model }: { model: ModelEntry }) {
  const { info } = model;
  const facts = [
    formatBytes(model.fileBytes),
    ...(info
      ? [
          info.quantization,
          t`${formatParameters(info.parameters)} parameters`,
          ...(info.adapter
            ? [t`for ${info.architecture}`, t`rank ${info.adapter.rank}`]
            : [
                plural(info.layers, { one: '# layer', other: '# layers' }),
                t`${formatContext(info.nCtxTrain)} context`,
              ]),
        ]
      : []),
  ];
  return (
    <span className="mt-0.5 flex flex-wrap gap-x-3 text-xs text-ink-2 tabular-nums">
      {facts.map((fact) => (
        <span key={fact}>{fact}</span>
      ))}
    </span>
  );
}

// Whether a model fits into the memory now, asked when the list is opened.

function ModelFit({ model }: { model: ModelEntry }) {
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

/** "Takes 5.60 GiB with these settings: fits." */
function modelFitText({ estimate, budgets, fits }: ContextFit): string {
  const size = formatBytes(allocatedBytes(estimate));
  const short = shortBudget(budgets);
  if (short) {
    const free = formatBytes(Math.max(0, short.available));
    return t`Takes ${size} with the settings as they are: does not fit, ${free} are free.`;
  }
  return fits ? t`Takes ${size} with the settings as they are: fits.` : t`Takes ${size} with the settings as they are.`;
}
