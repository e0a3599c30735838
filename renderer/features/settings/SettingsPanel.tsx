/** The side sheet. Sampling, prompt and theme apply at once; what needs a reload waits for "Apply". */
import { X } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { selectSettings } from '../../state/settings/selectors';
import { useActions, useApp } from '../../state/useApp';
import { IconButton } from '../../ui/IconButton';
import { AppearanceSection } from './AppearanceSection';
import { ApplyBar } from './ApplyBar';
import { CacheSection } from './CacheSection';
import { DocumentsSection } from './DocumentsSection';
import { EngineSection } from './EngineSection';
import { HubSection } from './HubSection';
import { KeptSection } from './KeptSection';
import { MachineSection } from './MachineSection';
import { OverflowField } from './OverflowField';
import { PresetSection } from './PresetSection';
import { PromptSection } from './PromptSection';
import { ResetContext, ResetSampling } from './Resets';
import { SamplingSection } from './SamplingSection';
import { ScopeSection } from './ScopeSection';

export function SettingsPanel() {
  const settings = useApp(selectSettings);
  const { ui } = useActions();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);

  return (
    <aside
      aria-labelledby="settings-title"
      data-testid="settings-panel"
      className="slide-in flex h-full w-[22.5rem] max-w-[100vw] flex-col border-l border-line bg-panel"
    >
      <div className="flex h-12 shrink-0 items-center justify-between border-b border-line pr-2 pl-5">
        <h2
          id="settings-title"
          ref={heading}
          tabIndex={-1}
          className="pt-0.5 font-serif text-[1.06rem] leading-none text-ink outline-none"
        >
          Settings
        </h2>
        <IconButton
          label="Close the settings"
          keys="Esc"
          side="left"
          icon={<X />}
          onClick={() => ui.setSettings(false)}
        />
      </div>
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
          <Section title="Appearance">
            <AppearanceSection theme={settings.theme} />
          </Section>
        </div>
      )}
      <ApplyBar />
    </aside>
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
