/** The model in use, and behind it the list of all that can be used. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { ChevronDown, Search } from 'lucide-react';
import type { ModelEntry, ModelInfo } from '../../../electron/contract/models';
import { selectEngineState, selectLoadedModel, selectLoadProgress } from '../../state/slices/engine';
import { canChat, selectCurrentModel, selectFileGone, selectModels } from '../../state/slices/models';
import { selectPickerOpen } from '../../state/slices/ui';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { formatPercent } from '../../ui/format';
import { Popover } from '../../ui/Popover';
import { Logo } from '../../ui/pictures/Bellows';
import { AddModels } from './AddModels';
import { Deleted } from './DeleteModel';
import { ModelRow } from './ModelRow';
import { modelName } from './modelText';

export function ModelPicker() {
  const open = useApp(selectPickerOpen);
  const model = useApp(selectCurrentModel);
  const state = useApp(selectEngineState);
  const progress = useApp(selectLoadProgress);
  const loaded = useApp(selectLoadedModel);
  const gone = useApp(selectFileGone);
  const { models, ui } = useActions();
  const loading = state === 'loading' || state === 'starting' || state === 'restarting';

  return (
    <Popover
      label={t`Models`}
      side="bottom"
      align="end"
      open={open}
      onOpenChange={(next) => {
        ui.setPicker(next);
        if (!next) models.forgetRefused();
      }}
      className="w-[min(30rem,calc(100vw-1.25rem))]"
      trigger={
        <button
          type="button"
          data-testid="model-picker"
          title={gone ? fileGone() : undefined}
          className="flex h-8 max-w-72 min-w-0 items-center gap-2 rounded-md px-2.5 text-sm text-ink-2 transition-colors hover:bg-hover hover:text-ink aria-expanded:bg-hover"
        >
          {loading ? (
            <Logo className="size-4.5" working />
          ) : (
            <span
              aria-hidden="true"
              className={cx(
                'size-2 shrink-0 rounded-full',
                gone ? 'bg-warn' : state === 'ready' || state === 'generating' ? 'bg-good' : 'bg-bad',
              )}
            />
          )}
          <span className="sr-only">
            <Trans>Model:</Trans>{' '}
          </span>
          <span className="truncate font-medium">{nameOf(gone ? null : model, loaded)}</span>
          {gone && (
            <span className="shrink-0 text-warn">
              <Trans>file gone</Trans>
            </span>
          )}
          {state === 'loading' && progress !== null && (
            <span className="text-ink-3 tabular-nums">{formatPercent(progress)}</span>
          )}
          {model?.info && !loading && <span className="hidden text-ink-3 sm:inline">{model.info.quantization}</span>}
          {gone && (
            <span className="sr-only">
              {'. '}
              <Trans>The file is gone; it keeps working</Trans>
            </span>
          )}
          {model && (
            <span className="sr-only">
              {'. '}
              <Trans>Choose another</Trans>
            </span>
          )}
          <ChevronDown className="size-3.5 shrink-0 text-ink-3" aria-hidden="true" />
        </button>
      }
    >
      <ModelList />
    </Popover>
  );
}

function fileGone(): string {
  return t`The file is gone; it keeps working until you choose another model.`;
}

/** Of a file that is gone nothing is known but what was loaded. */
function nameOf(listed: ModelEntry | null, loaded: ModelInfo | null): string {
  return listed ? modelName(listed) : (loaded?.name ?? t`Choose a model`);
}

function ModelList() {
  const { ui } = useActions();
  const models = useApp(selectModels)?.filter(canChat);
  const gone = useApp(selectFileGone);
  const onlyEmbedded = models?.every((model) => model.source === 'embedded') ?? false;

  return (
    <div className="flex flex-col">
      {gone && (
        <p className="border-b border-line bg-warn-soft px-4 py-2.5 text-sm text-ink" data-testid="model-gone">
          {fileGone()}
        </p>
      )}
      <ul className="max-h-[min(26rem,55vh)] overflow-y-auto p-1.5" aria-label={t`Models`}>
        {models?.map((model) => (
          <ModelRow key={model.id} model={model} />
        ))}
        {models?.length === 0 && (
          <li className="px-3 py-4 text-sm text-ink-3">
            <Trans>No models yet.</Trans>
          </li>
        )}
        <Deleted />
      </ul>
      {onlyEmbedded && (
        <p className="px-4 pb-3 text-xs leading-relaxed text-ink-3">
          <Trans>
            The built-in model is for trying things. Add a GGUF file of any size that this computer can hold; the file
            stays where it is.
          </Trans>
        </p>
      )}
      <div className="border-t border-line px-3 py-3">
        <Button tone="primary" size="small" data-testid="models-open" onClick={() => ui.showModels('discover')}>
          <Search className="size-3.5" aria-hidden="true" />
          <Trans>Find a model…</Trans>
        </Button>
      </div>
      <AddModels />
    </div>
  );
}
