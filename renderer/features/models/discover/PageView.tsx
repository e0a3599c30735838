/** One model of the hub: what it is, its files, whether they fit here, and what its authors write. */
import { ArrowLeft, ExternalLink, Lock } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import type { CatalogueEntry, HubModelPage } from '../../../../electron/contract/hub';
import { selectCatalogue } from '../../../state/hub/selectors';
import type { OpenPage } from '../../../state/hub/state';
import { useActions, useApp } from '../../../state/useApp';
import { Banner } from '../../../ui/Banner';
import { Button } from '../../../ui/Button';
import { formatContext, formatDay, formatParameters, formatShortCount } from '../../../ui/format';
import { IconButton } from '../../../ui/IconButton';
import { Progress } from '../../../ui/Progress';
import { FileSection } from './FileSection';
import { Gated } from './Gated';

interface PageViewProps {
  page: OpenPage;
  /** the list is not beside it */
  alone: boolean;
  renderText: (markdown: string) => ReactNode;
}

export function PageView({ page: { repo, outcome, file }, alone, renderText }: PageViewProps) {
  const suggestion = useApp(selectCatalogue)?.find((entry) => entry.repo === repo) ?? null;
  const page = outcome?.ok ? outcome.value : null;
  const [author = '', name = repo] = repo.split('/');

  return (
    <article aria-label={repo} className="min-w-0 flex-1 overflow-y-auto px-6 py-4" data-testid="hub-page">
      <Head name={page?.name ?? name} author={page?.author ?? author} url={page?.url ?? null} alone={alone} />
      {page && <Facts page={page} />}
      {!page && suggestion && <SuggestedFacts entry={suggestion} />}
      {outcome === null && (
        <div className="mt-6 max-w-80">
          <Progress label={`Asking the hub for ${repo}`} share={null} />
        </div>
      )}
      {outcome && !outcome.ok && <Failure repo={repo} message={outcome.error.message} hint={outcome.error.hint} />}
      {page && page.gated !== 'open' && <Gated page={page} />}
      {page && <FileSection page={page} chosen={file} />}
      {page && page.summary !== '' && (
        <section aria-label="Model card" className="mt-6 border-t border-line pt-4 [&_.prose-c>*:first-child]:mt-0">
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
          label="Back to the list"
          side="right"
          icon={<ArrowLeft />}
          onClick={hub.closePage}
          className="-ml-2"
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
        <p className="text-xs text-ink-2">by {author}</p>
      </div>
      {url?.startsWith('https://') && (
        <Button size="small" tone="quiet" onClick={() => void ui.openExternal(url)}>
          <ExternalLink className="size-3.5" aria-hidden="true" />
          Its page
        </Button>
      )}
    </div>
  );
}

function Facts({ page }: { page: HubModelPage }) {
  const facts = [
    page.parameters !== null && `${formatParameters(page.parameters)} parameters`,
    page.trained !== null && `trained for ${formatContext(page.trained)}`,
    page.architecture,
    page.license && `licence ${page.license}`,
    `${formatShortCount(page.downloads)} downloads a month`,
    `${formatShortCount(page.likes)} likes`,
    page.updatedAt && formatDay(page.updatedAt),
  ].filter((fact) => typeof fact === 'string' && fact !== '');
  return (
    <p className="mt-2 flex flex-wrap gap-x-3 gap-y-0.5 text-xs text-ink-2 tabular-nums">
      {facts.map((fact) => (
        <span key={String(fact)}>{fact}</span>
      ))}
      {page.private && (
        <span className="inline-flex items-center gap-1">
          <Lock className="size-3" aria-hidden="true" /> private
        </span>
      )}
    </p>
  );
}

/** What is known of it without the hub. */
function SuggestedFacts({ entry }: { entry: CatalogueEntry }) {
  return (
    <div className="mt-3 text-sm text-ink-2">
      <p>{entry.about}</p>
      <p className="mt-1 text-xs tabular-nums">
        {entry.billions} B parameters, trained for {formatContext(entry.trained)}, licence {entry.license}; begin with{' '}
        {entry.quant}. {!entry.verifiedHere && 'From the list that comes with the app; not verified here.'}
      </p>
    </div>
  );
}

function Failure({ repo, message, hint }: { repo: string; message: string; hint: string }) {
  const { hub } = useActions();
  return (
    <Banner
      tone="warn"
      title="Its page cannot be shown"
      testId="hub-page-problem"
      className="mt-4"
      actions={
        <Button size="small" onClick={() => void hub.openPage(repo)}>
          Try again
        </Button>
      }
    >
      {message} {hint}
    </Banner>
  );
}
