import { type ReactNode, useEffect } from 'react';
import { toast } from 'sonner';
import { useShallow } from 'zustand/shallow';
import type { ContextFit } from '../../../electron/contract/fit';
import {
  autoContext,
  type CacheType,
  type ContextSettings,
  type OwnSampling,
  replaceSampling,
  type Settings,
} from '../../../electron/contract/settings';
import { selectApiStatus } from '../../state/slices/api';
import { selectLoadedModel } from '../../state/slices/engine';
import { selectCurrentModel, selectFileGone } from '../../state/slices/models';
import { isSame, selectReplaced } from '../../state/slices/presets';
import { selectEditedContext, selectSettings } from '../../state/slices/settings';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { Field } from '../../ui/Field';
import { formatBytes } from '../../ui/format';
import { Segmented } from '../../ui/Segmented';
import { Select } from '../../ui/Select';
import { SidePanel } from '../../ui/SidePanel';
import { ApplyBar } from './ApplyBar';
import { ContextField } from './ContextField';
import { DocumentsSection } from './DocumentsSection';
import { EngineSection } from './EngineSection';
import { HubSection } from './HubSection';
import { KeptSection } from './KeptSection';
import { KvEstimate } from './KvEstimate';
import { MachineSection } from './MachineSection';
import { PresetSection } from './PresetSection';
import { PromptSection } from './PromptSection';
import { SamplingSection } from './SamplingSection';
import { ScopeSection } from './ScopeSection';
import { TemplateSection } from './TemplateSection';
import { useFit } from './useFit';
import { WindowSection } from './WindowSection';

export function SettingsPanel() {
  const settings = useApp(selectSettings);
  const { ui } = useActions();

  return (
    <SidePanel
      name="settings"
      title="Settings"
      closeLabel="Close the settings"
      onClose={() => ui.setSettings(false)}
      className="w-[22.5rem]"
    >
      {settings && (
        <div className="min-h-0 flex-1 overflow-y-auto">
          <Section title="Settings of">
            <ScopeSection />
          </Section>
          <Section title="Context and cache">
            <CacheSection />
            <OverflowField overflow={settings.overflow} />
          </Section>
          <Section title="Documents and kept chats">
            <DocumentsSection documents={settings.documents} sessions={settings.sessions} />
            <KeptSection sessions={settings.sessions} />
          </Section>
          <Section title="Engine">
            <EngineSection />
            <ResetContext />
          </Section>
          <Section title="This machine">
            <MachineSection />
          </Section>
          <Section title="Thinking and chat template">
            <TemplateSection template={settings.template} />
          </Section>
          <Section title="Presets">
            <PresetSection />
          </Section>
          <Section title="Sampling">
            <SamplingSection sampling={settings.sampling} />
            <ResetSampling sampling={settings.sampling} />
          </Section>
          <Section title="System prompt">
            <PromptSection systemPrompt={settings.systemPrompt} />
          </Section>
          <Section title="Model hub">
            <HubSection />
          </Section>
          <Section title="API for other programs">
            <ApiSection />
          </Section>
          <Section title="Appearance and window">
            <WindowSection settings={settings} />
          </Section>
        </div>
      )}
      <ApplyBar />
    </SidePanel>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="border-b border-line px-5 py-4 last:border-b-0">
      <h3 className="mb-3 text-sm font-semibold text-ink">{title}</h3>
      <div className="grid gap-4">{children}</div>
    </section>
  );
}

function ApiSection() {
  const status = useApp(selectApiStatus);
  const { api } = useActions();
  const listens = status?.address ? `It listens at ${status.address}.` : 'It is off: no other program can ask.';
  return (
    <div className="flex items-center justify-between gap-3">
      <p className="min-w-0 text-sm [overflow-wrap:anywhere] text-ink-2">{status?.problem?.message ?? listens}</p>
      <Button size="small" onClick={api.show} data-testid="api-open">
        Show
      </Button>
    </div>
  );
}

function CacheSection() {
  const context = useApp(useShallow(selectEditedContext));
  const current = useFit(context);
  const loaded = useApp(selectLoadedModel);
  const listed = useApp(selectCurrentModel)?.info;
  const gone = useApp(selectFileGone);
  const { settings } = useActions();
  if (!context) return null;
  // While a model is loading its entry of the list tells what it was trained for.
  const trained = (loaded ?? listed)?.nCtxTrain || null;

  return (
    <>
      <ContextField context={context} trained={trained} current={current} />
      {gone ? (
        <p className="text-xs text-ink-2" data-testid="settings-gone">
          The file of this model is gone. It keeps working until you choose another model, with the settings that it
          has.
        </p>
      ) : (
        <KvEstimate {...current} />
      )}
      <TypeField
        side="K"
        value={context.typeK}
        fit={current.fit}
        onValue={(typeK) => settings.editContext({ typeK })}
      />
      <TypeField
        side="V"
        value={context.typeV}
        fit={current.fit}
        onValue={(typeV) => settings.editContext({ typeV })}
      />
    </>
  );
}

interface TypeFieldProps {
  side: 'K' | 'V';
  value: CacheType;
  fit: ContextFit | null;
  onValue: (type: CacheType) => void;
}

function TypeField({ side, value, fit, onValue }: TypeFieldProps) {
  const id = `settings-type-${side.toLowerCase()}`;
  const effective = side === 'K' ? fit?.estimate.typeK : fit?.estimate.typeV;
  const bytes = side === 'K' ? fit?.estimate.kvK : fit?.estimate.kvV;

  return (
    <Field
      label={`${side} cache type`}
      htmlFor={id}
      inline
      help={
        <>
          {cacheTypeText[value]}
          {bytes !== undefined && ` Takes ${formatBytes(bytes)}.`}
          {effective?.asked === value && effective.reason !== '' && (
            <span className="mt-1 block text-warn" data-testid={`${id}-effective`}>
              Will run as {effective.effective}: {effective.reason}
            </span>
          )}
        </>
      }
    >
      <Select
        id={id}
        data-testid={id}
        aria-describedby={`${id}-help`}
        value={value}
        onChange={(event) => onValue(event.target.value as CacheType)}
        className="w-44"
      >
        {offeredTypes.map((type) => (
          <option key={type} value={type}>
            {type}
            {type === value && bytes !== undefined ? `  ${formatBytes(bytes)}` : sizeOf(fit?.sides?.[side][type])}
          </option>
        ))}
      </Select>
    </Field>
  );
}

/** `bytes` undefined: not known yet; null: the model cannot have the type. */
function sizeOf(bytes: number | null | undefined): string {
  if (bytes === undefined) return '';
  return bytes === null ? '  (not possible)' : `  ${formatBytes(bytes)}`;
}

// What each cache type is, for people. Bytes always come from the engine.

const cacheTypeText: Record<CacheType, string> = {
  f16: 'Half precision, unfolded. The reference for all others.',
  q8_0: '8-bit. Practically the same answers as f16.',
  q5_0: '5-bit, with even steps.',
  iq4_nl: '4-bit, with uneven steps.',
  q4_0: '4-bit, with even steps. K suffers noticeably.',
  turbo4: '4-bit, with fitted steps and fine scales: closer to f16 than q4_0, and smaller. The default.',
  turbo3: '3-bit of the same kind. The smallest; fine details can get lost in very long texts.',
};

/** In the order of the contract, largest first. */
export const offeredTypes = Object.keys(cacheTypeText) as CacheType[];

// What happens when the context is full. Applies at once: it changes no cache.

const options = [
  { value: 'stop', label: 'Stop' },
  { value: 'roll', label: 'Drop oldest' },
] as const;

const help: Record<Settings['overflow'], string> = {
  stop: 'Passages that were looked up for earlier questions make room. Nothing else is left out: the answer ends at the limit, and a question that does not fit is not sent.',
  roll: 'Passages that were looked up for earlier questions make room; then the oldest messages are left out of what the model reads, and each answer says how many. The system prompt and messages with documents stay in.',
};

function OverflowField({ overflow }: { overflow: Settings['overflow'] }) {
  const { settings } = useActions();
  return (
    <div className="grid gap-1.5" data-testid="settings-overflow">
      <div className="flex items-center justify-between gap-3">
        <span className="text-sm font-medium text-ink">When it is full</span>
        <Segmented
          name="overflow"
          label="When the context is full"
          value={overflow}
          options={options}
          onValue={(next) => void settings.update({ overflow: next })}
        />
      </div>
      <p className="text-xs leading-relaxed text-ink-3">{help[overflow]}</p>
    </div>
  );
}

// The ways back to what a fresh start has. Each is there only while something differs.

/** Puts the defaults into the draft: like every edit of the context they wait for "Apply". */
function ResetContext() {
  const context = useApp(useShallow(selectEditedContext));
  const { settings } = useActions();
  if (!context || isSame(context, defaultContext)) return null;
  return <Reset testId="settings-reset-context" onReset={() => settings.editContext(defaultContext)} />;
}

function ResetSampling({ sampling }: { sampling: OwnSampling }) {
  const { settings } = useActions();
  if (Object.keys(sampling).length === 0) return null;
  const none = replaceSampling({});
  return <Reset testId="settings-reset-sampling" onReset={() => void settings.update({ sampling: none })} />;
}

function Reset({ testId, onReset }: { testId: string; onReset: () => void }) {
  return (
    <Button size="small" tone="quiet" className="justify-self-start" onClick={onReset} data-testid={testId}>
      Back to the defaults
    </Button>
  );
}

// What a fresh start has. Written out, because the schemas stay out of the window's bundle; a test compares the two.

export const defaultContext: ContextSettings = {
  nCtx: autoContext,
  typeK: 'turbo4',
  typeV: 'turbo4',
  flashAttention: 'auto',
  threads: 0,
  gpuLayers: -1,
  batch: 512,
  rope: 'model',
  speculation: 'ngram',
  draftModel: '',
};

/** A new chat begins with the default preset: values that are in no preset are not lost by that. */
export function useReplacedToast(): void {
  const replaced = useApp(selectReplaced);
  const { presets } = useActions();
  useEffect(() => {
    if (!replaced) return;
    toast(`New chats begin with ${replaced.by}`, {
      description: 'Your own values of prompt and sampling were put aside.',
      duration: 10_000,
      action: { label: 'Undo', onClick: () => void presets.restoreReplaced() },
    });
  }, [replaced, presets]);
}
