/** The shell: where each part of the window stands. */

import { plural, t } from '@lingui/core/macro';
import { Columns3, PanelLeftOpen, Settings2, SquarePen } from 'lucide-react';
import { type ReactNode, useEffect, useLayoutEffect } from 'react';
import { Toaster } from 'sonner';
import { keysOf } from '../../electron/contract/lib/commands';
import { ApiView } from '../features/api/ApiView';
import { ChatView } from '../features/chat/ChatView';
import { AnswerText, preloadMarkdown } from '../features/chat/markdown/AnswerText';
import { LinkQuestion } from '../features/chat/markdown/LinkQuestion';
import { Palette } from '../features/commands/Palette';
import { ShortcutSheet } from '../features/commands/ShortcutSheet';
import { CompareView } from '../features/compare/CompareView';
import { RunningBanner } from '../features/compare/RunningBanner';
import { Composer } from '../features/composer/Composer';
import {
  AboutDialog,
  DiagnosticsDialog,
  ThirdPartyDialog,
  WhatsNewDialog,
} from '../features/diagnostics/DiagnosticsDialog';
import { DocumentPanel } from '../features/documents/DocumentPanel';
import { ConnectionBanner, EngineBanner, Notices, UnsavedBanner } from '../features/engine/EngineBanner';
import { StatusStrip } from '../features/meter/StatusStrip';
import { FirstModel } from '../features/models/FirstModel';
import { ModelPicker } from '../features/models/ModelPicker';
import { ModelsView } from '../features/models/view/ModelsView';
import { useFoundToast } from '../features/settings/advanced/UpdatesSection';
import { SettingsPanel, useReplacedToast } from '../features/settings/SettingsPanel';
import { FolderDocuments } from '../features/shelf/FolderDocuments';
import { ShelfView } from '../features/shelf/ShelfView';
import { Sidebar } from '../features/sidebar/Sidebar';
import { ToolPicker } from '../features/tools/ToolPicker';
import { ToolsView } from '../features/tools/ToolsView';
import { useLanguage } from '../language';
import { selectChatTitle, selectNewIn } from '../state/lib/openChat';
import { selectCompareOpen } from '../state/slices/compare';
import { selectPanel } from '../state/slices/documents';
import { selectDraft, selectLanguage, selectTheme } from '../state/slices/settings';
import { selectSettingsOpen, selectSidebarOpen } from '../state/slices/ui';
import type { AppStore as AppParts } from '../state/store';
import { useActions, useApp } from '../state/useApp';
import { IconButton } from '../ui/Button';
import { cx } from '../ui/cx';
import { useMediaQuery } from '../ui/hooks';
import { TooltipProvider } from '../ui/Tooltip';
import { DropZone } from './DropZone';
import { ErrorBoundary } from './ErrorBoundary';
import { keepFocus, listenForKeys, runCommand } from './keyboard';
import { applyLanguage, applyTheme } from './stored';

export function App({ app }: { app: AppParts }) {
  const theme = useTheme();
  const language = useSetLanguage();
  const sidebarOpen = useApp(selectSidebarOpen);
  const settingsOpen = useApp(selectSettingsOpen);
  const documentOpen = useApp(selectPanel) !== null && !settingsOpen;
  const comparing = useApp(selectCompareOpen);
  const title = useApp(selectChatTitle);
  const { compare, documents, ui } = useActions();
  const sidebarFloats = useMediaQuery('(max-width: 879px)');
  const settingsFloat = useMediaQuery('(max-width: 1119px)');
  const documentFloats = useMediaQuery('(max-width: 1139px)');

  // Who sees the window can use its keys.
  useLayoutEffect(() => listenForKeys(app), [app]);
  useEffect(keepFocus, []);
  // Before the paint, so that a small window never shows the list over the chat for a moment.
  useLayoutEffect(() => ui.setSidebar(!sidebarFloats), [sidebarFloats, ui]);
  useReplacedToast();
  useFoundToast();
  useEffect(preloadMarkdown, []);
  useEffect(() => {
    document.title = title ? `${title} – Concertina` : 'Concertina';
  }, [title]);

  return (
    <TooltipProvider key={language} delayDuration={450}>
      <div className="flex h-full flex-col">
        <div className="relative flex min-h-0 flex-1">
          <SidePane side="start" open={sidebarOpen} floats={sidebarFloats} onClose={() => ui.setSidebar(false)}>
            <ErrorBoundary what={t`The list of chats`}>
              <Sidebar
                onChosen={() => {
                  compare.close();
                  if (sidebarFloats) ui.setSidebar(false);
                }}
              />
            </ErrorBoundary>
          </SidePane>
          <main className="flex min-w-0 flex-1 flex-col">
            <Header />
            <ConnectionBanner />
            <UnsavedBanner />
            <EngineBanner />
            <Notices />
            <RunningBanner />
            {comparing ? (
              <ErrorBoundary what={t`The comparison`}>
                <CompareView />
              </ErrorBoundary>
            ) : (
              <ErrorBoundary what={t`The chat`}>
                <ChatView composer={<Composer tools={<ToolPicker />} />} firstModel={<FirstModel />} />
              </ErrorBoundary>
            )}
          </main>
          <SidePane side="end" open={documentOpen} floats={documentFloats} onClose={documents.close}>
            <ErrorBoundary what={t`The document`}>
              <DocumentPanel />
            </ErrorBoundary>
          </SidePane>
          <SidePane side="end" open={settingsOpen} floats={settingsFloat} onClose={() => ui.setSettings(false)}>
            <ErrorBoundary what={t`The settings`}>
              <SettingsPanel />
            </ErrorBoundary>
          </SidePane>
        </div>
        <ErrorBoundary what={t`The meter`}>
          <StatusStrip />
        </ErrorBoundary>
      </div>
      <DropZone />
      <DiagnosticsDialog />
      <ThirdPartyDialog />
      <AboutDialog />
      <WhatsNewDialog renderText={(markdown) => <AnswerText text={markdown} />} />
      <ShortcutSheet />
      <LinkQuestion />
      <Palette onCommand={(id) => runCommand(app, id)} />
      <ApiView />
      <ToolsView />
      <ShelfView />
      <FolderDocuments />
      <ModelsView renderText={(markdown) => <AnswerText text={markdown} />} />
      <Toaster
        theme={theme}
        position="bottom-left"
        offset={{ bottom: 84, left: 12 }}
        mobileOffset={{ bottom: 84 }}
        closeButton={false}
      />
    </TooltipProvider>
  );
}

function Header() {
  const chatTitle = useApp(selectChatTitle);
  const newIn = useApp(selectNewIn);
  const sidebarOpen = useApp(selectSidebarOpen);
  const settingsOpen = useApp(selectSettingsOpen);
  const comparing = useApp(selectCompareOpen);
  const unapplied = Object.keys(useApp(selectDraft)).length;
  const { compare, conversation, ui } = useActions();

  // the comparison has a heading of its own
  const title = comparing ? null : (chatTitle ?? (newIn && t`New chat in ${newIn}`));

  return (
    <header className="flex h-12 shrink-0 items-center gap-1 pe-2 ps-2">
      {!sidebarOpen && (
        <>
          <IconButton
            label={t`Show the chats`}
            keys={keysOf('sidebar')}
            side="bottom"
            icon={<PanelLeftOpen />}
            onClick={() => ui.setSidebar(true)}
            data-testid="sidebar-open"
          />
          <IconButton
            label={t`New chat`}
            keys={keysOf('new-chat')}
            side="bottom"
            icon={<SquarePen />}
            onClick={() => {
              compare.close();
              conversation.startNew();
              ui.focusComposer();
            }}
          />
        </>
      )}
      {title !== null && (
        <h1 dir="auto" className="min-w-0 flex-1 truncate px-2.5 text-start text-sm font-medium text-ink-2">
          {title}
        </h1>
      )}
      {title === null && <span className="flex-1" />}
      <ModelPicker />
      <IconButton
        label={t`Compare cache types or models`}
        side="bottom"
        icon={<Columns3 />}
        aria-pressed={comparing}
        onClick={() => (comparing ? compare.close() : compare.show())}
        data-testid="compare-view-open"
      />
      <IconButton
        label={
          unapplied > 0
            ? plural(unapplied, {
                one: 'Settings: # change is not applied',
                other: 'Settings: # changes are not applied',
              })
            : t`Settings`
        }
        keys={keysOf('settings')}
        side="bottom"
        icon={
          <>
            <Settings2 />
            {unapplied > 0 && <span className="absolute top-1 end-1 size-2 rounded-full bg-accent" />}
          </>
        }
        className="relative"
        aria-pressed={settingsOpen}
        onClick={ui.toggleSettings}
        data-testid="settings-open"
      />
    </header>
  );
}

interface SidePaneProps {
  side: 'start' | 'end';
  open: boolean;
  /** over the chat, in a small window */
  floats: boolean;
  onClose: () => void;
  children: ReactNode;
}

function SidePane({ side, open, floats, onClose, children }: SidePaneProps) {
  if (!open) return null;
  if (!floats) return <div className="h-full shrink-0">{children}</div>;
  return (
    <>
      {/* A click beside the pane closes it; the keyboard has the button in the pane. */}
      <button
        type="button"
        tabIndex={-1}
        aria-hidden="true"
        className="absolute inset-0 z-20 bg-black/25"
        onClick={onClose}
      />
      <div className={cx('absolute inset-y-0 z-30 max-w-full shadow-pop', side === 'start' ? 'start-0' : 'end-0')}>
        {children}
      </div>
    </>
  );
}

/** Follows the setting. @returns the one that is shown: another one draws everything anew */
function useSetLanguage(): string {
  const setting = useApp(selectLanguage);
  useEffect(() => {
    if (setting === null) return;
    const apply = () => void applyLanguage(setting);
    apply();
    window.addEventListener('languagechange', apply);
    return () => window.removeEventListener('languagechange', apply);
  }, [setting]);
  return useLanguage();
}

/** Follows the setting and, where it says so, the system. */
function useTheme(): 'light' | 'dark' {
  const theme = useApp(selectTheme);
  const systemDark = useMediaQuery('(prefers-color-scheme: dark)');
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the system's scheme has to be applied too
  useEffect(() => {
    if (theme !== null) applyTheme(theme);
  }, [theme, systemDark]);
  return theme === 'dark' || (theme !== 'light' && systemDark) ? 'dark' : 'light';
}
