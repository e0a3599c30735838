/** What the search found, or suggestions where nothing was searched for or the hub is out of reach. */
import { type KeyboardEvent, useState } from 'react';
import {
  selectCatalogue,
  selectHubAsksMore,
  selectHubPage,
  selectHubProblem,
  selectHubResults,
  selectHubSearching,
} from '../../../state/hub/selectors';
import { useActions, useApp } from '../../../state/useApp';
import { Button } from '../../../ui/Button';
import { cx } from '../../../ui/cx';
import { HubItem, SuggestedItem } from './HubItem';
import { Unreachable } from './Unreachable';

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
  const catalogue = useApp(selectCatalogue);
  const [unfolded, setUnfolded] = useState(false);
  if (!catalogue || catalogue.length === 0) return null;
  const shown = all || unfolded ? catalogue : catalogue.slice(0, firstSuggestions);
  const hidden = catalogue.length - shown.length;
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
