import { useShallow } from 'zustand/shallow';
import { limits } from '../../../electron/contract/limits';
import { selectCapabilities, selectLoadedContext, selectLoadedModel } from '../../state/slices/engine';
import { selectEditedContext } from '../../state/slices/settings';
import { useActions, useApp } from '../../state/useApp';
import { Field } from '../../ui/Field';
import { NumberField } from '../../ui/NumberField';
import { Segmented } from '../../ui/Segmented';
import { speculationNames } from './changesText';

const flashOptions = [
  { value: 'auto', label: 'Auto' },
  { value: 'on', label: 'On' },
  { value: 'off', label: 'Off' },
] as const;

const speculationOptions = [
  { value: 'off', label: speculationNames.off },
  { value: 'ngram', label: speculationNames.ngram },
] as const;

export function EngineSection() {
  const context = useApp(useShallow(selectEditedContext));
  const cores = useApp(selectCapabilities)?.physicalCores;
  const layers = useApp(selectLoadedModel)?.layers;
  const effective = useApp(selectLoadedContext)?.speculation;
  const { settings } = useActions();
  if (!context) return null;
  const edit = settings.editContext;

  return (
    <>
      <div className="flex items-center justify-between gap-3">
        <span className="text-sm font-medium text-ink">Flash attention</span>
        <Segmented
          name="flash-attention"
          label="Flash attention"
          value={context.flashAttention}
          options={flashOptions}
          onValue={(flashAttention) => edit({ flashAttention })}
        />
      </div>
      <div className="grid gap-1.5">
        <div className="flex items-center justify-between gap-3">
          <span className="text-sm font-medium text-ink">Draft from the text</span>
          <Segmented
            name="speculation"
            label="Draft from the text"
            value={context.speculation}
            options={speculationOptions}
            onValue={(speculation) => edit({ speculation })}
          />
        </div>
        <p className="text-xs leading-relaxed text-ink-3">
          Where an answer quotes a document or the chat, several tokens are guessed and checked at once. The answer
          stays the same; a chat that is slower with it goes on without.
          {effective && effective.reason !== '' && <span className="mt-1 block text-warn">{effective.reason}</span>}
        </p>
      </div>
      <Field
        label="Threads"
        htmlFor="settings-threads"
        inline
        help={cores ? `Empty: one for each of the ${cores} physical cores.` : 'Empty: one for each physical core.'}
      >
        <NumberField
          id="settings-threads"
          data-testid="settings-threads"
          placeholder="auto"
          nullable
          integer
          min={0}
          max={limits.maxThreads}
          value={context.threads === 0 ? null : context.threads}
          onCommit={(threads) => edit({ threads: threads ?? 0 })}
        />
      </Field>
      <Field
        label="GPU layers"
        htmlFor="settings-gpu-layers"
        inline
        help={`Empty: as many ${layers ? `of the ${layers} layers ` : ''}as fit. With 0 all stay on the CPU.`}
      >
        <NumberField
          id="settings-gpu-layers"
          data-testid="settings-gpu-layers"
          placeholder="auto"
          nullable
          integer
          min={0}
          max={limits.maxGpuLayers}
          value={context.gpuLayers < 0 ? null : context.gpuLayers}
          onCommit={(gpuLayers) => edit({ gpuLayers: gpuLayers ?? -1 })}
        />
      </Field>
      <Field
        label="Batch"
        htmlFor="settings-batch"
        inline
        help="Tokens that are read in one step. More is faster and takes more memory."
      >
        <NumberField
          id="settings-batch"
          data-testid="settings-batch"
          integer
          min={32}
          max={4096}
          value={context.batch}
          onCommit={(batch) => batch !== null && edit({ batch })}
        />
      </Field>
    </>
  );
}
