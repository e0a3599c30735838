/** What the search found, or suggestions where nothing was searched for or the hub is out of reach. */

import { Download, Heart, Lock } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import type { ErrorPayload } from '../../../../electron/contract/errors';
import type { CatalogEntry, HubModel } from '../../../../electron/contract/hub';
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
import { formatContext, formatDay, formatShortCount } from '../../../ui/format';

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
              {asksMore ? 'Asking…' : 'Show more'}
            </Button>
          )}
        </section>
      )}
      {!results && searching && <p className="px-2 py-2 text-sm text-ink-3">Asking the hub…</p>}
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
        Good to begin with
      </h3>
      <ul onKeyDown={moveByArrows}>
        {shown.map((entry) => (
          <SuggestedItem key={entry.repo} entry={entry} chosen={entry.repo === chosen} />
        ))}
      </ul>
      {hidden > 0 && (
        <Button tone="quiet" size="small" className="w-full" onClick={() => setUnfolded(true)}>
          Show {hidden} more suggestions
        </Button>
      )}
    </section>
  );
}

function headOf(query: string, count: number, more: boolean): string {
  if (query === '') return 'On the hub';
  if (count === 0) return `The hub has no GGUF model for “${query}”`;
  return `${count}${more ? '+' : ''} ${count === 1 ? 'model' : 'models'} for “${query}”`;
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
          <Lock className="size-3 shrink-0 self-center text-warn" aria-label="Gated: requires accepting terms" />
        )}
      </span>
      <span className="block truncate text-xs text-ink-2">{model.author}</span>
      <span className="mt-0.5 flex flex-wrap gap-x-3 text-xs text-ink-3 tabular-nums">
        <span className="inline-flex items-center gap-1" title="Downloads of the last month">
          <Download className="size-3" aria-label="Downloads of the last month:" />
          {formatShortCount(model.downloads)}
        </span>
        <span className="inline-flex items-center gap-1" title="Likes">
          <Heart className="size-3" aria-label="Likes:" />
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
      <span className="block text-xs text-ink-2">{entry.about}</span>
      <span className="mt-0.5 flex flex-wrap gap-x-2.5 text-xs text-ink-3 tabular-nums">
        <span>{entry.billions} B</span>
        <span>{formatContext(entry.trained)} context</span>
        <span>{entry.license}</span>
        <span>{entry.verifiedHere ? 'run by us' : 'not verified here'}</span>
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
        className={cx('block w-full rounded-lg px-2.5 py-2 text-left', chosen ? 'bg-accent-soft' : 'hover:bg-hover')}
      >
        {children}
      </button>
    </li>
  );
}

// Why the hub gave no answer, in its own words, and what can be done.

const titles: Partial<Record<ErrorPayload['code'], string>> = {
  'network-failed': 'The hub cannot be reached',
  'rate-limited': 'The hub asks for a pause',
  'access-denied': 'The hub refuses access',
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
      title={titles[problem.code] ?? 'The hub gave no answer'}
      testId="hub-problem"
      className="mb-3"
      actions={
        <>
          <Button size="small" onClick={() => void hub.search()} data-testid="hub-retry">
            Try again
          </Button>
          {problem.code === 'access-denied' && (
            <Button size="small" onClick={openSettings}>
              Open the settings
            </Button>
          )}
        </>
      }
    >
      <p className="[overflow-wrap:anywhere]">
        {problem.message} {problem.hint}
      </p>
      {account && problem.code === 'network-failed' && (
        <p className="mt-1 text-xs text-ink-3">Models on this computer work without it. Asked: {account.endpoint}</p>
      )}
    </Banner>
  );
}
