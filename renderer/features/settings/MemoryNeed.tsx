/** What a load would take of each memory, beside what it may take. */
import type { Budget, ContextFit } from '../../../electron/contract/fit';
import { cx } from '../../ui/cx';
import { formatBytes, formatCount } from '../../ui/format';
import { needParts, needText } from './needText';

const colours = { weights: 'bg-plate', kv: 'bg-accent', compute: 'bg-brass' } as const;

export function MemoryNeed({ fit, stale }: { fit: ContextFit; stale: boolean }) {
  const parts = needParts(fit.estimate);
  const needed = parts.reduce((sum, part) => sum + part.bytes, 0);
  return (
    <div
      className={cx('mt-3 border-t border-line pt-3 transition-opacity', stale && 'opacity-60')}
      data-testid="memory-need"
      data-fits={fit.fits}
      data-needed={needed}
      data-stale={stale || undefined}
    >
      <dl className="grid gap-1">
        {parts.map(({ id, label, bytes }) => (
          <div key={id} className="flex items-center gap-2">
            <span className={cx('size-2 rounded-xs', colours[id])} aria-hidden="true" />
            <dt className="flex-1 text-ink-2">{label}</dt>
            <dd className="text-ink" title={`${formatCount(bytes)} bytes`}>
              {formatBytes(bytes)}
            </dd>
          </div>
        ))}
      </dl>
      {fit.budgets.map((budget) => (
        <BudgetBar key={`${budget.kind} ${budget.name}`} budget={budget} alone={fit.budgets.length === 1} />
      ))}
    </div>
  );
}

function BudgetBar({ budget, alone }: { budget: Budget; alone: boolean }) {
  const over = budget.needed > budget.available;
  const share = budget.available > 0 ? Math.min(1, budget.needed / budget.available) : 1;
  return (
    <div className="mt-2.5" data-testid="memory-budget" data-needed={budget.needed} data-available={budget.available}>
      <div className="h-2 overflow-hidden rounded-xs bg-line-strong" aria-hidden="true">
        <div
          className={cx('h-full transition-[width] duration-300', over ? 'bg-bad' : 'bg-good')}
          style={{ width: `${share * 100}%` }}
        />
      </div>
      <p role="status" className={cx('mt-1.5', over ? 'font-medium text-bad' : 'text-ink-2')}>
        {needText(budget, alone)}
      </p>
    </div>
  );
}
