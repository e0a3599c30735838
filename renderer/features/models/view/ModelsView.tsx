/** Where models come from: the hub, what is being downloaded, and what is on this computer. */
import type { ReactNode } from 'react';
import { selectGoingCount } from '../../../state/downloads/selectors';
import { selectModelsTab } from '../../../state/ui/selectors';
import { useActions, useApp } from '../../../state/useApp';
import { Dialog } from '../../../ui/Dialog';
import { Tabs } from '../../../ui/Tabs';
import { Discover } from '../discover/Discover';
import { searchFieldId } from '../discover/HubSearch';
import { DownloadsTab } from '../downloads/DownloadsTab';
import { useDoneToasts } from '../downloads/useDoneToasts';
import { HereTab } from './HereTab';

interface ModelsViewProps {
  /** shows markdown of strangers: no pictures, no markup, links only through the app */
  renderText: (markdown: string) => ReactNode;
}

export function ModelsView({ renderText }: ModelsViewProps) {
  const tab = useApp(selectModelsTab);
  const going = useApp(selectGoingCount);
  const { hub, models, ui } = useActions();

  useDoneToasts();

  function close(): void {
    ui.showModels(null);
    models.forgetRefused();
  }

  return (
    <Dialog
      title="Models"
      description="Find a model, see whether it fits before it is downloaded, and chat with it."
      open={tab !== null}
      onOpenChange={(open) => !open && close()}
      onEscape={() => document.activeElement?.id === searchFieldId && hub.giveUp()}
      className="w-[min(72rem,calc(100%-2rem))]"
      testId="models-view"
    >
      <div className="flex h-[min(48rem,calc(100vh-6.5rem))] min-h-0 flex-col">
        <Tabs
          label="Parts of the models view"
          value={tab ?? 'discover'}
          onValue={ui.showModels}
          tabs={[
            {
              value: 'discover',
              label: 'Discover',
              testId: 'models-tab-discover',
              content: <Discover renderText={renderText} />,
            },
            {
              value: 'downloads',
              label: (
                <>
                  Downloads
                  {going > 0 && (
                    <span className="rounded-full bg-accent-soft px-1.5 text-xs text-accent tabular-nums">
                      {going}
                      <span className="sr-only"> going on</span>
                    </span>
                  )}
                </>
              ),
              testId: 'models-tab-downloads',
              content: <DownloadsTab />,
            },
            { value: 'here', label: 'On this computer', testId: 'models-tab-here', content: <HereTab /> },
          ]}
        />
      </div>
    </Dialog>
  );
}
