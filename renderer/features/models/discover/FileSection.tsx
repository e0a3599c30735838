/** The files of a model, and above them what the chosen one takes of this machine. */
import type { HubModelPage } from '../../../../electron/contract/hub';
import { selectDownloadProblem } from '../../../state/downloads/selectors';
import { filesOf, isUsable } from '../../../state/hub/firstFile';
import { useActions, useApp } from '../../../state/useApp';
import { Banner } from '../../../ui/Banner';
import { FileRow } from './FileRow';
import { FitCard } from './FitCard';
import { useAskedContext, useAskFits } from './useFits';

export function FileSection({ page, chosen: path }: { page: HubModelPage; chosen: string | null }) {
  const context = useAskedContext();
  const files = filesOf(page);
  const chosen = files.find(({ file }) => file === path) ?? null;
  const problem = useApp(selectDownloadProblem);
  const { downloads } = useActions();
  useAskFits(page, chosen, context);

  if (files.length === 0 && page.refused.length === 0) {
    return <p className="mt-5 text-sm text-ink-2">There is no GGUF file in it.</p>;
  }
  return (
    <>
      {chosen && context && isUsable(chosen) && <FitCard page={page} file={chosen} context={context} />}
      {problem && (
        <Banner
          tone="bad"
          title={problem.message}
          testId="download-problem"
          className="mt-4"
          onClose={downloads.closeProblem}
        >
          {problem.hint}
        </Banner>
      )}
      {files.length > 0 && (
        <section aria-label="Files" className="mt-5">
          <h4 className="mb-1.5 text-sm font-semibold text-ink">Files</h4>
          <ul className="divide-y divide-line rounded-lg border border-line">
            {page.quants.flatMap(({ files: group }) =>
              group.map((file) => (
                <FileRow
                  key={file.file}
                  page={page}
                  file={file}
                  chosen={chosen}
                  context={context}
                  named={group.length > 1 || file.quant === null}
                />
              )),
            )}
          </ul>
        </section>
      )}
      <Refused page={page} />
    </>
  );
}

function Refused({ page: { refused } }: { page: HubModelPage }) {
  if (refused.length === 0) return null;
  return (
    <Banner tone="warn" title="Some files cannot be downloaded" testId="hub-refused" className="mt-4">
      <ul>
        {refused.map(({ file, why }) => (
          <li key={file}>
            {file}: {why}
          </li>
        ))}
      </ul>
    </Banner>
  );
}
