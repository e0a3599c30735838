/** What is being downloaded, and what was. */
import { selectDownloadProblem, selectDownloads } from '../../../state/downloads/selectors';
import { useActions, useApp } from '../../../state/useApp';
import { Banner } from '../../../ui/Banner';
import { Button } from '../../../ui/Button';
import { DownloadRow } from './DownloadRow';

export function DownloadsTab() {
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
            Nothing is being downloaded. A download goes on after a restart, and what is half there is never lost.
          </p>
          <Button onClick={() => ui.showModels('discover')}>Find a model</Button>
        </div>
      )}
      {list && list.length > 0 && (
        <ul className="divide-y divide-line rounded-lg border border-line" aria-label="Downloads">
          {list.map((download) => (
            <DownloadRow key={download.id} download={download} />
          ))}
        </ul>
      )}
      {done && (
        <div className="mt-3 flex justify-end">
          <Button size="small" tone="quiet" onClick={() => void downloads.clear()} data-testid="downloads-clear">
            Take finished ones off the list
          </Button>
        </div>
      )}
    </div>
  );
}
