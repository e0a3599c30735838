import { Download, Heart, Lock } from 'lucide-react';
import type { ReactNode } from 'react';
import type { CatalogueEntry, HubModel } from '../../../../electron/contract/hub';
import { useActions } from '../../../state/useApp';
import { cx } from '../../../ui/cx';
import { formatContext, formatDay, formatShortCount } from '../../../ui/format';

export function HubItem({ model, chosen }: { model: HubModel; chosen: boolean }) {
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

export function SuggestedItem({ entry, chosen }: { entry: CatalogueEntry; chosen: boolean }) {
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
