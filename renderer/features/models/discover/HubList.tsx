/** What the search found, or suggestions where nothing was searched for or the hub is out of reach. */

import type { MessageDescriptor } from '@lingui/core';
import { msg, plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Download, Heart, Lock } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import type { ErrorPayload } from '../../../../electron/contract/errors';
import type { CatalogEntry, HubModel } from '../../../../electron/contract/hub';
import { i18n } from '../../../language';
import {
  selectCatalog,
  selectHubAccount,
  selectHubAsksMore,
  selectHubPage,
  selectHubProblem,
  selectHubResults,
  selectHubSearching,
} from '../../../state/slices/hub';
import { useActions, useApp } from '../../../state/useApp';
import { Banner } from '../../../ui/Banner';
import { Button } from '../../../ui/Button';
import { cx } from '../../../ui/cx';
import { formatContext, formatCount, formatDay, formatShortCount } from '../../../ui/format';
import { aboutText } from '../catalogText';

const firstSuggestions = 3;

export function HubList() {
  const results = useApp(selectHubResults);
  const searching = useApp(selectHubSearching);
  const asksMore = useApp(selectHubAsksMore);
  const problem = useApp(selectHubProblem);
  const chosen = useApp(selectHubPage)?.repo ?? null;
  const { hub } = useActions();
  const offline = problem !== null && results === null;
  const suggests = offline || (results?.query ?? '') === '';

  return (
    <div className="min-h-0 flex-1 overflow-y-auto px-2 py-2" data-testid="hub-list" aria-busy={searching}>
      {problem && <Unreachable problem={problem} />}
      {suggests && <Suggestions all={offline} chosen={chosen} />}
      {results && (
        <section aria-labelledby="hub-found" className={cx('transition-opacity', searching && 'opacity-60')}>
          <div role="status">
            <h3 id="hub-found" className="px-2.5 pt-1 pb-1.5 text-xs font-semibold text-ink-3">
              {headOf(results.query, results.models.length, results.next !== null)}
            </h3>
          </div>
          <ul onKeyDown={moveByArrows}>
            {results.models.map((model) => (
              <HubItem key={model.repo} model={model} chosen={model.repo === chosen} />
            ))}
          </ul>
          {results.next !== null && (
            <Button
              tone="quiet"
              size="small"
              className="mt-1 w-full"
              disabled={asksMore}
              onClick={() => void hub.more()}
              data-testid="hub-more"
            >
              {asksMore ? t`Asking…` : t`Show more`}
            </Button>
          )}
        </section>
      )}
      {!results && searching && (
        <p className="px-2 py-2 text-sm text-ink-3">
          <Trans>Asking the hub…</Trans>
        </p>
      )}
    </div>
  );
}

function Suggestions({ all, chosen }: { all: boolean; chosen: string | null }) {
  const catalog = useApp(selectCatalog);
  const [unfolded, setUnfolded] = useState(false);
  if (!catalog || catalog.length === 0) return null;
  const shown = all || unfolded ? catalog : catalog.slice(0, firstSuggestions);
  const hidden = catalog.length - shown.length;
  return (
    <section aria-labelledby="hub-suggested" className="mb-3">
      <h3 id="hub-suggested" className="px-2.5 pt-1 pb-1.5 text-xs font-semibold text-ink-3">
        <Trans>Good to begin with</Trans>
      </h3>
      <ul onKeyDown={moveByArrows}>
        {shown.map((entry) => (
          <SuggestedItem key={entry.repo} entry={entry} chosen={entry.repo === chosen} />
        ))}
      </ul>
      {hidden > 0 && (
        <Button tone="quiet" size="small" className="w-full" onClick={() => setUnfolded(true)}>
          {plural(hidden, { one: 'Show # more suggestion', other: 'Show # more suggestions' })}
        </Button>
      )}
    </section>
  );
}

function headOf(query: string, count: number, more: boolean): string {
  if (query === '') return t`On the hub`;
  if (count === 0) return t`The hub has no GGUF model for “${query}”`;
  if (more) return t`${formatCount(count)}+ models for “${query}”`;
  return plural(count, { one: `# model for “${query}”`, other: `# models for “${query}”` });
}

/** Up and down go from one model to the next, as Tab does. */
function moveByArrows(event: KeyboardEvent<HTMLUListElement>): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (step === 0) return;
  const buttons = [...event.currentTarget.querySelectorAll('button')];
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
  const next = buttons[at + step];
  if (at === -1 || !next) return;
  event.preventDefault();
  next.focus();
}

function HubItem({ model, chosen }: { model: HubModel; chosen: boolean }) {
  const updated = model.updatedAt ? formatDay(model.updatedAt) : '';
  return (
    <Item repo={model.repo} chosen={chosen}>
      <span className="flex items-baseline gap-2">
        <span className="min-w-0 truncate font-medium text-ink">{model.name}</span>
        {model.gated !== 'open' && (
          <Lock className="size-3 shrink-0 self-center text-warn" aria-label={t`Gated: requires accepting terms`} />
        )}
      </span>
      <span className="block truncate text-xs text-ink-2">{model.author}</span>
      <span className="mt-0.5 flex flex-wrap gap-x-3 text-xs text-ink-3 tabular-nums">
        <span className="inline-flex items-center gap-1" title={t`Downloads of the last month`}>
          <Download className="size-3" aria-label={t`Downloads of the last month:`} />
          {formatShortCount(model.downloads)}
        </span>
        <span className="inline-flex items-center gap-1" title={t`Likes`}>
          <Heart className="size-3" aria-label={t`Likes:`} />
          {formatShortCount(model.likes)}
        </span>
        {updated && <span>{updated}</span>}
        {model.license && <span className="truncate">{model.license}</span>}
      </span>
    </Item>
  );
}

function SuggestedItem({ entry, chosen }: { entry: CatalogEntry; chosen: boolean }) {
  return (
    <Item repo={entry.repo} chosen={chosen}>
      <span className="block truncate font-medium text-ink">{entry.title}</span>
      <span className="block text-xs text-ink-2">{aboutText(entry.about)}</span>
      <span className="mt-0.5 flex flex-wrap gap-x-2.5 text-xs text-ink-3 tabular-nums">
        <span>
          <Trans>{formatShortCount(entry.billions)} B</Trans>
        </span>
        <span>
          <Trans>{formatContext(entry.trained)} context</Trans>
        </span>
        <span>{entry.license}</span>
        <span>{entry.verifiedHere ? t`tested by us` : t`not tested by us yet`}</span>
      </span>
    </Item>
  );
}

function Item({ repo, chosen, children }: { repo: string; chosen: boolean; children: ReactNode }) {
  const { hub } = useActions();
  return (
    <li>
      <button
        type="button"
        data-testid="hub-item"
        data-repo={repo}
        aria-current={chosen || undefined}
        onClick={() => void hub.openPage(repo)}
        className={cx('block w-full rounded-lg px-2.5 py-2 text-start', chosen ? 'bg-accent-soft' : 'hover:bg-hover')}
      >
        {children}
      </button>
    </li>
  );
}

// Why the hub gave no answer, in its own words, and what can be done.

const titles: Partial<Record<ErrorPayload['code'], MessageDescriptor>> = {
  'network-failed': msg`The hub cannot be reached`,
  'rate-limited': msg`The hub asks for a pause`,
  'access-denied': msg`The hub refuses access`,
};

function Unreachable({ problem }: { problem: ErrorPayload }) {
  const account = useApp(selectHubAccount);
  const { hub, ui } = useActions();

  function openSettings(): void {
    ui.showModels(null);
    ui.showSettings('advanced');
  }

  return (
    <Banner
      tone="warn"
      title={i18n._(titles[problem.code] ?? msg`The hub gave no answer`)}
      testId="hub-problem"
      className="mb-3"
      actions={
        <>
          <Button size="small" onClick={() => void hub.search()} data-testid="hub-retry">
            <Trans>Try again</Trans>
          </Button>
          {problem.code === 'access-denied' && (
            <Button size="small" onClick={openSettings}>
              <Trans>Open the settings</Trans>
            </Button>
          )}
        </>
      }
    >
      <p className="[overflow-wrap:anywhere]">
        {problem.message} {problem.hint}
      </p>
      {account && problem.code === 'network-failed' && (
        <p className="mt-1 text-xs text-ink-3">
          <Trans>Models on this computer work without it. Asked: {account.endpoint}</Trans>
        </p>
      )}
    </Banner>
  );
}
