import type { MessageDescriptor } from '@lingui/core';
import { msg, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { X } from 'lucide-react';
import { useShallow } from 'zustand/shallow';
import type { ErrorPayload } from '../../../../electron/contract/errors';
import { type AdapterChoice, mostAdapterScale } from '../../../../electron/contract/lib/domains/adapters';
import { draftBytes } from '../../../../electron/contract/lib/memory';
import { limits } from '../../../../electron/contract/limits';
import type { ModelEntry } from '../../../../electron/contract/models';
import { autoContext, type ContextSettings, type RopeChoice } from '../../../../electron/contract/settings';
import { i18n } from '../../../language';
import { selectCapabilities, selectLoadedContext, selectLoadedModel } from '../../../state/slices/engine';
import { canChat, selectModels } from '../../../state/slices/models';
import { selectEditedContext, selectSavedContext } from '../../../state/slices/settings';
import { useActions, useApp } from '../../../state/useApp';
import { IconButton } from '../../../ui/Button';
import { Field } from '../../../ui/Field';
import { formatBytes, formatCount } from '../../../ui/format';
import { NumberField } from '../../../ui/NumberField';
import { ChoiceField } from '../../../ui/Segmented';
import { Select } from '../../../ui/Select';
import { nameIn, ropeNames, speculationNames } from '../changesText';
import { useTrained } from '../memory/CacheSection';
import { useFit } from '../useFit';
import { AutoField, LayersFields } from './LayersFields';

export function EngineSection() {
  const context = useApp(useShallow(selectEditedContext));
  const cores = useApp(selectCapabilities)?.physicalCores;
  const { settings } = useActions();
  const { problem } = useFit(context);
  if (!context) return null;
  const edit = settings.editContext;

  return (
    <>
      <ChoiceField
        name="flash-attention"
        label={t`Flash attention`}
        value={context.flashAttention}
        options={[
          { value: 'auto', label: t`Auto` },
          { value: 'on', label: t`On` },
          { value: 'off', label: t`Off` },
        ]}
        onValue={(flashAttention) => edit({ flashAttention })}
      />
      <RecentField tokens={context.recentTokens} />
      <DraftingField context={context} />
      <ChoiceField
        name="projector"
        label={t`Images and sound`}
        value={context.projector === '' ? 'off' : 'auto'}
        options={[
          // where a projector lies beside the model
          { value: 'auto', label: t`Auto` },
          { value: 'off', label: t`Off` },
        ]}
        onValue={(value) => edit({ projector: value === 'off' ? '' : 'auto' })}
      />
      <AdaptersField adapters={context.adapters} problem={context.adapters.length > 0 ? problem : null} />
      <AutoField
        id="settings-threads"
        label={t`Threads`}
        help={cores ? t`Empty: one for each of the ${cores} physical cores.` : t`Empty: one for each physical core.`}
        max={limits.maxThreads}
        value={context.threads === 0 ? null : context.threads}
        onCommit={(threads) => edit({ threads: threads ?? 0 })}
      />
      <LayersFields context={context} />
      <Field
        label={t`Batch`}
        htmlFor="settings-batch"
        inline
        help={t`Tokens that are read in one step. More is faster and takes more memory.`}
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

const recentSizes = [0, 128, 512, 2048];

function RecentField({ tokens }: { tokens: number }) {
  const { settings } = useActions();
  // a settings file may have any number
  const sizes = recentSizes.includes(tokens) ? recentSizes : [...recentSizes, tokens].sort((a, b) => a - b);
  return (
    <Field
      label={t`Recent tokens at 8 bits`}
      htmlFor="settings-recent-tokens"
      inline
      help={t`Most of attention goes to the newest tokens: keeping them at 8 bits brings a turbo cache much closer to f16, for a little memory.`}
    >
      <Select
        id="settings-recent-tokens"
        data-testid="settings-recent-tokens"
        aria-describedby="settings-recent-tokens-help"
        value={tokens}
        onChange={({ target }) => settings.editContext({ recentTokens: Number(target.value) })}
        className="w-24"
      >
        {sizes.map((size) => (
          <option key={size} value={size}>
            {size === 0 ? t`Off` : formatCount(size)}
          </option>
        ))}
      </Select>
    </Field>
  );
}

// What drafts tokens: nothing, the text, another model of the list, or layers of the model itself; and the memory of the last two.

const draftingWays = ['off', 'ngram', 'draft', 'mtp'] as const;

const draftingHelp: Record<ContextSettings['speculation'], MessageDescriptor> = {
  off: msg`One token after the other.`,
  ngram: msg`Where an answer quotes a document or the chat, several tokens are guessed and checked at once. The answer stays the same; a chat that is slower with it goes on without.`,
  draft: msg`A small model of the same family guesses several tokens, which the model checks at once. The answer stays the same; a chat that is slower with it goes on without.`,
  mtp: msg`Layers of the model itself that are made for it (multi-token prediction) guess several tokens, which are checked at once. Few files have them.`,
};

function DraftingField({ context }: { context: ContextSettings }) {
  const { settings } = useActions();
  const { speculation } = context;
  return (
    <ChoiceField
      name="speculation"
      label={t`Drafting`}
      help={
        <>
          {i18n._(draftingHelp[speculation])}
          <Outcome context={context} />
        </>
      }
      value={speculation}
      options={draftingWays.map((way) => ({ value: way, label: i18n._(speculationNames[way]) }))}
      onValue={(value) => settings.editContext({ speculation: value })}
    >
      {speculation === 'draft' && <DraftModel value={context.draftModel} />}
    </ChoiceField>
  );
}

function DraftModel({ value }: { value: string }) {
  const models = (useApp(selectModels) ?? []).filter(canChat);
  const { settings } = useActions();
  const known = models.some(({ id }) => id === value);
  return (
    <Select
      className="w-full"
      aria-label={t`Draft model`}
      data-testid="settings-draft-model"
      value={value}
      onChange={(event) => settings.editContext({ draftModel: event.target.value })}
    >
      {value === '' && (
        <option value="">
          <Trans>Choose a model…</Trans>
        </option>
      )}
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
      <Trans>Takes {formatBytes(bytes)} beside the model.</Trans>
    </span>
  );
}

// LoRA adapters of the model in use: each with its scale.

interface AdaptersFieldProps {
  adapters: AdapterChoice[];
  /** why the settings cannot be loaded */
  problem: ErrorPayload | null;
}

function AdaptersField({ adapters, problem }: AdaptersFieldProps) {
  const listed = (useApp(selectModels) ?? []).filter(({ info }) => info?.adapter);
  const { settings } = useActions();
  const set = (next: AdapterChoice[]) => settings.editContext({ adapters: next });
  const fileOf = (model: string) => nameIn(listed, model);
  const free = listed.filter(({ id }) => !adapters.some(({ model }) => model === id));

  return (
    <Field
      label={t`LoRA adapters`}
      htmlFor="settings-add-adapter"
      help={
        listed.length === 0
          ? t`Small files that change how a model answers. Add the GGUF file of one to the models, and choose it here.`
          : t`Small files that change how this model answers; they are set for it alone. Scale 1: as trained, 0: not at all.`
      }
    >
      {adapters.map(({ model, scale }, index) => (
        <div key={model} className="flex items-center gap-2" data-testid="settings-adapter">
          <span className="min-w-0 flex-1 truncate text-sm text-ink-2" title={fileOf(model)}>
            {fileOf(model)}
          </span>
          <span className="text-sm text-ink-3" aria-hidden="true">
            ×
          </span>
          <NumberField
            aria-label={t`Scale of ${fileOf(model)}`}
            data-testid="settings-adapter-scale"
            className="w-16!"
            min={0}
            max={mostAdapterScale}
            value={scale}
            onCommit={(next) => next !== null && set(adapters.with(index, { model, scale: next }))}
          />
          <IconButton
            label={t`Without ${fileOf(model)}`}
            icon={<X />}
            size="small"
            side="left"
            onClick={() => set(adapters.toSpliced(index, 1))}
          />
        </div>
      ))}
      {problem && (
        <p role="alert" className="text-xs text-bad" data-testid="settings-adapter-problem">
          {problem.message} {problem.hint}
        </p>
      )}
      <AddAdapter
        free={free}
        full={adapters.length >= limits.maxAdapters}
        onAdd={(model) => set([...adapters, { model, scale: 1 }])}
      />
    </Field>
  );
}

function AddAdapter({ free, full, onAdd }: { free: ModelEntry[]; full: boolean; onAdd: (id: string) => void }) {
  const architecture = useApp(selectLoadedModel)?.architecture;
  return (
    <Select
      id="settings-add-adapter"
      data-testid="settings-add-adapter"
      className="w-full"
      value=""
      disabled={free.length === 0 || full}
      onChange={({ target }) => target.value !== '' && onAdd(target.value)}
    >
      <option value="">{free.length === 0 ? t`None to add` : t`Add an adapter…`}</option>
      {free.map(({ id, fileName, fileBytes, info }) => {
        const other = architecture !== undefined && info?.architecture !== architecture;
        return (
          <option key={id} value={id} disabled={other}>
            {fileName} ({other ? t`for ${info?.architecture ?? ''} models` : formatBytes(fileBytes)})
          </option>
        );
      })}
    </Select>
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

const ropeWays = ['model', 'yarn', 'linear'] as const;

function RopeField({ context, trained, onChange }: RopeFieldProps) {
  const { rope, nCtx } = context;

  /** Back in what the model knows, a longer context would be cut by the engine; it is better seen here. */
  function choose(next: RopeChoice): void {
    onChange(next === 'model' ? { rope: next, nCtx: Math.min(nCtx, trained) } : { rope: next });
  }

  return (
    <ChoiceField
      name="rope"
      label={t`Longer than trained`}
      help={
        <>
          {i18n._(ropeText[rope])} {rope !== 'model' && reachText(nCtx, trained)}
        </>
      }
      testId="settings-rope"
      value={rope}
      options={ropeWays.map((way) => ({ value: way, label: i18n._(ropeNames[way]) }))}
      onValue={choose}
    />
  );
}

/** '': the length asked for goes beyond the trained one */
function reachText(nCtx: number, trained: number): string {
  if (nCtx === autoContext) return t`Auto ends at ${formatCount(trained)} tokens. Choose a length to go further.`;
  return nCtx <= trained ? t`Changes nothing up to ${formatCount(trained)} tokens.` : '';
}

// What each way beyond the trained length is for, in plain words.

const ropeText: Record<RopeChoice, MessageDescriptor> = {
  model: msg`The context ends where the training of the model ended.`,
  yarn: msg`The better choice for most models: near words stay as clear as before, far ones are moved together.`,
  linear: msg`All distances are shortened alike. Only for models that were made for it; others lose near words too.`,
};
