/** The settings in three parts: how the model answers, what the memory holds, and all that few people change. */

import type { MessageDescriptor } from '@lingui/core';
import { msg, plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { type ReactNode, useEffect } from 'react';
import { toast } from 'sonner';
import { useShallow } from 'zustand/shallow';
import { replaceSampling } from '../../../electron/contract/lib/settingsPatch';
import {
  autoContext,
  type ContextSettings,
  type OwnSampling,
  type Settings,
  usualRecentTokens,
} from '../../../electron/contract/settings';
import { i18n } from '../../language';
import { selectApiStatus } from '../../state/slices/api';
import { selectHeadless } from '../../state/slices/engine';
import { isSame, selectReplaced } from '../../state/slices/presets';
import { selectEditedContext, selectSettings } from '../../state/slices/settings';
import { selectToolServers } from '../../state/slices/tools';
import { selectSettingsTab } from '../../state/slices/ui';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { ChoiceField } from '../../ui/Segmented';
import { SidePanel } from '../../ui/SidePanel';
import { Tabs } from '../../ui/Tabs';
import { ApplyBar } from './ApplyBar';
import { EngineSection, RopeSection } from './advanced/EngineSection';
import { HubSection } from './advanced/HubSection';
import { MachineSection } from './advanced/MachineSection';
import { UpdatesSection } from './advanced/UpdatesSection';
import { VariablesSection } from './advanced/VariablesSection';
import { WorkersSection } from './advanced/WorkersSection';
import { PresetSection } from './chat/PresetSection';
import { PromptSection } from './chat/PromptSection';
import { SamplingSection } from './chat/SamplingSection';
import { ThinkingSection } from './chat/ThinkingSection';
import { WindowSection } from './chat/WindowSection';
import { CacheSection, useTrained } from './memory/CacheSection';
import { longestOnSlider } from './memory/contextScale';
import { DocumentsSection } from './memory/DocumentsSection';
import { KeptSection } from './memory/KeptSection';
import { ScopeSection } from './ScopeSection';
import { useAskFit } from './useFit';

export function SettingsPanel() {
  const settings = useApp(selectSettings);
  const tab = useApp(selectSettingsTab);
  const { ui } = useActions();
  useFitOfEdits();

  return (
    <SidePanel
      name="settings"
      title={t`Settings`}
      closeLabel={t`Close the settings`}
      onClose={() => ui.setSettings(false)}
      className="w-[22.5rem]"
    >
      {settings && (
        <Tabs
          label={t`Parts of the settings`}
          value={tab}
          onValue={ui.showSettings}
          tabs={[
            { value: 'chat', label: t`Chat`, testId: 'settings-tab-chat', content: <ChatTab {...settings} /> },
            { value: 'memory', label: t`Memory`, testId: 'settings-tab-memory', content: <MemoryTab {...settings} /> },
            {
              value: 'advanced',
              label: t`Advanced`,
              testId: 'settings-tab-advanced',
              content: <AdvancedTab {...settings} />,
            },
          ]}
        />
      )}
      <ApplyBar />
    </SidePanel>
  );
}

/** Whichever part is shown: what is edited in it is judged. */
function useFitOfEdits(): void {
  const context = useApp(useShallow(selectEditedContext));
  const trained = useTrained();
  useAskFit(context, context ? longestOnSlider(context, trained) : 0);
}

function ChatTab({ systemPrompt, template, sampling, titles, ...settings }: Settings) {
  return (
    <Scrolled>
      <Section title={t`Settings of`}>
        <ScopeSection />
      </Section>
      <Section title={t`System prompt`}>
        <PromptSection systemPrompt={systemPrompt} />
      </Section>
      <Section title={t`Presets`}>
        <PresetSection />
      </Section>
      <Section title={t`Thinking`}>
        <ThinkingSection template={template} />
      </Section>
      <Section title={t`Sampling`}>
        <SamplingSection sampling={sampling} />
        <ResetSampling sampling={sampling} />
      </Section>
      <Section title={t`Names of chats`}>
        <TitlesField titles={titles} />
      </Section>
      <Section title={t`Appearance and window`}>
        <WindowSection settings={settings} />
      </Section>
    </Scrolled>
  );
}

function MemoryTab({ overflow, documents, sessions }: Settings) {
  return (
    <Scrolled>
      <Section title={t`Settings of`}>
        <ScopeSection />
      </Section>
      <Section title={t`Context and cache`}>
        <CacheSection overflow={overflow} />
        <ResetContext />
      </Section>
      <Section title={t`Documents and kept chats`}>
        <DocumentsSection documents={documents} sessions={sessions} />
        <KeptSection sessions={sessions} />
      </Section>
    </Scrolled>
  );
}

function AdvancedTab({ template, lookForUpdates }: Settings) {
  const headless = useApp(selectHeadless);
  return (
    <Scrolled>
      <Section title={t`Engine`}>
        <EngineSection />
        <RopeSection />
        <ResetContext />
      </Section>
      <Section title={t`This machine`}>
        <MachineSection />
      </Section>
      <Section title={t`Workers`}>
        <WorkersSection />
      </Section>
      <Section title={t`Chat template`}>
        <VariablesSection template={template} />
      </Section>
      <Section title={t`Model hub`}>
        <HubSection />
      </Section>
      <Section title={t`Tools`}>
        <ToolsSection />
      </Section>
      <Section title={t`API for other programs`}>
        <ApiSection />
      </Section>
      {/* a page has the version of its server */}
      {!headless && (
        <Section title={t`Updates`}>
          <UpdatesSection lookForUpdates={lookForUpdates} />
        </Section>
      )}
    </Scrolled>
  );
}

function Scrolled({ children }: { children: ReactNode }) {
  return <div className="min-h-0 flex-1 overflow-y-auto">{children}</div>;
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="border-b border-line px-5 py-4 last:border-b-0">
      <h3 className="mb-3 text-sm font-semibold text-ink">{title}</h3>
      <div className="grid gap-4">{children}</div>
    </section>
  );
}

function ToolsSection() {
  const servers = useApp(selectToolServers);
  const { tools } = useActions();
  return (
    <div className="flex items-center justify-between gap-3">
      <p className="min-w-0 text-sm text-ink-2">
        {plural(servers.length, {
          0: 'No tool server is set up.',
          one: '# tool server is set up.',
          other: '# tool servers are set up.',
        })}
      </p>
      <Button size="small" onClick={tools.show} data-testid="tools-open">
        <Trans>Show</Trans>
      </Button>
    </div>
  );
}

function ApiSection() {
  const status = useApp(selectApiStatus);
  const { api } = useActions();
  const listens = status?.address ? t`It listens at ${status.address}.` : t`It is off: no other program can ask.`;
  return (
    <div className="flex items-center justify-between gap-3">
      <p className="min-w-0 text-sm [overflow-wrap:anywhere] text-ink-2">{status?.problem?.message ?? listens}</p>
      <Button size="small" onClick={api.show} data-testid="api-open">
        <Trans>Show</Trans>
      </Button>
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

function TitlesField({ titles }: Pick<Settings, 'titles'>) {
  const { settings } = useActions();
  return (
    <ChoiceField
      name="titles"
      label={t`Name chats`}
      testId="settings-titles"
      value={titles}
      options={titleOptions.map(({ value, label }) => ({ value, label: i18n._(label) }))}
      help={i18n._(titleHelp[titles])}
      onValue={(next) => void settings.update({ titles: next })}
    />
  );
}

const titleOptions = [
  { value: 'model', label: msg`By the model` },
  { value: 'question', label: msg`From the question` },
] as const;

const titleHelp: Record<Settings['titles'], MessageDescriptor> = {
  model: msg`When nothing else is asked for some seconds, the model writes a title from the chat that it has just read, at no cost for the next question. Models with fewer than 250 million parameters, as the built-in one, are not asked: they write no titles. A name that you gave stays.`,
  question: msg`The first line of the first question, cut where it is long.`,
};

function ResetSampling({ sampling }: { sampling: OwnSampling }) {
  const { settings } = useActions();
  if (Object.keys(sampling).length === 0) return null;
  const none = replaceSampling({});
  return <Reset testId="settings-reset-sampling" onReset={() => void settings.update({ sampling: none })} />;
}

function Reset({ testId, onReset }: { testId: string; onReset: () => void }) {
  return (
    <Button size="small" tone="quiet" className="justify-self-start" onClick={onReset} data-testid={testId}>
      <Trans>Back to the defaults</Trans>
    </Button>
  );
}

// What a fresh start has. Written out, because the schemas stay out of the window's bundle; a test compares the two.

export const defaultContext: ContextSettings = {
  nCtx: autoContext,
  typeK: 'turbo4',
  typeV: 'turbo4',
  flashAttention: 'auto',
  recentTokens: usualRecentTokens,
  threads: 0,
  gpuLayers: -1,
  expertsInRam: -1,
  deviceShares: [],
  batch: 512,
  rope: 'model',
  speculation: 'ngram',
  draftModel: '',
  projector: 'auto',
  adapters: [],
};

/** A new chat begins with the default preset: values that are in no preset are not lost by that. */
export function useReplacedToast(): void {
  const replaced = useApp(selectReplaced);
  const { presets } = useActions();
  useEffect(() => {
    if (!replaced) return;
    toast(t`New chats begin with ${replaced.by}`, {
      description: t`Your own values of prompt and sampling were put aside.`,
      duration: 10_000,
      action: { label: t`Undo`, onClick: () => void presets.restoreReplaced() },
    });
  }, [replaced, presets]);
}
