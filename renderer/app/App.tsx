/** The shell: where each part of the window stands. */
import { useEffect, useLayoutEffect } from 'react';
import { Toaster } from 'sonner';
import { ChatView } from '../features/chat/ChatView';
import { AnswerText, preloadMarkdown } from '../features/chat/markdown/AnswerText';
import { CompareView } from '../features/compare/CompareView';
import { RunningBanner } from '../features/compare/RunningBanner';
import { Composer } from '../features/composer/Composer';
import { DiagnosticsDialog } from '../features/diagnostics/DiagnosticsDialog';
import { ThirdPartyDialog } from '../features/diagnostics/ThirdPartyDialog';
import { DocumentPanel } from '../features/documents/DocumentPanel';
import { ConnectionBanner } from '../features/engine/ConnectionBanner';
import { EngineBanner } from '../features/engine/EngineBanner';
import { Notices } from '../features/engine/Notices';
import { StatusStrip } from '../features/meter/StatusStrip';
import { ModelsView } from '../features/models/view/ModelsView';
import { SettingsPanel } from '../features/settings/SettingsPanel';
import { useReplacedToast } from '../features/settings/useReplacedToast';
import { Sidebar } from '../features/sidebar/Sidebar';
import { selectCompareOpen } from '../state/compare/selectors';
import { selectChatTitle } from '../state/conversation/selectors';
import { selectPanel } from '../state/documents/selectors';
import type { App as AppParts } from '../state/store';
import { selectSettingsOpen, selectSidebarOpen } from '../state/ui/selectors';
import { useActions, useApp } from '../state/useApp';
import { TooltipProvider } from '../ui/Tooltip';
import { useMediaQuery } from '../ui/useMediaQuery';
import { DropZone } from './DropZone';
import { ErrorBoundary } from './ErrorBoundary';
import { Header } from './Header';
import { listenForKeys } from './keyboard';
import { SidePane } from './SidePane';
import { useTheme } from './useTheme';

export function App({ app }: { app: AppParts }) {
  const theme = useTheme();
  const sidebarOpen = useApp(selectSidebarOpen);
  const settingsOpen = useApp(selectSettingsOpen);
  const documentOpen = useApp(selectPanel) !== null && !settingsOpen;
  const comparing = useApp(selectCompareOpen);
  const title = useApp(selectChatTitle);
  const { compare, documents, ui } = useActions();
  const sidebarFloats = useMediaQuery('(max-width: 879px)');
  const settingsFloat = useMediaQuery('(max-width: 1119px)');
  const documentFloats = useMediaQuery('(max-width: 1139px)');

  useEffect(() => listenForKeys(app), [app]);
  // Before the paint, so that a small window never shows the list over the chat for a moment.
  useLayoutEffect(() => ui.setSidebar(!sidebarFloats), [sidebarFloats, ui]);
  useReplacedToast();
  useEffect(preloadMarkdown, []);
  useEffect(() => {
    document.title = title ? `${title} – Concertina` : 'Concertina';
  }, [title]);

  return (
    <TooltipProvider delayDuration={450}>
      <div className="flex h-full flex-col">
        <div className="relative flex min-h-0 flex-1">
          <SidePane side="left" open={sidebarOpen} floats={sidebarFloats} onClose={() => ui.setSidebar(false)}>
            <ErrorBoundary what="The list of chats">
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
            <EngineBanner />
            <Notices />
            <RunningBanner />
            {comparing ? (
              <ErrorBoundary what="The comparison">
                <CompareView />
              </ErrorBoundary>
            ) : (
              <ErrorBoundary what="The chat">
                <ChatView composer={<Composer />} />
              </ErrorBoundary>
            )}
          </main>
          <SidePane side="right" open={documentOpen} floats={documentFloats} onClose={documents.close}>
            <ErrorBoundary what="The document">
              <DocumentPanel />
            </ErrorBoundary>
          </SidePane>
          <SidePane side="right" open={settingsOpen} floats={settingsFloat} onClose={() => ui.setSettings(false)}>
            <ErrorBoundary what="The settings">
              <SettingsPanel />
            </ErrorBoundary>
          </SidePane>
        </div>
        <ErrorBoundary what="The meter">
          <StatusStrip />
        </ErrorBoundary>
      </div>
      <DropZone />
      <DiagnosticsDialog />
      <ThirdPartyDialog />
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
