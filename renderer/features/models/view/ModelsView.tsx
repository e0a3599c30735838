/** Where models come from: the hub, what is being downloaded, and what is on this computer. */

import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { FolderOpen, Info, X } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { toast } from 'sonner';
import type { Download } from '../../../../electron/contract/hub';
import type { ModelEntry } from '../../../../electron/contract/models';
import { selectDownloadProblem, selectDownloads, selectGoingCount, selectHubPage } from '../../../state/slices/hub';
import { selectAdding, selectModels, selectPlaces } from '../../../state/slices/models';
import { selectModelsTab } from '../../../state/slices/ui';
import { useActions, useApp } from '../../../state/useApp';
import { Banner } from '../../../ui/Banner';
import { Button, IconButton } from '../../../ui/Button';
import { cx } from '../../../ui/cx';
import { Dialog } from '../../../ui/Dialog';
import { useMediaQuery } from '../../../ui/hooks';
import { Tabs } from '../../../ui/Tabs';
import { AddModels } from '../AddModels';
import { Deleted } from '../DeleteModel';
import { HubList } from '../discover/HubList';
import { HubSearch, searchFieldId } from '../discover/HubSearch';
import { PageView } from '../discover/PageView';
import { DownloadRow } from '../downloads/DownloadRow';
import { ModelRow } from '../ModelRow';
import { modelName } from '../modelText';
import { useChatWith } from '../useChatWith';
import { DetailsBody } from './DetailsBody';

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
      title={t`Models`}
      description={t`Find a model, see whether it fits before it is downloaded, and chat with it.`}
      open={tab !== null}
      onOpenChange={(open) => !open && close()}
      onEscape={() => document.activeElement?.id === searchFieldId && hub.giveUp()}
      className="w-[min(72rem,calc(100%-2rem))]"
      testId="models-view"
    >
      <div className="flex h-[min(48rem,calc(100vh-6.5rem))] min-h-0 flex-col">
        <Tabs
          label={t`Parts of the models view`}
          value={tab ?? 'discover'}
          onValue={ui.showModels}
          tabs={[
            {
              value: 'discover',
              label: t`Discover`,
              testId: 'models-tab-discover',
              content: <Discover renderText={renderText} />,
            },
            {
              value: 'downloads',
              label: (
                <>
                  <Trans>Downloads</Trans>
                  {going > 0 && (
                    <span className="rounded-full bg-accent-soft px-1.5 text-xs text-accent tabular-nums">
                      {going}
                      <span className="sr-only">
                        {' '}
                        <Trans>going on</Trans>
                      </span>
                    </span>
                  )}
                </>
              ),
              testId: 'models-tab-downloads',
              content: <DownloadsTab />,
            },
            { value: 'here', label: t`On this computer`, testId: 'models-tab-here', content: <HereTab /> },
          ]}
        />
      </div>
    </Dialog>
  );
}

// Search on the left, one model on the right; in a small window one of them at a time.

function Discover({ renderText }: { renderText: (markdown: string) => ReactNode }) {
  const page = useApp(selectHubPage);
  const single = useMediaQuery('(max-width: 919px)');
  const { hub } = useActions();
  useEffect(() => {
    void hub.begin();
    void hub.readAccount();
  }, [hub]);

  const showsList = !single || page === null;
  return (
    <div className="flex min-h-0 flex-1">
      {showsList && (
        <div className={cx('flex min-h-0 flex-col', single ? 'flex-1' : 'w-84 shrink-0 border-e border-line')}>
          <HubSearch />
          <HubList />
        </div>
      )}
      {page && <PageView key={page.repo} page={page} alone={single} renderText={renderText} />}
      {!page && !single && (
        <div className="flex flex-1 items-center justify-center px-10 text-center text-sm text-ink-3">
          <Trans>
            Choose a model to see its files, and how long a context fits on this machine with each cache type.
          </Trans>
        </div>
      )}
    </div>
  );
}

// What is being downloaded, and what was.

function DownloadsTab() {
  const list = useApp(selectDownloads);
  const problem = useApp(selectDownloadProblem);
  const { downloads, ui } = useActions();
  const done = list?.some(({ state }) => state === 'done') ?? false;

  return (
    <div className="min-h-0 flex-1 overflow-y-auto p-4">
      {problem && (
        <Banner
          tone="bad"
          title={problem.message}
          testId="download-problem"
          className="mb-3"
          onClose={downloads.closeProblem}
        >
          {problem.hint}
        </Banner>
      )}
      {list?.length === 0 && (
        <div className="flex h-full flex-col items-center justify-center gap-3 text-center text-sm text-ink-3">
          <p className="max-w-96">
            <Trans>
              Nothing is being downloaded. A download goes on after a restart, and what is half there is never lost.
            </Trans>
          </p>
          <Button onClick={() => ui.showModels('discover')}>
            <Trans>Find a model</Trans>
          </Button>
        </div>
      )}
      {list && list.length > 0 && (
        <ul className="divide-y divide-line rounded-lg border border-line" aria-label={t`Downloads`}>
          {list.map((download) => (
            <DownloadRow key={download.id} download={download} />
          ))}
        </ul>
      )}
      {done && (
        <div className="mt-3 flex justify-end">
          <Button size="small" tone="quiet" onClick={() => void downloads.clear()} data-testid="downloads-clear">
            <Trans>Take finished ones off the list</Trans>
          </Button>
        </div>
      )}
    </div>
  );
}

// Says that a model has arrived, wherever the person is; only not where the list of downloads says it already.

function useDoneToasts(): void {
  const list = useApp(selectDownloads);
  const seesList = useApp(selectModelsTab) === 'downloads';
  const chatWith = useChatWith();
  const before = useRef(list);

  useEffect(() => {
    const arrived = newlyDone(before.current, list);
    before.current = list;
    if (seesList) return;
    for (const { title, modelId } of arrived) {
      const action = modelId === null ? undefined : { label: t`Chat with it`, onClick: () => chatWith(modelId) };
      toast.success(t`${title} is downloaded`, { duration: 10_000, ...(action && { action }) });
    }
  }, [list, seesList, chatWith]);
}

type Some = Pick<Download, 'id' | 'state' | 'title' | 'modelId'>;

/** Those that were going on when they were last heard of. What was done before the window opened is no news. */
export function newlyDone(before: readonly Some[] | null, now: readonly Some[] | null): readonly Some[] {
  const wasGoing = new Set((before ?? []).filter(({ state }) => state !== 'done').map(({ id }) => id));
  return (now ?? []).filter(({ id, state }) => state === 'done' && wasGoing.has(id));
}

/** The models that can be used now. */
function HereTab() {
  const models = useApp(selectModels);
  return (
    <>
      <ul
        className="min-h-0 flex-1 overflow-y-auto p-3"
        aria-label={t`Models on this computer`}
        data-testid="models-here"
      >
        {models?.map((model) => (
          <ModelRow key={model.id} model={model}>
            <ModelDetails model={model} />
          </ModelRow>
        ))}
        {models?.length === 0 && (
          <li className="px-3 py-4 text-sm text-ink-3">
            <Trans>No models yet.</Trans>
          </li>
        )}
        <Deleted />
      </ul>
      <OtherApps />
      <AddModels />
    </>
  );
}

// The dialog with everything about a model on this computer, behind a button of its row.

function ModelDetails({ model }: { model: ModelEntry }) {
  const [open, setOpen] = useState(false);
  const name = modelName(model);
  return (
    <div className="px-9 pb-2">
      <button
        type="button"
        aria-haspopup="dialog"
        aria-label={t`Details of ${name}`}
        data-testid="model-details"
        onClick={() => setOpen(true)}
        className="-ms-1 flex items-center gap-1.5 rounded-sm px-1 text-xs font-medium text-ink-2 hover:text-ink"
      >
        <Info className="size-3.5" aria-hidden="true" />
        <Trans>Details</Trans>
      </button>
      <Dialog
        title={name}
        description={model.source === 'embedded' ? t`Part of the app` : t`${model.fileName} in ${model.location}`}
        open={open}
        onOpenChange={setOpen}
        className="w-[min(52rem,calc(100%-2rem))]"
        testId="model-dialog"
      >
        <DetailsBody model={model} />
      </Dialog>
    </div>
  );
}

// Folders of models: those of other apps on this computer, of which nothing is read before a person agrees, and the added ones.

function OtherApps() {
  const places = useApp(selectPlaces);
  const list = useApp(selectModels);
  const adding = useApp(selectAdding);
  const { models } = useActions();

  // biome-ignore lint/correctness/useExhaustiveDependencies: a list that has changed may mean other folders
  useEffect(() => void models.lookForPlaces(), [list, models]);

  if (!places || places.offered.length + places.folders.length === 0) return null;
  return (
    <div className="max-h-44 shrink-0 overflow-y-auto border-t border-line px-3 py-3 text-xs">
      {places.offered.length > 0 && (
        <section aria-label={t`Models of other apps`} data-testid="models-offered">
          <p className="text-ink-2">
            <Trans>
              These apps keep models on this computer. Added, they are used where they lie; nothing is copied or
              changed.
            </Trans>
          </p>
          <ul className="mt-2 flex flex-wrap gap-2">
            {places.offered.map(({ id, app, location }) => (
              <li key={id}>
                <Button
                  size="small"
                  disabled={adding}
                  title={location}
                  onClick={() => void models.addPlaces([id])}
                  data-testid="models-offer"
                >
                  <Trans>Add those of {app}</Trans>
                </Button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {places.folders.length > 0 && (
        <ul className="mt-1 grid gap-0.5 first:mt-0" aria-label={t`Added folders, watched for changes`}>
          {places.folders.map(({ id, app, location, there, models: count }) => (
            <li key={id} className="flex items-center gap-2 text-ink-2" data-testid="models-folder">
              <FolderOpen className="size-3.5 shrink-0 text-ink-3" aria-hidden="true" />
              <span className="min-w-0 truncate" title={location}>
                {location}
              </span>
              <span className={there ? 'shrink-0 text-ink-3 tabular-nums' : 'shrink-0 text-warn'}>
                {app && `${app}, `}
                {there ? plural(count, { one: '# model', other: '# models' }) : t`not there now`}
              </span>
              <IconButton
                label={t`Take the folder off the list (its files stay)`}
                icon={<X />}
                size="small"
                side="left"
                className="ms-auto"
                onClick={() => void models.removeFolder(id)}
              />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
