/** All comparisons that were made, newest first. */
import { RotateCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { CompareSummary } from '../../../electron/contract/compare';
import { selectComparing, selectRuns } from '../../state/compare/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Confirm } from '../../ui/Confirm';
import { typesText } from '../../ui/fitText';
import { IconButton } from '../../ui/IconButton';
import { runStateNames } from './columnText';

const dates = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });

export function RunList() {
  const runs = useApp(selectRuns);
  const { compare } = useActions();
  const [asked, setAsked] = useState<CompareSummary | null>(null);
  if (!runs || runs.length === 0) return null;

  return (
    <section aria-labelledby="compare-runs">
      <h2 id="compare-runs" className="mb-2 text-sm font-medium text-ink">
        Earlier comparisons
      </h2>
      <ul className="rounded-lg border border-line bg-raised" data-testid="compare-runs">
        {runs.map((run) => (
          <Item key={run.id} run={run} onRemove={() => setAsked(run)} />
        ))}
      </ul>
      <Confirm
        title={`Remove “${asked?.name ?? ''}”?`}
        description="Its figures and answers are deleted from this computer. Export it first to keep them."
        action="Remove"
        open={asked !== null}
        onOpenChange={(open) => !open && setAsked(null)}
        onConfirm={() => asked && void compare.remove(asked.id)}
      />
    </section>
  );
}

function Item({ run, onRemove }: { run: CompareSummary; onRemove: () => void }) {
  const busy = useApp(selectComparing) !== null;
  const { compare } = useActions();
  const types = run.configurations.map(({ typeK, typeV }) => typesText(typeK, typeV)).join(', ');
  const facts = [
    dates.format(run.createdAt),
    run.modelName,
    types,
    run.state === 'done' ? '' : runStateNames[run.state],
  ];
  return (
    <li className="flex items-center gap-1 border-line pr-2 not-first:border-t" data-testid="compare-run-item">
      <button
        type="button"
        className="min-w-0 flex-1 px-4 py-2 text-left hover:bg-hover"
        onClick={() => void compare.openRun(run.id)}
      >
        <span className="block truncate text-sm text-ink">{run.name}</span>
        <span className="block truncate text-xs text-ink-3">{facts.filter(Boolean).join(' · ')}</span>
      </button>
      <IconButton
        label={`Run ${run.name} again`}
        icon={<RotateCw />}
        size="small"
        disabled={busy}
        onClick={() => void compare.rerun(run.id)}
      />
      <IconButton label={`Remove ${run.name}`} icon={<Trash2 />} size="small" onClick={onRemove} />
    </li>
  );
}
