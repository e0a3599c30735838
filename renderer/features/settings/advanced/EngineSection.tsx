import { useShallow } from 'zustand/shallow';
import { draftBytes } from '../../../../electron/contract/lib/memory';
import { limits } from '../../../../electron/contract/limits';
import { autoContext, type ContextSettings, type RopeChoice } from '../../../../electron/contract/settings';
import { selectCapabilities, selectLoadedContext, selectLoadedModel } from '../../../state/slices/engine';
import { selectModels } from '../../../state/slices/models';
import { selectEditedContext, selectSavedContext } from '../../../state/slices/settings';
import { useActions, useApp } from '../../../state/useApp';
import { Field } from '../../../ui/Field';
import { formatBytes, formatCount } from '../../../ui/format';
import { NumberField } from '../../../ui/NumberField';
import { ChoiceField } from '../../../ui/Segmented';
import { Select } from '../../../ui/Select';
import { ropeNames, speculationNames } from '../changesText';
import { useTrained } from '../memory/CacheSection';
import { useFit } from '../useFit';

const flashOptions = [
  { value: 'auto', label: 'Auto' },
  { value: 'on', label: 'On' },
  { value: 'off', label: 'Off' },
] as const;

export function EngineSection() {
  const context = useApp(useShallow(selectEditedContext));
  const cores = useApp(selectCapabilities)?.physicalCores;
  const layers = useApp(selectLoadedModel)?.layers;
  const { settings } = useActions();
  if (!context) return null;
  const edit = settings.editContext;

  return (
    <>
      <ChoiceField
        name="flash-attention"
        label="Flash attention"
        value={context.flashAttention}
        options={flashOptions}
        onValue={(flashAttention) => edit({ flashAttention })}
      />
      <DraftingField context={context} />
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

// What drafts tokens: nothing, the text, another model of the list, or layers of the model itself; and the memory of the last two.

const draftingOptions = (['off', 'ngram', 'draft', 'mtp'] as const).map((value) => ({
  value,
  label: speculationNames[value],
}));

const draftingHelp: Record<ContextSettings['speculation'], string> = {
  off: 'One token after the other.',
  ngram:
    'Where an answer quotes a document or the chat, several tokens are guessed and checked at once. The answer stays the ' +
    'same; a chat that is slower with it goes on without.',
  draft:
    'A small model of the same family guesses several tokens, which the model checks at once. The answer stays the same; ' +
    'a chat that is slower with it goes on without.',
  mtp:
    'Layers of the model itself that are made for it (multi-token prediction) guess several tokens, which are checked at ' +
    'once. Few files have them.',
};

function DraftingField({ context }: { context: ContextSettings }) {
  const { settings } = useActions();
  const { speculation } = context;
  return (
    <ChoiceField
      name="speculation"
      label="Drafting"
      help={
        <>
          {draftingHelp[speculation]}
          <Outcome context={context} />
        </>
      }
      value={speculation}
      options={draftingOptions}
      onValue={(value) => settings.editContext({ speculation: value })}
    >
      {speculation === 'draft' && <DraftModel value={context.draftModel} />}
    </ChoiceField>
  );
}

function DraftModel({ value }: { value: string }) {
  const models = useApp(selectModels) ?? [];
  const { settings } = useActions();
  const known = models.some(({ id }) => id === value);
  return (
    <Select
      className="w-full"
      aria-label="Draft model"
      data-testid="settings-draft-model"
      value={value}
      onChange={(event) => settings.editContext({ draftModel: event.target.value })}
    >
      {value === '' && <option value="">Choose a model…</option>}
      {value !== '' && !known && <option value={value}>{value.replace(/^.*[\\/]/, '')}</option>}
      {models.map(({ id, fileName, fileBytes }) => (
        <option key={id} value={id}>
          {fileName} ({formatBytes(fileBytes)})
        </option>
      ))}
    </Select>
  );
}

/** What it takes, or why something else drafts: of these settings, and else of what is loaded. */
function Outcome({ context }: { context: ContextSettings }) {
  const { fit, stale } = useFit(context);
  const saved = useApp(useShallow(selectSavedContext));
  const loaded = useApp(selectLoadedContext)?.speculation;
  const edited = saved?.speculation !== context.speculation || saved.draftModel !== context.draftModel;
  const planned = stale ? undefined : fit?.estimate.speculation;
  const reason = (planned ?? (edited ? undefined : loaded))?.reason;
  const bytes = fit && !stale ? draftBytes(fit.estimate.draft) : 0;
  if (context.speculation === 'draft' && context.draftModel === '') return null;
  if (reason) return <span className="mt-1 block text-warn">{reason}</span>;
  if (bytes === 0) return null;
  return (
    <span className="mt-1 block text-ink-2" data-testid="draft-bytes" data-bytes={bytes}>
      Takes {formatBytes(bytes)} beside the model.
    </span>
  );
}

// A context that is longer than the model was trained for: only by a choice of how, and with what it costs.

/** Nothing for a model whose file does not say what it was trained for. */
export function RopeSection() {
  const context = useApp(useShallow(selectEditedContext));
  const trained = useTrained();
  const { settings } = useActions();
  if (!context || trained === null) return null;
  return <RopeField context={context} trained={trained} onChange={settings.editContext} />;
}

interface RopeFieldProps {
  context: ContextSettings;
  trained: number;
  onChange: (change: Partial<ContextSettings>) => void;
}

const options = (['model', 'yarn', 'linear'] as const).map((value) => ({ value, label: ropeNames[value] }));

function RopeField({ context, trained, onChange }: RopeFieldProps) {
  const { rope, nCtx } = context;

  /** Back in what the model knows, a longer context would be cut by the engine; it is better seen here. */
  function choose(next: RopeChoice): void {
    onChange(next === 'model' ? { rope: next, nCtx: Math.min(nCtx, trained) } : { rope: next });
  }

  return (
    <ChoiceField
      name="rope"
      label="Longer than trained"
      help={
        <>
          {ropeText[rope]} {rope !== 'model' && reachText(nCtx, trained)}
        </>
      }
      testId="settings-rope"
      value={rope}
      options={options}
      onValue={choose}
    />
  );
}

/** '': the length asked for goes beyond the trained one */
function reachText(nCtx: number, trained: number): string {
  if (nCtx === autoContext) return `Auto ends at ${formatCount(trained)} tokens. Choose a length to go further.`;
  return nCtx <= trained ? `Changes nothing up to ${formatCount(trained)} tokens.` : '';
}

// What each way beyond the trained length is for, in plain words.

const ropeText: Record<RopeChoice, string> = {
  model: 'The context ends where the training of the model ended.',
  yarn: 'The better choice for most models: near words stay as clear as before, far ones are moved together.',
  linear: 'All distances are shortened alike. Only for models that were made for it; others lose near words too.',
};
