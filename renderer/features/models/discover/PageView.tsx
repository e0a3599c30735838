/** One model of the hub: what it is, its files, whether they fit here, and what its authors write. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { ArrowLeft, ExternalLink, Lock } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import type { CatalogEntry, HubModelPage } from '../../../../electron/contract/hub';
import type { OpenPage } from '../../../state/appState';
import { filesOf, isUsable, selectCatalog, selectDownloadProblem, selectHubAccount } from '../../../state/slices/hub';
import { useActions, useApp } from '../../../state/useApp';
import { Banner } from '../../../ui/Banner';
import { Button, IconButton } from '../../../ui/Button';
import { formatContext, formatDay, formatParameters, formatShortCount } from '../../../ui/format';
import { Progress } from '../../../ui/Progress';
import { aboutText } from '../catalogText';
import { FileRow } from './FileRow';
import { FitCard } from './FitCard';
import { useAskFits, useRequestedContext, useVerdicts } from './useFits';
import { recommendedFile } from './verdict';

interface PageViewProps {
  page: OpenPage;
  /** the list is not beside it */
  alone: boolean;
  renderText: (markdown: string) => ReactNode;
}

export function PageView({ page: { repo, outcome, file }, alone, renderText }: PageViewProps) {
  const suggestion = useApp(selectCatalog)?.find((entry) => entry.repo === repo) ?? null;
  const page = outcome?.ok ? outcome.value : null;
  const [author = '', name = repo] = repo.split('/');

  return (
    <article aria-label={repo} className="min-w-0 flex-1 overflow-y-auto px-6 py-4" data-testid="hub-page">
      <Head name={page?.name ?? name} author={page?.author ?? author} url={page?.url ?? null} alone={alone} />
      {page && <Facts page={page} />}
      {!page && suggestion && <SuggestedFacts entry={suggestion} />}
      {outcome === null && (
        <div className="mt-6 max-w-80">
          <Progress label={t`Asking the hub for ${repo}`} share={null} />
        </div>
      )}
      {outcome && !outcome.ok && <Failure repo={repo} message={outcome.error.message} hint={outcome.error.hint} />}
      {page && page.gated !== 'open' && <Gated page={page} />}
      {page && <FileSection page={page} chosen={file} />}
      {page && page.summary !== '' && (
        <section aria-label={t`Model card`} className="mt-6 border-t border-line pt-4 [&_.prose-c>*:first-child]:mt-0">
          {renderText(page.summary)}
        </section>
      )}
    </article>
  );
}

interface HeadProps {
  name: string;
  author: string;
  url: string | null;
  alone: boolean;
}

function Head({ name, author, url, alone }: HeadProps) {
  const { hub, ui } = useActions();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <div className="flex items-start gap-2">
      {alone && (
        <IconButton
          label={t`Back to the list`}
          side="right"
          icon={<ArrowLeft />}
          onClick={hub.closePage}
          className="-ms-2"
          data-testid="hub-back"
        />
      )}
      <div className="min-w-0 flex-1">
        <h3
          ref={heading}
          tabIndex={-1}
          className="font-serif text-lg leading-snug [overflow-wrap:anywhere] text-ink outline-none"
        >
          {name}
        </h3>
        <p className="text-xs text-ink-2">
          <Trans>by {author}</Trans>
        </p>
      </div>
      {url?.startsWith('https://') && (
        <Button size="small" tone="quiet" onClick={() => void ui.openExternal(url)}>
          <ExternalLink className="size-3.5" aria-hidden="true" />
          <Trans>Its page</Trans>
        </Button>
      )}
    </div>
  );
}

function Facts({ page }: { page: HubModelPage }) {
  const facts = [
    page.parameters !== null && t`${formatParameters(page.parameters)} parameters`,
    page.trained !== null && t`trained for ${formatContext(page.trained)}`,
    page.architecture,
    page.license && t`license ${page.license}`,
    t`${formatShortCount(page.downloads)} downloads a month`,
    t`${formatShortCount(page.likes)} likes`,
    page.updatedAt && formatDay(page.updatedAt),
  ].filter((fact) => typeof fact === 'string' && fact !== '');
  return (
    <p className="mt-2 flex flex-wrap gap-x-3 gap-y-0.5 text-xs text-ink-2 tabular-nums">
      {facts.map((fact) => (
        <span key={String(fact)}>{fact}</span>
      ))}
      {page.private && (
        <span className="inline-flex items-center gap-1">
          <Lock className="size-3" aria-hidden="true" /> <Trans>private</Trans>
        </span>
      )}
    </p>
  );
}

/** What is known of it without the hub. */
function SuggestedFacts({ entry }: { entry: CatalogEntry }) {
  return (
    <div className="mt-3 text-sm text-ink-2">
      <p>{aboutText(entry.about)}</p>
      <p className="mt-1 text-xs tabular-nums">
        <Trans>
          {formatShortCount(entry.billions)} B parameters, trained for {formatContext(entry.trained)}, license{' '}
          {entry.license}; begin with {entry.quant}.
        </Trans>{' '}
        {!entry.verifiedHere && t`From the list that comes with the app; not tested by us yet.`}
      </p>
    </div>
  );
}

function Failure({ repo, message, hint }: { repo: string; message: string; hint: string }) {
  const { hub } = useActions();
  return (
    <Banner
      tone="warn"
      title={t`Its page cannot be shown`}
      testId="hub-page-problem"
      className="mt-4"
      actions={
        <Button size="small" onClick={() => void hub.openPage(repo)}>
          <Trans>Try again</Trans>
        </Button>
      }
    >
      {message} {hint}
    </Banner>
  );
}

// The files of a model, and above them what the chosen one takes of this machine.

function FileSection({ page, chosen: path }: { page: HubModelPage; chosen: string | null }) {
  const context = useRequestedContext();
  const files = filesOf(page);
  const chosen = files.find(({ file }) => file === path) ?? null;
  const problem = useApp(selectDownloadProblem);
  const quant = useApp(selectCatalog)?.find((entry) => entry.repo === page.repo)?.quant;
  const { downloads, machine } = useActions();
  useAskFits(page, chosen, context);
  // the forecast of speed is made from what was measured
  useEffect(() => void machine.refresh(), [machine]);
  const verdictFor = useVerdicts(page, chosen, context);
  const recommended = recommendedFile(page, quant, verdictFor);

  if (files.length === 0 && page.refused.length === 0) {
    return (
      <p className="mt-5 text-sm text-ink-2">
        <Trans>There is no GGUF file in it.</Trans>
      </p>
    );
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
        <section aria-label={t`Files`} className="mt-5">
          <h4 className="mb-1.5 text-sm font-semibold text-ink">
            <Trans>Files</Trans>
          </h4>
          <ul className="divide-y divide-line rounded-lg border border-line">
            {page.quants.flatMap(({ files: group }) =>
              group.map((file) => (
                <FileRow
                  key={file.file}
                  page={page}
                  file={file}
                  chosen={chosen}
                  verdict={verdictFor(file)}
                  recommended={recommended?.file === file.file}
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
    <Banner tone="warn" title={t`Some files cannot be downloaded`} testId="hub-refused" className="mt-4">
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

/** What a person has to do before a gated model can be downloaded. */
function Gated({ page }: { page: HubModelPage }) {
  const account = useApp(selectHubAccount);
  const { ui } = useActions();
  const hasToken = account !== null && account.token !== 'none';
  const agree =
    page.gated === 'auto'
      ? t`Its authors give it to people who agree to its terms.`
      : t`Its authors decide who gets it, and some take days to answer.`;
  return (
    <Banner
      tone="info"
      icon={<Lock className="text-warn" />}
      testId="hub-gated"
      className="mt-4"
      title={agree}
      actions={
        <>
          {page.url.startsWith('https://') && (
            <Button size="small" onClick={() => void ui.openExternal(page.url)}>
              <Trans>Ask on its page</Trans>
            </Button>
          )}
          {!hasToken && account?.canSave && (
            <Button
              size="small"
              onClick={() => {
                ui.showModels(null);
                ui.showSettings('advanced');
              }}
            >
              <Trans>Save a token</Trans>
            </Button>
          )}
        </>
      }
    >
      {hasToken
        ? t`Your access token is sent along. If the download is refused, ask on its page with the account of that token.`
        : t`Ask on its page, then give the access token of that account: in the settings, or as HF_TOKEN in the environment.`}
    </Banner>
  );
}
