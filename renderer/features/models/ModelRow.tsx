import { Check, TriangleAlert, X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ModelEntry } from '../../../electron/contract/models';
import { selectLoadedModelId, selectLoadProgress, selectStatus } from '../../state/engine/selectors';
import { selectSelectingId } from '../../state/models/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { formatBytes, formatContext, formatParameters } from '../../ui/format';
import { IconButton } from '../../ui/IconButton';
import { Progress } from '../../ui/Progress';
import { ModelFit } from './ModelFit';
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
  const isLoaded = loadedId === model.id && (state === 'ready' || state === 'generating');
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
        disabled={model.problem !== null || isLoading}
        aria-current={isLoaded || undefined}
        onClick={() => void (isLoaded ? undefined : models.select(model.id))}
        className="flex w-full items-start gap-2.5 rounded-lg px-2.5 py-2 pr-10 text-left"
      >
        <span className="mt-0.5 size-4 shrink-0 [&_svg]:size-4" aria-hidden="true">
          {isLoaded && <Check className="text-accent" />}
          {model.problem !== null && <TriangleAlert className="text-warn" />}
        </span>
        <span className="min-w-0 flex-1">
          <span className={cx('flex items-baseline gap-2', model.problem !== null && 'text-ink-3')}>
            <span className="truncate font-medium">{modelName(model)}</span>
            {model.defaults && (
              <span className="shrink-0 rounded border border-line-strong px-1 text-[0.6875rem] text-ink-3">
                own settings
              </span>
            )}
            {model.source === 'embedded' && (
              <span className="shrink-0 rounded border border-line-strong px-1 text-[0.6875rem] text-ink-3">
                built in
              </span>
            )}
          </span>
          <Facts model={model} />
          {!isLoaded && <ModelFit model={model} />}
          {model.problem !== null && <span className="mt-0.5 block text-xs text-warn">{model.problem}</span>}
          <span className="mt-0.5 block truncate text-xs text-ink-3" title={`${model.location}/${model.fileName}`}>
            {model.source === 'embedded'
              ? 'Small: answers direct questions about short texts'
              : `${model.fileName} in ${model.location}`}
            {model.places.length > 1 && `, and in ${model.places.length - 1} more`}
          </span>
        </span>
      </button>
      {isLoading && (
        <div className="flex items-center gap-3 px-9 pb-2.5">
          <Progress label={`Loading ${modelName(model)}`} share={progress} />
          <Button size="small" tone="quiet" onClick={() => void engine.cancelLoad()}>
            Cancel
          </Button>
        </div>
      )}
      {children}
      {model.source !== 'embedded' && !isLoading && (
        <span className="reveal absolute top-1.5 right-1.5">
          <IconButton
            label="Take off the list (the file stays)"
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

function Facts({ model }: { model: ModelEntry }) {
  const { info } = model;
  const facts = [
    formatBytes(model.fileBytes),
    ...(info
      ? [
          info.quantization,
          `${formatParameters(info.parameters)} parameters`,
          `${info.layers} layers`,
          `${formatContext(info.nCtxTrain)} context`,
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
